/** Ids of intents: new ones are at the end of their index. */
import { expect, test } from "vitest";
import { newIntentId } from "../../src/core/ids.ts";
import { seededRandom } from "../../src/core/random.ts";
import { DAY, SECOND } from "../../src/core/units.ts";

const NOW = Date.UTC(2026, 10, 22);

test("an intent's id is later in order than one of an earlier second", () => {
  const random = seededRandom(1);
  const ids = Array.from({ length: 1_000 }, (_, n) => newIntentId(random, NOW + n * SECOND));
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids.map((id) => id.length))).toEqual(new Set([18]));
});

test("ids of one moment differ, and a clock before 2026 or far ahead gives ids too", () => {
  const random = seededRandom(1);
  expect(new Set(Array.from({ length: 10_000 }, () => newIntentId(random, NOW))).size).toBe(10_000);
  for (const now of [0, NOW + 50_000 * DAY]) expect(newIntentId(random, now)).toMatch(/^i[0-9a-z]{17,19}$/);
});

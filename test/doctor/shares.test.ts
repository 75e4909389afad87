/** The doctor's share of right fields on networks that nobody tuned for: at least 80 % of each. */
import { expect, test } from "vitest";
import { rowOf, sharesOf } from "../campaigns/accents/shares.ts";
import { resolveProfile } from "../../src/contract/profile/profile.ts";
import { applied } from "../../src/doctor/draft-profile.ts";
import { examine } from "../../src/doctor/examine.ts";
import type { Finding } from "../../src/doctor/finding.ts";
import { scoreDraft, shareOf, type Scored } from "../harness/doctor-share.ts";
import { examinable } from "../harness/networks/examinable.ts";
import { nonsense } from "../harness/networks/nonsense.ts";
import { INVENTED } from "../harness/networks/invented.ts";

const SEEDS = Array.from({ length: 10 }, (_, seed) => 100 + seed);
const LEAST = 0.8;

test("of 10 accents, four fifths of each are drafted right, by reads and by document", async () => {
  const table: string[] = [];
  const short: number[] = [];
  for (const seed of SEEDS) {
    const { read, documented } = await sharesOf(seed, seed % 2 === 0 ? "b" : "a");
    table.push(rowOf(`${seed}`, read, documented));
    const readable = shareOf(read, (one) => one.readable);
    expect(readable.of).toBeGreaterThan(25);
    if (readable.share < LEAST || shareOf(documented).share < LEAST) short.push(seed);
  }
  expect(short, table.join("\n")).toEqual([]);
});

test("of 10 accents whose fields have names that nobody speaks, values alone show seven tenths of each, four fifths of all", async () => {
  const table: string[] = [];
  const all: Scored[] = [];
  for (const seed of SEEDS) {
    const { read } = await sharesOf(seed, seed % 2 === 0 ? "b" : "a", nonsense(seed));
    table.push(rowOf(`${seed}`, read, []));
    all.push(...read);
    expect.soft(shareOf(read, (one) => one.readable).share, `${seed}`).toBeGreaterThanOrEqual(0.7);
  }
  expect(shareOf(all, (one) => one.readable).share, table.join("\n")).toBeGreaterThanOrEqual(LEAST);
});

const VARIANTS = INVENTED.flatMap((invented) => [
  { name: invented.name, invented, words: undefined },
  { name: `${invented.name} in words that nobody speaks`, invented, words: nonsense(1) },
]);

test.each(VARIANTS)("of $name, four fifths are drafted right by reads, from no more than paths, bodies and the key", async (variant) => {
  const { truth, marks, connect } = await examinable(variant.invented, variant.words);
  const profile = resolveProfile(marks);
  const findings: Finding[] = [];
  for await (const found of examine({ profile, connect })) findings.push(found);
  const scored = await scoreDraft({ truth, draft: applied(profile, findings).profile, connect });
  const readable = shareOf(scored, (one) => one.readable);
  const missed = scored.filter((one) => one.readable && !one.right).map(({ field, expected, got }) => `${field}: ${expected}, got ${got}`);
  expect(readable.of).toBeGreaterThan(15);
  expect(readable.share, missed.join("\n")).toBeGreaterThanOrEqual(LEAST);
});

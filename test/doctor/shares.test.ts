/** The doctor's share of right fields on networks that nobody tuned for: at least 80 % of each. */
import { expect, test } from "vitest";
import { rowOf, sharesOf } from "../campaigns/accents/shares.ts";
import { shareOf } from "../harness/doctor-share.ts";

const SEEDS = Array.from({ length: 10 }, (_, seed) => 100 + seed);
const LEAST = 0.8;

test("of 10 accents, four fifths of each are drafted right, by reads and by document", { timeout: 120_000 }, async () => {
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

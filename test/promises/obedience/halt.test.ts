/** P5, obedience: a halt is the end of writing, whatever is under way. Real process, real command. */
import { describe, expect, test } from "vitest";
import { CONNECTIONS } from "../../../src/client/transport.ts";
import { diskHalts } from "../../campaigns/halts/disk-halts.ts";
import { halts } from "../../campaigns/halts/halts.ts";
import { canMake, type Breakdown } from "../../harness/small-disk.ts";

test("a halt with every socket full lists what is in flight, and nothing else is sent until it is lifted", async () => {
  const report = await halts({ halts: 4, seed: 3 });
  expect(report.mistakes).toEqual([]);
  expect(report.halts.flatMap(({ mistakes }) => mistakes)).toEqual([]);
  expect(report.halts.filter(({ kind }) => kind === "full").map(({ inFlight }) => inFlight)).toEqual([CONNECTIONS, CONNECTIONS]);
  expect(report.effects).toBeGreaterThanOrEqual(4 * CONNECTIONS);
});

describe.each<Breakdown>(["full", "read-only"])("a halt on a disk that is %s", (kind) => {
  test.runIf(canMake(kind))("is answered, and nothing it did not list is sent, also by the next start", async () => {
    const [round] = await diskHalts({ rounds: 1, seed: 5, kinds: [kind] });
    expect(round).toMatchObject({ disk: kind, freed: kind === "full", late: 0, mistakes: [] });
    expect(round?.inFlight).toBe(CONNECTIONS);
  });
});

/** P5, obedience: a halt is the end of writing, whatever is under way. Real process, real command. */
import { expect, test } from "vitest";
import { CONNECTIONS } from "../../../src/client/transport.ts";
import { SECOND } from "../../../src/core/units.ts";
import { halts } from "../../campaigns/halts/halts.ts";

test(
  "a halt with every socket full lists what is in flight, and nothing else is sent until it is lifted",
  { timeout: 60 * SECOND },
  async () => {
    const report = await halts({ halts: 4, seed: 3 });
    expect(report.mistakes).toEqual([]);
    expect(report.halts.flatMap(({ mistakes }) => mistakes)).toEqual([]);
    expect(report.halts.filter(({ kind }) => kind === "full").map(({ inFlight }) => inFlight)).toEqual([CONNECTIONS, CONNECTIONS]);
    expect(report.effects).toBeGreaterThanOrEqual(4 * CONNECTIONS);
  },
);

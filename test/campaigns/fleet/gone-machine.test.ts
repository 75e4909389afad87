/** The short form of the campaign with machines whose cables are pulled. */
import { expect, test } from "vitest";
import { canSeparate } from "../../harness/separate-machine.ts";
import { goneMachines } from "./gone-machine.ts";

test.runIf(canSeparate())(
  "a machine that is gone without a word, and one that reaches the server no longer: the others take what it had, and nothing is lost or done twice",
  async () => {
    const { rounds, lost, doubled } = await goneMachines({ rounds: 2, seed: 1, sessionTimeoutS: 2, patienceMs: 60_000 });
    expect(rounds.map(({ takenMs }) => Number.isFinite(takenMs))).toEqual([true, true]);
    expect(rounds.map(({ late, doubted }) => late > 0 && doubted > 0)).toEqual([true, true]); // it had begun something
    expect(lost).toEqual([]);
    expect(doubled).toBe(0);
  },
  300_000,
);

import { expect, test } from "vitest";
import { HOUR } from "../../src/core/units.ts";
import type { FaultHandle } from "../../src/local-network/faults/network-faults.ts";
import { whyLab } from "../harness/explained-specialist.ts";

test("what the outbox remembers of a specialist is gone once its actions are over", async () => {
  const faults: FaultHandle[] = [];
  const lab = await whyLab(
    (act) => {
      act.post("one");
      act.post("two");
    },
    { may: ["posts.create"] },
    {
      before: async ({ network }) => {
        network.faults.add({ fault: { kind: "status", status: 502, when: "after" }, match: { operation: "posts.create" }, times: 1 });
        faults.push(network.faults.add({ fault: { kind: "status", status: 503, when: "before" }, match: { writes: false } }));
      },
    },
  );
  const { runtime, clock } = lab;
  const { outbox } = runtime.parts;
  const [scout] = runtime.members();
  if (scout === undefined) throw new Error("nobody is at work");
  expect([outbox.inFlight.size, outbox.doubts.find(scout)?.size]).toEqual([0, 1]);
  for (const fault of faults) fault.remove();
  await clock.advance(2 * HOUR);
  expect((await lab.decided()).map(({ state }) => state)).toEqual(["confirmed", "confirmed"]);
  expect([outbox.inFlight.size, outbox.doubts.find(scout), outbox.readings.find(scout)]).toEqual([0, undefined, undefined]);
});

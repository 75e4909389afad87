/** Orders wake what waited for them: the lanes that they concern, and all work of everyone who runs. */
import { expect, test } from "vitest";
import { MINUTE } from "../../src/core/units.ts";
import { holdLane } from "../../src/gateway/member.ts";
import { wakeAll, type GuardianContext } from "../../src/guardian/wake-waiting.ts";
import { harness } from "../harness/harness.ts";

test("an order ends the waits of its rule and leaves the others; each running specialist is woken", async () => {
  const here = await harness({ specialists: [{ handle: "scout" }, { handle: "quill" }] });
  const woken: string[] = [];
  const parts = {
    ...here.runtime.parts,
    wake: (member: { specialist: { handle: string } }, kind: string) => void woken.push(`${member.specialist.handle} ${kind}`),
  };
  const members = here.runtime.members();
  const context: GuardianContext = { store: here.store, clock: here.clock, parts, running: () => members, memberOf: async () => undefined };
  const wait = { until: here.clock.now() + MINUTE, since: 0, message: "x" };
  for (const member of members) {
    holdLane(member, "act", { ...wait, rule: "halted" });
    holdLane(member, "reply", { ...wait, rule: "paused" });
  }
  wakeAll(context, "lift");
  expect(members.map(({ waits, ordersSeen }) => [[...(waits?.keys() ?? [])], ordersSeen])).toEqual([
    [["reply"], 1],
    [["reply"], 1],
  ]);
  expect(woken.filter((one) => one.startsWith("scout"))).toEqual([
    "scout events",
    "scout intents",
    "scout doubts",
    "scout sources",
    "scout watches",
  ]);
  expect(woken).toHaveLength(10);
  wakeAll(context);
  expect(members.map(({ waits, ordersSeen }) => [waits?.size, ordersSeen])).toEqual([
    [1, 2],
    [1, 2],
  ]);
});

test("without a process nothing is woken, and no wait ends", async () => {
  const here = await harness({ specialists: [{ handle: "scout" }] });
  const [member] = here.runtime.members();
  if (member === undefined) throw new Error("no scout");
  holdLane(member, "act", { until: 5, since: 0, message: "x", rule: "halted" });
  wakeAll({ store: here.store, clock: here.clock, parts: undefined, running: () => [member], memberOf: async () => undefined }, "lift");
  expect([member.waits?.size, member.ordersSeen]).toEqual([1, 0]);
});

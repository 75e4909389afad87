/** Readiness: not ready where nothing can work, and never for one specialist among several. */
import { expect, test } from "vitest";
import type { Member } from "../../src/gateway/member.ts";
import { readinessOf } from "../../src/guardian/readiness.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { memberOf } from "../harness/builders.ts";

const member = (handle: string, over: Partial<Member> = {}): Member => ({ ...memberOf({ handle }), ...over });
const failing = (tries: number): Member["handling"] => ({ tries, since: 0, kind: "post.created", message: "no model" });
const ready = (members: readonly Member[], phase: Runtime["phase"] = "working") => readinessOf({ members: () => members, phase });
const NO_KEY = { keyTrouble: { code: "key_missing", message: "none", since: 0 } } as const;

test("a working runtime is ready, also without specialists", () => {
  expect([ready([]), ready([member("ann")])]).toEqual([
    { ready: true, reasons: [] },
    { ready: true, reasons: [] },
  ]);
});

test.each(["starting", "stopping", "store_lost"] as const)("a runtime that is %s is not", (phase) => {
  expect(ready([member("ann")], phase)).toEqual({ ready: false, reasons: [phase] });
});

test("a process of a fleet that was drained is not: others have its specialists", () => {
  expect(readinessOf({ members: () => [], phase: "working", isDrained: true })).toEqual({ ready: false, reasons: ["drained"] });
});

test("no usable key at all is a reason, one missing key is none", () => {
  expect(ready([member("ann", NO_KEY), member("ben", NO_KEY)])).toEqual({ ready: false, reasons: ["no_key_usable"] });
  expect(ready([member("ann", NO_KEY), member("ben")]).ready).toBe(true);
  expect(ready([member("ann", NO_KEY), member("ben", { retired: true })]).reasons).toEqual(["no_key_usable"]);
});

test("handlers that all fail are a reason after three handlings together, the worst first", () => {
  expect(ready([member("ann", { handling: failing(1) }), member("ben", { handling: failing(1) })]).ready).toBe(true);
  const all = ready([member("ann", { handling: failing(1) }), member("ben", { handling: failing(2) }), member("cem")]);
  expect([all.reasons, all.failing?.map(({ handle, tries }) => `${handle} ${tries}`)]).toEqual([
    ["every_handling_fails"],
    ["ben 2", "ann 1"],
  ]);
  expect(ready([member("ann", { handling: failing(50) }), member("ben", { handling: "works" })]).ready).toBe(true);
});

test("at most ten failing handlers are shown", () => {
  expect(ready(Array.from({ length: 30 }, (_, i) => member(`s${i}`, { handling: failing(1) }))).failing).toHaveLength(10);
});

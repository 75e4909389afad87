/** Orders for many matters at once: a yes is never among them. */
import { expect, test } from "vitest";
import { buttonOf, isNeedKind, sharedOrders } from "../../../src/console/page/need-words.ts";
import type { NeedOrder } from "../../../src/guardian/needs-you.ts";

const order = (name: NeedOrder["order"], many: boolean, query: NeedOrder["with"] = {}): NeedOrder => ({
  order: name,
  label: `${name} it`,
  with: query,
  takesReason: true,
  many,
});

test("orders of one name count as one, whatever their labels are", () => {
  const approval = [order("approve", false), order("reject", true)];
  const failing = [{ ...order("retry", true), label: "Handle 3 again" }];
  const parked = [order("retry", true), order("settle", true, { verdict: "give-up" }), order("settle", false, { verdict: "happened" })];
  expect(sharedOrders([approval, approval, failing, parked])).toEqual([
    { id: "reject", label: "Reject", count: 2 },
    { id: "retry", label: "Retry", count: 2 },
    { id: "settle give-up", label: "Give up", count: 1 },
  ]);
});

test("yes stands out, no and giving up warn", () => {
  expect(buttonOf(order("approve", false))).toBe("primary");
  expect(buttonOf(order("reject", true))).toBe("danger");
  expect(buttonOf(order("settle", true, { verdict: "give-up" }))).toBe("danger");
  expect(buttonOf(order("retry", true))).toBe("");
});

test("a kind of another version is none of ours", () =>
  expect(["approval", "toString", "new"].map(isNeedKind)).toEqual([true, false, false]));

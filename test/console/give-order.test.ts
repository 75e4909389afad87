/** Orders of the console: their fields are checked, and each is given in the name of the person. */
import { expect, test } from "vitest";
import { giveOrder } from "../../src/console/give-order.ts";
import { desk } from "../harness/guardian-over-store.ts";

const given = (name: string, body: unknown) => {
  const { guardian, on } = desk();
  return on(giveOrder(guardian, "anna", name, body));
};

test.each([
  ["approve", {}, "id"],
  ["approve", { id: "i1" }, "hash"],
  ["reject", { id: "" }, "id"],
  ["reject", { id: 7 }, "id"],
  ["reject", { id: "i1", reason: "x".repeat(4_001) }, "at most 4000 characters"],
  ["reject", { id: "i1", force: "yes" }, "only id, reason"],
  ["settle", { id: "i1", verdict: "maybe" }, "happened, did-not, give-up"],
  ["unfreeze", {}, "reason"],
  ["pause", ["scout"], "a JSON object"],
  ["lift", null, "a JSON object"],
])("%s %j is refused with what was expected", async (name, body, expected) => {
  const error = await given(name, body).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toMatchObject({ code: "query_invalid" });
  expect(JSON.stringify(error) + String(error)).toContain(expected);
});

test.each(["call", "backup", "status", "constructor", "__proto__"])("%s is no order of the console", async (name) => {
  await expect(given(name, {})).rejects.toMatchObject({ code: "order_unknown" });
});

test("an account is unfrozen in the name of the person", async () => {
  const { guardian, on } = desk();
  let by = "";
  const watched = { ...guardian, unfreeze: async (query: { readonly by: string }) => ({ message: (by = query.by) }) };
  await on(giveOrder(watched, "anna", "unfreeze", { reason: "checked" }));
  expect(by).toBe("anna");
});

test("an order without a body is one for everyone", async () => {
  await expect(given("resume", undefined)).resolves.toMatchObject({ message: "everyone was not paused" });
});

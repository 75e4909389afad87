/** A decision of the network's Guardian resolves the one action that waited for it. */
import { describe, expect, test } from "vitest";
import { asIntentId } from "../../src/core/ids.ts";
import type { JsonObject } from "../../src/core/json.ts";
import type { IntentMove } from "../../src/store/outbox.ts";
import type { Store } from "../../src/store/store.ts";
import { decidePending } from "../../src/webhooks/remote-approval.ts";
import { intentOf, memberOf } from "../harness/builders.ts";
import { harness } from "../harness/harness.ts";

/** Applications that wait, each with the reference of its answer, if there was one. */
async function pending(references: { readonly [intent: string]: string | undefined }) {
  const { clock, store, runtime } = await harness({ specialists: [{ handle: "scout" }], start: false });
  const waiting = Object.entries(references).map(([id, reference], i) =>
    intentOf({
      seq: i,
      id: asIntentId(id),
      operation: "jobs.apply",
      target: `job_${id}`,
      state: "pending",
      message: reference === undefined ? "waits" : `waits (${reference})`,
    }),
  );
  const states = Object.fromEntries(waiting.map(({ id }) => [id, "pending"]));
  const moveIntent = async ({ seq, change }: IntentMove): Promise<boolean> => {
    const moved = waiting.find((one) => one.seq === seq);
    if (moved !== undefined) states[moved.id] = change.state;
    return moved !== undefined;
  };
  const stub: Partial<Store> = { intents: async () => waiting, moveIntent };
  const woken: string[] = [];
  const parts = {
    ...runtime.parts,
    store: new Proxy(store, { get: (target, name): unknown => Reflect.get(stub, name) ?? Reflect.get(target, name) }),
    wake: (_: unknown, part: string) => void woken.push(part),
  };
  return {
    woken,
    states,
    told: (decision: "approved" | "rejected", body: JsonObject) =>
      clock.run(decidePending(parts, memberOf(), { kind: "decision", word: `approval.${decision}`, decision, body })),
  };
}

describe("a decision", () => {
  test("is that of the intent whose answer had its reference", async () => {
    const { told, states, woken } = await pending({ a: "ap_1", b: "ap_2" });
    expect(await told("approved", { approval: { id: "ap_2" } })).toEqual({ state: "done" });
    expect(states).toEqual({ a: "pending", b: "confirmed" });
    expect(woken).toEqual(["events", "intents"]);
  });

  test("against it refuses it", async () => {
    const { told, states } = await pending({ a: "ap_1" });
    await told("rejected", { approval: { id: "ap_1" } });
    expect(states).toEqual({ a: "refused" });
  });

  test("without a known reference is that of the one that it names, or of the only one", async () => {
    const two = await pending({ a: undefined, b: undefined });
    await two.told("approved", { approval: { operation: "jobs.apply", target: "job_b" } });
    expect(two.states).toEqual({ a: "pending", b: "confirmed" });
    const one = await pending({ a: undefined });
    await one.told("approved", { approval: {} });
    expect(one.states).toEqual({ a: "confirmed" });
  });

  test("that may be of several is kept for a person, and changes none", async () => {
    const { told, states } = await pending({ a: undefined, b: undefined });
    expect(await told("approved", { approval: {} })).toMatchObject({ state: "parked" });
    expect(states).toEqual({ a: "pending", b: "pending" });
  });
});

/** Matters that wait for a person: each kind with its orders, exact counts beside bounded lists, and keys that a restart keeps. */
import { expect, test } from "vitest";
import { asIntentId } from "../../src/core/ids.ts";
import { needsOf, type NeedKind } from "../../src/guardian/needs-you.ts";
import { showStatus, type Snapshot, type SpecialistShown, type WaitingForPerson } from "../../src/guardian/status.ts";
import { decide } from "../harness/builders.ts";
import { desk } from "../harness/guardian-over-store.ts";
import { propose } from "../harness/proposed.ts";

const AT = 1_000;

const nothing = async (): Promise<Snapshot> => {
  const { clock, store, on } = desk();
  return on(showStatus({ store, clock }));
};
const waits = (over: Partial<WaitingForPerson> = {}): WaitingForPerson => ({
  about: "action",
  id: "a1",
  handle: "scout",
  what: "posts.create",
  message: "five tries",
  since: AT,
  ...over,
});
const specialist = (over: Partial<SpecialistShown>): SpecialistShown => ({
  handle: "scout",
  tier: undefined,
  accountId: undefined,
  retired: false,
  actions: {},
  open: {},
  quota: undefined,
  cooldown: undefined,
  money: [],
  jobs: {},
  waits: [],
  parked: undefined,
  held: [],
  sources: [],
  ...over,
});
const change = {
  record: "post",
  severity: "breaking",
  kind: "missing-field",
  type: "-",
  firstSeenMs: AT,
  lastSeenMs: AT,
  count: 1,
} as const;

/** One matter of each kind, as a status has it. */
const ONE: { readonly [kind in Exclude<NeedKind, "approval" | "failing">]: (status: Snapshot) => Partial<Snapshot> } = {
  store_lost: () => ({ storeLost: { message: "the disk is gone" } }),
  halt: () => ({ halts: [{ scope: "*", since: AT, reason: "odd replies" }] }),
  frozen: () => ({ frozen: [{ scope: "specialist:scout", currency: "credits", since: AT, reason: "a fee" }] }),
  key: () => ({ specialists: [specialist({ parked: { code: "key_refused", message: "the network refuses the key", since: AT } })] }),
  parked: ({ totals }) => ({ parked: [waits()], totals: { ...totals, parked: 1 } }),
  doubt: ({ totals }) => ({ doubts: [waits()], totals: { ...totals, doubts: 1 } }),
  pending: ({ totals }) => ({ pending: [waits()], totals: { ...totals, pending: 1 } }),
  undelivered: ({ totals }) => ({ undelivered: [waits()], totals: { ...totals, undelivered: 1 } }),
  stopped: ({ totals }) => ({
    stopped: [
      {
        rule: "capability",
        code: "forbidden",
        message: "it is forbidden",
        handle: "scout",
        operation: "posts.create",
        since: AT,
        probeAt: AT,
      },
    ],
    totals: { ...totals, stopped: 1 },
  }),
  drift: ({ totals }) => ({ drift: [{ ...change, operation: "posts.list", path: "id" }], totals: { ...totals, drift: 1, changed: 1 } }),
  model: () => ({ models: [{ model: "writer", code: "model_key_refused", message: "the key is refused", since: AT, until: AT }] }),
};

test.each(Object.entries(ONE))("a matter of the kind %s is counted once, under a key of its subject", async (kind, of) => {
  const status = await nothing();
  const { total, counts, needs } = needsOf({ ...status, ...of(status) });
  expect({ total, counts }).toEqual({ total: 1, counts: { [kind]: 1 } });
  expect(needs).toHaveLength(1);
  expect(needs[0]?.key.startsWith(kind)).toBe(true);
  expect(needs[0]?.message).not.toBe("");
});

test("the orders of a matter are complete except for a reason", async () => {
  const status = await nothing();
  const ordersOf = (kind: keyof typeof ONE) =>
    needsOf({ ...status, ...ONE[kind](status) }).needs[0]?.orders.map(({ order, with: query }) => ({ [order]: query }));
  expect(ordersOf("halt")).toEqual([{ lift: {} }]);
  expect(ordersOf("frozen")).toEqual([{ unfreeze: { handle: "scout" } }]);
  expect(ordersOf("key")).toEqual([{ retry: { id: "scout" } }]);
  expect(ordersOf("parked")).toEqual([{ retry: { id: "a1" } }, { settle: { id: "a1", verdict: "give-up" } }]);
  expect(ordersOf("doubt")).toEqual([{ settle: { id: "a1", verdict: "happened" } }, { settle: { id: "a1", verdict: "did-not" } }]);
  expect(ordersOf("stopped")).toEqual([{ retry: { id: "posts.create", handle: "scout" } }]);
});

test("an action that may have happened is settled, and an event is handled again for its own specialist", async () => {
  const status = await nothing();
  const ordersOf = (row: WaitingForPerson) =>
    needsOf({ ...status, parked: [row], totals: { ...status.totals, parked: 1 } }).needs[0]?.orders.map(({ with: query }) => query);
  expect(ordersOf(waits({ mayHaveHappened: true }))).toEqual(["happened", "did-not", "give-up"].map((verdict) => ({ id: "a1", verdict })));
  expect(ordersOf(waits({ about: "event", id: "e1" }))).toEqual([{ id: "e1", handle: "scout" }]);
});

test("an approval carries the hash of what was shown, and is never given for several at once", async () => {
  const { clock, store, on } = desk();
  await on(propose(store, { id: "p1", input: { content: "x" }, now: clock.now() }));
  const { needs } = needsOf(await on(showStatus({ store, clock })));
  const [need] = needs;
  expect(need).toMatchObject({
    key: "approval:p1",
    kind: "approval",
    handle: "scout",
    subject: "p1",
    proposal: { input: { content: "x" } },
  });
  expect(need?.until).toBe(need?.proposal?.expiresAt);
  expect(need?.orders).toMatchObject([
    { order: "approve", with: { id: "p1", hash: need?.proposal?.hash }, many: false },
    { order: "reject", with: { id: "p1" }, many: true },
  ]);
});

test("an event whose handler failed is part of its group alone, and other parked work is counted beside it", async () => {
  const { clock, store, on, failed, parked } = desk();
  await failed("e1", { pattern: "no model" });
  await failed("e2", { pattern: "no model" });
  await parked("e3", "it crashed three times");
  const action = (await on(decide(store, clock.now(), [{ id: asIntentId("a1") }]))).find(({ id }) => id === "a1");
  const gone = { state: "parked", code: "attempts_spent", message: "five tries" } as const;
  await on(store.moveIntent({ seq: action?.seq ?? 0, by: "outbox", change: gone, now: clock.now() }));
  const { total, counts, needs } = needsOf(await on(showStatus({ store, clock })));
  expect({ total, counts }).toEqual({ total: 3, counts: { parked: 2, failing: 1 } });
  expect(needs.map(({ key }) => key)).toEqual(["parked:e3:scout", "parked:a1", "failing:scout:post.created:no model"]);
});

test("lists are bounded, and their counts are exact", async () => {
  const status = await nothing();
  const parked = Array.from({ length: 150 }, (_, i) => waits({ id: `a${i}` }));
  const { total, counts, needs } = needsOf({ ...status, parked, totals: { ...status.totals, parked: 7_000 } });
  expect({ total, counts, listed: needs.length }).toEqual({ total: 7_000, counts: { parked: 7_000 }, listed: 100 });
});

test("exact payloads are listed up to a length together, and counted all", async () => {
  const { clock, store, on } = desk();
  for (const id of ["p1", "p2", "p3", "p4"]) await on(propose(store, { id, input: { content: "x".repeat(900_000) }, now: clock.now() }));
  const { total, needs } = needsOf(await on(showStatus({ store, clock })));
  expect([total, needs.length]).toEqual([4, 2]);
});

test("an operation whose answers changed is one matter with its worst change, and something new in an answer is none", async () => {
  const status = await nothing();
  const drift = [
    { ...change, operation: "posts.list", path: "id" },
    { ...change, operation: "posts.list", path: "title", severity: "warning" as const },
    { ...change, operation: "jobs.list", path: "badge", severity: "note" as const },
  ];
  const { needs } = needsOf({ ...status, drift, totals: { ...status.totals, drift: 3, changed: 1 } });
  expect(needs).toMatchObject([{ key: "drift:posts.list", message: "id is missing" }]);
});

test("a wait for money is no matter of its model", async () => {
  const status = await nothing();
  const models = [{ model: "writer", code: "spend_cap", message: "the day is spent", since: AT, until: AT }] as const;
  expect(needsOf({ ...status, models }).total).toBe(0);
});

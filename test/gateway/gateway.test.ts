/** The gateway: a row before each request, one attempt for a write, charged repeats for a read, and nothing past a rule. */
import { describe, expect, test } from "vitest";
import type { WireAnswer } from "../../src/client/transport.ts";
import type { Call } from "../../src/contract/call.ts";
import { SECOND } from "../../src/core/units.ts";
import { harness, type HarnessOptions } from "../harness/harness.ts";

const FEED: Call = { operation: "posts.list", input: {} };
const POST: Call = { operation: "posts.create", input: { content: "hello" } };
const LOST: WireAnswer = { kind: "unknown", reason: "ECONNRESET" };
const answered = (status: number, body: object = {}): WireAnswer => ({
  kind: "answer",
  status,
  headers: { "content-type": "application/json" },
  text: JSON.stringify(body),
  elapsedMs: 1,
});

/** An idle specialist, whose requests the test makes itself; `answers` come in order, then the network's own. */
async function gateway(answers: readonly WireAnswer[] = [], options: Partial<HarnessOptions> = {}) {
  const left = [...answers];
  const sent: { readonly at: number; readonly line: string; readonly open: number }[] = [];
  const here = await harness({
    specialists: [{ handle: "scout", id: "agt_mine", watch: { threads: false, mentions: false } }],
    link:
      (plain, { clock }) =>
      async (request) => {
        const open = (await here.store.openAttempts()).length;
        sent.push({ at: clock.now(), line: `${request.method} ${request.path.split("?", 1)[0]}`, open });
        return left.shift() ?? plain(request);
      },
    ...options,
    start: false,
  });
  await here.clock.run(here.runtime.start());
  const [member] = here.runtime.members();
  if (member === undefined) throw new Error("expected a specialist");
  const { signal } = new AbortController();
  const { gateway: way, profile, breakers } = here.runtime.parts;
  return {
    ...here,
    member,
    breakers,
    sent,
    read: (call = FEED) => here.clock.run(way.read(member, call, { signal })),
    /** Two reads, asked for at one time. */
    both: () => here.clock.run(Promise.all([1, 2].map(() => way.read(member, FEED, { signal })))),
    perform: (call = POST) => here.clock.run(way.perform(member, call, signal)),
    examine: (call = FEED) => here.clock.run(way.examine(member, call, profile, signal)),
    used: async () =>
      member.keyId === undefined ? 0 : (await here.clock.run(here.store.quotaUse(member.keyId, here.clock.now())))?.hour.used,
  };
}

test("a request leaves with an open attempt in the store, which its answer closes", async () => {
  const { read, sent, store, used } = await gateway();
  expect(await read()).toMatchObject({ kind: "answered", outcome: { class: "confirmed" } });
  expect(sent).toMatchObject([{ line: "GET /v1/posts", open: 1 }]);
  expect(await store.openAttempts()).toEqual([]);
  expect(await used()).toBe(1);
});

describe("a read", () => {
  test("whose answer is lost is made three times at most, each time later, and each is charged", async () => {
    const { read, sent, used } = await gateway([LOST, LOST, LOST]);
    expect(await read()).toMatchObject({ kind: "answered", outcome: { class: "unknown" } });
    expect(sent.map(({ at }) => at - (sent[0]?.at ?? 0))).toEqual([0, SECOND, 3 * SECOND]);
    expect(await used()).toBe(3);
  });

  test("that is refused is not repeated", async () => {
    const { read, sent } = await gateway([answered(422, { error: { code: "invalid", message: "no" } })]);
    expect(await read()).toMatchObject({ kind: "answered", outcome: { class: "refused", status: 422 } });
    expect(sent).toHaveLength(1);
  });

  test("that the tier lacks, or that is no request of the interface, is refused without one", async () => {
    const { read, sent } = await gateway([], { profile: { tiers: { free: { lacks: ["posts.list"] } } } });
    expect(await read()).toMatchObject({ kind: "refused", code: "not_in_tier" });
    expect(await read({ operation: "posts.get", input: {} })).toMatchObject({ kind: "refused" });
    expect(sent).toEqual([]);
  });

  test("with a full quota waits for the time at which there is room, without a request", async () => {
    const { read, sent, clock } = await gateway([], { profile: { tiers: { free: { perHour: 3, perDay: 3 } } } });
    let answer = await read();
    while (answer.kind === "answered") answer = await read();
    expect(answer).toMatchObject({ kind: "waits", lane: "poll" });
    expect(answer.kind === "waits" && answer.until > clock.now()).toBe(true);
    expect(sent.length).toBeLessThanOrEqual(3);
  });
});

test("a request that holds the account's own id waits until that is known, and then names it", async () => {
  const profile = { operations: { "posts.create": { path: "/agents/{me}/posts" }, "posts.list": { path: "/agents/{me}/posts" } } };
  const { read, perform, sent, member } = await gateway([answered(200), answered(200)], { profile });
  member.accountId = undefined;
  expect(await perform()).toMatchObject({ kind: "waits", rule: "account_unknown", open: true });
  expect(await read()).toMatchObject({ kind: "waits", rule: "account_unknown" });
  expect(sent).toEqual([]);
  member.accountId = "a/1";
  await perform();
  expect(sent).toMatchObject([{ line: "POST /v1/agents/a%2F1/posts" }]);
});

test("a write whose answer is lost is not repeated here", async () => {
  const { perform, sent } = await gateway([LOST]);
  expect(await perform()).toMatchObject({ kind: "answered", outcome: { class: "unknown" } });
  expect(sent).toHaveLength(1);
});

describe("a key that the network refuses", () => {
  test("makes the next request wait, without sending it", async () => {
    const { read, sent, member } = await gateway([answered(401, { error: { code: "unauthorized", message: "no such key" } })]);
    await read();
    expect(member.keyTrouble?.code).toBe("key_refused");
    expect(await read()).toMatchObject({ kind: "waits", rule: "key_unusable" });
    expect(sent).toHaveLength(1);
  });

  test("makes those that were queued before it wait too", async () => {
    const refused = answered(401, { error: { code: "unauthorized", message: "no such key" } });
    const { both, sent } = await gateway([refused], { pacing: { concurrency: 1, spacingMs: SECOND } });
    expect(await both()).toMatchObject([{ kind: "answered" }, { kind: "waits", rule: "key_unusable" }]);
    expect(sent).toHaveLength(1);
  });
});

test("an open breaker makes a request wait for the probe, without sending it", async () => {
  const { read, sent, breakers } = await gateway([answered(405)]);
  await read();
  const [open] = breakers.stops();
  expect(open).toMatchObject({ code: "operation_missing", operation: "posts.list" });
  expect(await read()).toMatchObject({ kind: "waits", rule: "capability", until: open?.probeAt });
  expect(sent).toHaveLength(1);
});

describe("an examination", () => {
  test("passes breakers and changes none, and brings the raw answer", async () => {
    const { read, examine, sent, breakers } = await gateway([answered(405), answered(405)]);
    await read();
    const before = breakers.stops();
    expect(await examine()).toMatchObject({ kind: "answered", wire: { kind: "answer", status: 405 } });
    expect(breakers.stops()).toEqual(before);
    expect(sent).toHaveLength(2);
  });

  test("does not write", async () => {
    const { examine, sent } = await gateway();
    expect(await examine(POST)).toMatchObject({ kind: "refused", code: "not_a_read" });
    expect(sent).toEqual([]);
  });
});

test("in a dry run a write is refused with what a real run would meet, and a read is real", async () => {
  const { perform, read, sent, guardian, clock } = await gateway([], { writes: "refuse" });
  expect(await perform()).toMatchObject({ kind: "refused", code: "dry_run", message: expect.not.stringContaining("would wait") });
  await clock.run(guardian.halt({ reason: "lunch" }));
  expect(await perform()).toMatchObject({ kind: "refused", code: "dry_run", message: expect.stringContaining("lunch") });
  expect(await read()).toMatchObject({ kind: "answered" });
  expect(sent.map(({ line }) => line)).toEqual(["GET /v1/posts"]);
});

test("a halt stops a write, and lets reads through", async () => {
  const { perform, read, sent, guardian, clock } = await gateway();
  await clock.run(guardian.halt({}));
  expect(await perform()).toMatchObject({ kind: "waits", rule: "halted" });
  expect(await read()).toMatchObject({ kind: "answered" });
  expect(sent.map(({ line }) => line)).toEqual(["GET /v1/posts"]);
});

/** Due intents go to the gateway, and its answer decides what waits: one intent, its lane, or nothing. Real store, a gateway by hand. */
import { describe, expect, test } from "vitest";
import { asIntentId } from "../../src/core/ids.ts";
import { MINUTE, SECOND } from "../../src/core/units.ts";
import type { GatewayAnswer } from "../../src/gateway/gateway-answer.ts";
import { sendable, sendOne } from "../../src/outbox/send.ts";
import { announcedIntents, harness } from "../harness/harness.ts";
import { decide, memberOf } from "../harness/builders.ts";

const ids = (...names: string[]) => names.map((name) => ({ id: asIntentId(name) }));

/** Intents of a specialist, and a gateway that answers as a test says. */
async function outbox(answer: (intent: string) => GatewayAnswer | Promise<GatewayAnswer>, drafts = ids("a", "b", "c")) {
  const { clock, store, runtime } = await harness({ specialists: [{ handle: "scout" }], start: false });
  const stopping = new AbortController();
  const member = memberOf();
  const sent: string[] = [];
  const intents = await clock.run(decide(store, clock.now(), drafts));
  const parts = {
    ...runtime.parts,
    stopping: stopping.signal,
    wake: () => undefined,
    gateway: {
      ...runtime.parts.gateway,
      async send(_: unknown, { id }: { readonly id: string }) {
        sent.push(id);
        return answer(id);
      },
    },
  };
  /** Returns true if one left. */
  const pass = async (): Promise<boolean> => {
    const begun = sendable(parts, member).map((intent) => sendOne(parts, member, intent));
    return (await Promise.all(begun)).some(Boolean);
  };
  const state = async () => Object.fromEntries((await clock.run(store.intents({ limit: 100 }))).map((one) => [one.id, one]));
  return {
    clock,
    member,
    parts,
    sent,
    intents,
    stopping,
    state,
    announced: announcedIntents(runtime),
    pass: () => clock.run(pass()),
    begin: pass,
  };
}

const wait = (rule: "quota_lane" | "conflict" | "approval_wanted", until: number, open = false): GatewayAnswer => ({
  kind: "waits",
  until,
  open,
  rule,
  message: rule,
  lane: "act",
});
const gone: GatewayAnswer = { kind: "gone" };

describe("an intent that has to wait", () => {
  test("holds its lane where the rule applies to the lane: nothing of it is asked for until then", async () => {
    const here = await outbox(() => wait("quota_lane", here.clock.now() + MINUTE));
    expect(await here.pass()).toBe(false);
    const asked = here.sent.length;
    expect(here.member.waits?.get("act")).toMatchObject({ rule: "quota_lane" });
    await here.clock.advance(MINUTE - 1);
    await here.pass();
    expect(here.sent).toHaveLength(asked);
    await here.clock.advance(1);
    await here.pass();
    expect(here.sent.length).toBeGreaterThan(asked);
  });

  test("alone lets the others of its lane pass, and is asked for again at its time", async () => {
    const here = await outbox((id) => (id === "a" ? wait("approval_wanted", here.clock.now() + MINUTE) : gone));
    await here.pass();
    expect(here.sent.toSorted()).toEqual(["a", "b", "c"]);
    expect(here.member.waits).toBeUndefined();
    expect((await here.state())["a"]).toMatchObject({ state: "ready", code: "approval_wanted", nextAt: here.clock.now() + MINUTE });
    await here.clock.advance(MINUTE - 1);
    await here.pass();
    expect(here.sent.filter((id) => id === "a")).toHaveLength(1);
  });

  test("for another's outcome is asked for ever more rarely, since some outcomes are known after days", async () => {
    const here = await outbox(() => wait("conflict", 0, true), ids("a"));
    const pauses: number[] = [];
    for (const ageMs of [0, 10 * MINUTE, 600 * MINUTE]) {
      await here.clock.advance(ageMs);
      await here.pass();
      pauses.push(((await here.state())["a"]?.nextAt ?? 0) - here.clock.now());
    }
    expect(pauses).toEqual([5 * SECOND, Math.round((10 * MINUTE) / 8), 10 * MINUTE]);
  });

  test("is asked for at once where an order of the Guardian came during the attempt", async () => {
    const here = await outbox(() => {
      here.member.ordersSeen += 1;
      return wait("quota_lane", here.clock.now() + MINUTE);
    }, ids("a"));
    expect(await here.pass()).toBe(true);
    expect(here.member.waits).toBeUndefined();
  });
});

describe("an intent that a rule refuses for good", () => {
  const refused: GatewayAnswer = { kind: "refused", code: "not_allowed", message: "not in may" };

  test("ends, and is announced with its reason", async () => {
    const here = await outbox(() => refused, ids("a"));
    expect(await here.pass()).toBe(true);
    expect((await here.state())["a"]).toMatchObject({ state: "refused", code: "not_allowed" });
    expect(here.announced).toMatchObject([{ id: "a", state: "refused", code: "not_allowed" }]);
  });

  test("waits for a person where an earlier request of it may have taken effect", async () => {
    const here = await outbox(() => refused, ids("a"));
    const [intent] = here.intents;
    if (intent === undefined) throw new Error("expected an intent");
    await here.clock.run(sendOne(here.parts, here.member, { ...intent, everUnknown: true }));
    expect((await here.state())["a"]).toMatchObject({ state: "parked", code: "not_allowed" });
  });
});

test("an intent that expired before it was sent ends without a request", async () => {
  const drafts = [{ id: asIntentId("a"), expiresAt: Date.UTC(2026, 10, 21) + MINUTE }];
  const here = await outbox(() => gone, drafts);
  await here.clock.advance(MINUTE);
  await here.pass();
  expect(here.sent).toEqual([]);
  expect(here.announced).toMatchObject([{ id: "a", state: "cancelled" }]);
});

test("an intent in flight is not sent a second time, and can be once its attempt has ended", async () => {
  const answers: (() => void)[] = [];
  const here = await outbox(() => new Promise((resolve) => void answers.push(() => resolve(gone))), ids("a"));
  const first = here.begin();
  await here.clock.advance(0);
  await here.pass();
  expect(here.sent).toEqual(["a"]);
  answers[0]?.();
  await here.clock.run(first);
  const again = here.begin();
  await here.clock.advance(0);
  expect(here.sent).toEqual(["a", "a"]);
  answers[1]?.();
  await here.clock.run(again);
});

test("nothing is sent once the runtime begins to stop", async () => {
  const here = await outbox(() => gone);
  here.stopping.abort();
  expect(await here.pass()).toBe(false);
  expect(here.sent).toEqual([]);
});

test("an attempt that throws leaves its intent ready, and the others are sent", async () => {
  const here = await outbox((id) => {
    if (id === "a") throw new Error("a bug of ours");
    return gone;
  });
  expect(await here.pass()).toBe(false);
  expect(here.sent.toSorted()).toEqual(["a", "b", "c"]);
  expect((await here.state())["a"]?.state).toBe("ready");
});

/** Statuses that mean something else on this network: told by its profile, by status, code or text of the body. */
import { describe, expect, test } from "vitest";
import type { ProfileSource } from "../../../src/contract/profile/source.ts";
import type { Transport, WireAnswer } from "../../../src/client/transport.ts";
import { HOUR, MINUTE } from "../../../src/core/units.ts";
import type { IntentState } from "../../../src/outbox/intent.ts";
import { virtualWebhooks } from "../../harness/virtual-webhooks.ts";

const answer = (status: number, code: string, message: string, headers: Record<string, string> = {}): WireAnswer => ({
  kind: "answer",
  status,
  headers,
  text: JSON.stringify({ error: { code, message } }),
  elapsedMs: 1,
});

/** A poster on a network that answers each of its first posts as `first` says, by their number. */
async function posting(
  answers: NonNullable<ProfileSource["answers"]>,
  first: (nth: number, send: () => Promise<WireAnswer>) => Promise<WireAnswer>,
) {
  let posts = 0;
  const sentAt: number[] = [];
  const link =
    (network: Transport): Transport =>
    (request) => {
      if (request.method !== "POST" || request.path !== "/v1/posts") return network(request);
      sentAt.push(world.clock.now());
      return first(posts++, () => network(request));
    };
  const world = await virtualWebhooks({
    definition: {
      may: ["posts.create"],
      schedules: { talk: { every: "10m", run: (act) => void act.post(`It is ${act.now}`) } },
    },
    profile: { answers },
    receiver: { url: undefined, allowUnsigned: true },
    link,
  });
  const states = async (): Promise<readonly IntentState[]> =>
    (await world.clock.run(world.store.intents({ operation: "posts.create", limit: 20 }))).map(({ state }) => state).toReversed();
  const status = () => world.runtime.member("scout")?.keyTrouble;
  return { ...world, states, sentAt, status };
}

describe("an answer that the profile gives a meaning:", () => {
  test("a wait told by 503 parks the key for as long as it asks, and the action is sent again", async () => {
    const { clock, network, states, sentAt } = await posting([{ status: 503, code: "slow_down", means: "wait" }], (nth, send) =>
      nth === 0 ? Promise.resolve(answer(503, "slow_down", "not so fast", { "retry-after": "120" })) : send(),
    );
    await clock.advance(15 * MINUTE);
    expect(await states()).toEqual(["confirmed"]);
    expect((sentAt[1] ?? 0) - (sentAt[0] ?? 0)).toBeGreaterThanOrEqual(2 * MINUTE);
    expect(network.truth.effects({ operation: "posts.create" })).toHaveLength(1);
  });

  test("403 that means suspended stops the account, and loses no action", async () => {
    const { clock, states, sentAt, runtime } = await posting([{ status: 403, code: "timeout", means: "suspended" }], (nth, send) =>
      nth === 0 ? Promise.resolve(answer(403, "timeout", "sit down")) : send(),
    );
    await clock.advance(25 * MINUTE);
    expect(runtime.parts.breakers.stops()).toMatchObject([{ code: "account_stopped", handle: "scout" }]);
    expect(sentAt).toHaveLength(1);
    await clock.advance(HOUR);
    expect((await states()).slice(0, 2)).toEqual(["confirmed", "confirmed"]);
    expect(runtime.parts.breakers.stops()).toEqual([]);
  });

  test("409 that means done confirms the action", async () => {
    const { clock, network, states } = await posting(
      [{ status: 409, text: "already posted", operations: ["posts.create"], means: "done" }],
      async (_, send) => {
        await send();
        return answer(409, "conflict", "This was already posted by you");
      },
    );
    await clock.advance(15 * MINUTE);
    expect(await states()).toEqual(["confirmed"]);
    expect(network.truth.effects({ operation: "posts.create" })).toHaveLength(1);
  });

  test("401 of an account that nobody has claimed refuses the action, and not the key", async () => {
    const { clock, states, status } = await posting([{ status: 401, code: ["unclaimed", "unverified"], means: "refused" }], (nth, send) =>
      nth === 0 ? Promise.resolve(answer(401, "unclaimed", "claim your account first")) : send(),
    );
    await clock.advance(25 * MINUTE);
    expect(await states()).toEqual(["refused", "confirmed"]);
    expect(status()).toBeUndefined();
  });

  test("a success with a stated failure can be a wait too", async () => {
    const { clock, states } = await posting([{ code: "ratelimited", means: "wait" }], (nth, send) =>
      nth === 0
        ? Promise.resolve({ kind: "answer", status: 200, headers: {}, text: '{"ok":false,"error":"ratelimited"}', elapsedMs: 1 })
        : send(),
    );
    await clock.advance(15 * MINUTE);
    expect(await states()).toEqual(["confirmed"]);
  });

  test("any other answer with that status keeps its usual meaning", async () => {
    const { clock, states, status } = await posting([{ status: 401, code: "unclaimed", means: "refused" }], () =>
      Promise.resolve(answer(401, "bad_key", "who are you?")),
    );
    await clock.advance(15 * MINUTE);
    expect(await states()).toEqual(["ready"]);
    expect(status()).toBeDefined();
  });
});

/** Networks whose limit headers tell of another window than the hour or the day. */
import { expect, onTestFinished, test } from "vitest";
import { resolveProfile } from "../../../src/contract/profile/profile.ts";
import { seededRandom } from "../../../src/core/random.ts";
import { HOUR, MINUTE } from "../../../src/core/units.ts";
import { virtualClock } from "../../../src/core/virtual-clock.ts";
import { createSpecialist } from "../../../src/specialist/specialist.ts";
import { virtualRuntime } from "../../harness/harness.ts";

const WINDOW_MS = 5 * MINUTE;
const PER_WINDOW = 10;

interface Window {
  readonly left: number;
  readonly resetAt: number;
}

/** A reader of a feed on a network that allows ten requests in fixed windows of five minutes; its answers to an hour of them. */
async function hourOf(headersOf: (window: Window) => Record<string, string>, profile: object = {}) {
  const clock = virtualClock(Date.UTC(2026, 10, 21));
  const answers = { ok: 0, limited: 0 };
  let window = { opened: -Infinity, used: 0 };
  const runtime = virtualRuntime({
    clock,
    random: seededRandom(2),
    profile: resolveProfile({ extends: "set-b", tiers: { pro: { perHour: 120, perDay: 2_880 } }, ...profile }),
    specialists: [createSpecialist({ handle: "reader", tier: "pro", watch: { feed: true }, on: { "post.created": () => undefined } })],
    transport: async ({ path }) => {
      const now = clock.now();
      if (now >= window.opened + WINDOW_MS) window = { opened: now, used: 0 };
      window.used += 1;
      const isOver = window.used > PER_WINDOW;
      answers[isOver ? "limited" : "ok"] += 1;
      const headers = headersOf({ left: Math.max(0, PER_WINDOW - window.used), resetAt: window.opened + WINDOW_MS });
      if (isOver) return { kind: "answer", status: 429, headers, text: '{"error":{"code":"slow","message":"slow"}}', elapsedMs: 1 };
      const body = path.startsWith("/v1/agents")
        ? { agents: [{ id: "me", handle: "reader" }] }
        : { posts: [{ id: `p${now}`, content: "news" }] };
      return { kind: "answer", status: 200, headers, text: JSON.stringify(body), elapsedMs: 1 };
    },
    keyOf: () => "sk_live_of_reader",
  });
  await clock.run(runtime.start());
  onTestFinished(() => clock.run(runtime.stop()));
  await clock.advance(HOUR);
  return answers;
}

test.each<[string, (window: Window) => Record<string, string>, object, number]>([
  [
    "with its limit, and a reset in ISO form",
    ({ left, resetAt }) => ({
      "x-ratelimit-limit": `${PER_WINDOW}`,
      "x-ratelimit-remaining": `${left}`,
      "x-ratelimit-reset": new Date(resetAt).toISOString(),
    }),
    {},
    0,
  ],
  [
    "with a reset in ISO form alone",
    ({ left, resetAt }) => ({ "x-ratelimit-remaining": `${left}`, "x-ratelimit-reset": new Date(resetAt).toISOString() }),
    {},
    0,
  ],
  ["with its limit alone", ({ left }) => ({ "x-ratelimit-limit": `${PER_WINDOW}`, "x-ratelimit-remaining": `${left}` }), {}, 20],
  [
    "without more, in a profile that states its length",
    ({ left }) => ({ "x-ratelimit-remaining": `${left}` }),
    { limitHeaders: { windowMs: "5m" } },
    0,
  ],
])("what remains of five minutes, %s, stops nothing for longer than that", async (_, headersOf, profile, mostLimited) => {
  const { ok, limited } = await hourOf(headersOf, profile);
  expect(ok).toBeGreaterThan(60);
  expect(limited).toBeLessThanOrEqual(mostLimited);
});

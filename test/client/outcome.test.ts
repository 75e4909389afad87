/** The outcome table: what each kind of answer makes of an attempt. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { outcomeReader } from "../../src/client/outcome.ts";
import type { WireAnswer, WireHeaders } from "../../src/client/transport.ts";
import type { Outcome } from "../../src/contract/call.ts";
import { resolveProfile, shippedProfile, type Profile } from "../../src/contract/profile/profile.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";

const NOW = Date.UTC(2026, 0, 1);
const profileB = shippedProfile("b");

function read(operation: string, wire: WireAnswer, profile: Profile = profileB): Outcome {
  const found = profile.operations.get(operation);
  if (found === undefined) throw new Error(`no ${operation}`);
  return outcomeReader(profile, found, virtualClock(NOW))(wire, { operation, input: {} }).outcome;
}

function answer(status: number, body: unknown, headers: WireHeaders = {}): WireAnswer {
  return { kind: "answer", status, headers, text: typeof body === "string" ? body : JSON.stringify(body), elapsedMs: 1 };
}

const HTML = "<html><body>403 Forbidden</body></html>";
const OWN = { error: { code: "no_such_post", message: "there is no such post" } };

describe("the cost of an action", () => {
  const profile = resolveProfile({
    extends: "set-b",
    operations: { "posts.create": { charged: ["fee.amount", "cost"] }, "posts.delete": { charged: "cost" } },
  });
  const charged = (operation: string, body: object, spoken = profile): number | undefined => {
    const outcome = read(operation, answer(200, body), spoken);
    return outcome.class === "confirmed" ? outcome.chargedMicros : undefined;
  };

  test.each([
    [{ id: "p1", fee: { amount: 2 } }, 2_000_000],
    [{ id: "p1", fee: { amount: "0.25" }, cost: 9 }, 250_000],
    [{ id: "p1", cost: 1.1 }, 1_100_000],
    [{ id: "p1", cost: 0.000_000_1 }, 1],
    [{ id: "p1", cost: 0 }, 0],
    [{ id: "p1", cost: -1 }, undefined],
    [{ id: "p1", cost: "a lot" }, undefined],
    [{ id: "p1", cost: 1e300 }, undefined],
    [{ id: "p1" }, undefined],
  ])("%j is %s millionths", (body, micros) => expect(charged("posts.create", body)).toBe(micros));

  test("is believed only where the profile says where it stands", () => {
    expect(charged("posts.create", { id: "p1", cost: 5 }, profileB)).toBeUndefined();
  });
});

describe("a write", () => {
  test.each([
    [200, { id: "p1", content: "x" }, "confirmed"],
    [201, { data: { id: 7 } }, "confirmed"],
    [200, { ok: true }, "unknown"],
    [200, "", "unknown"],
    [204, "", "unknown"],
    [200, HTML, "unknown"],
    [200, '{"id": "p1", "cont', "unknown"],
    [200, [], "unknown"],
    [200, null, "unknown"],
    [200, { id: 1.5 }, "unknown"],
    [206, { id: "p1" }, "unknown"],
    [200, { success: false, error: "content too long" }, "refused"],
    [200, { id: "r1", error: { code: "not_verified", message: "verify first" } }, "unknown"],
    [200, { id: "p1", error: null, errors: [] }, "confirmed"],
    [202, { id: "ap1" }, "pending"],
    [202, "", "pending"],
    [200, { status: "pending_approval", approval_id: "ap1" }, "pending"],
    [403, { error: { code: "approval_required", message: "ask" } }, "pending"],
    [301, "", "unknown"],
    [302, "", "unknown"],
    [303, "", "unknown"],
    [304, "", "unknown"],
    [307, "", "unknown"],
    [308, "", "unknown"],
    [400, OWN, "refused"],
    [404, { message: "not found" }, "refused"],
    [422, { type: "https://x/p", title: "Bad", detail: "no", status: 422 }, "refused"],
    [403, { errors: [{ code: "x", message: "y" }] }, "refused"],
    [400, { error: "too_long" }, "refused"],
    [403, HTML, "unknown"],
    [404, "", "unknown"],
    [400, {}, "unknown"],
    [400, [], "unknown"],
    [400, '"no"', "unknown"],
    [408, OWN, "unknown"],
    [401, OWN, "unauthorized"],
    [401, HTML, "unauthorized"],
    [401, "", "unauthorized"],
    [429, OWN, "limited"],
    [429, HTML, "limited"],
    [429, "", "limited"],
    [500, OWN, "unknown"],
    [502, HTML, "unknown"],
    [503, "", "unknown"],
    [599, OWN, "unknown"],
    [700, OWN, "unknown"],
  ] as const)("answered by %i %j is %#: %s", (status, body, expected) => {
    expect(read("posts.reply", answer(status, body)).class).toBe(expected);
  });

  test("that hands out nothing is confirmed by an empty answer", () => {
    expect(read("webhooks.delete", answer(204, "")).class).toBe("confirmed");
    expect(read("communities.leave", answer(200, { ok: true })).class).toBe("confirmed");
    expect(read("webhooks.delete", answer(200, HTML)).class).toBe("unknown");
    expect(read("webhooks.delete", answer(200, OWN)).class).toBe("unknown");
  });

  test("that creates nothing is confirmed by any plain yes, where the profile says so", () => {
    expect(read("posts.vote", answer(200, { ok: true })).class).toBe("confirmed");
    expect(read("posts.vote", answer(204, "")).class).toBe("confirmed");
    expect(read("posts.vote", answer(200, HTML)).class).toBe("unknown");
    expect(read("posts.vote", answer(200, { error: "verify first" }))).toMatchObject({ class: "unknown", unreadable: true });
    const strict = resolveProfile({ extends: "set-b", operations: { "posts.vote": { answer: "record" } } });
    expect(read("posts.vote", answer(200, { ok: true }), strict)).toMatchObject({ class: "unknown", unreadable: true });
  });

  test("that never left, or whose answer never came, says so", () => {
    expect(read("posts.reply", { kind: "never-left", reason: "refused" })).toEqual({ class: "never-left", reason: "refused" });
    expect(read("posts.reply", { kind: "unknown", reason: "reset", status: 200, headers: {} })).toEqual({
      class: "unknown",
      reason: "reset",
      status: 200,
    });
  });
});

describe("a read", () => {
  test.each([
    [200, { posts: [{ id: 1 }] }, "confirmed"],
    [200, [], "confirmed"],
    [202, [], "confirmed"],
    [200, {}, "unknown"],
    [200, HTML, "unknown"],
    [200, { posts: [{ name: "no id" }] }, "unknown"],
    [204, "", "unknown"],
    [301, "", "refused"],
    [302, HTML, "refused"],
    [308, "", "refused"],
    [304, "", "unknown"],
    [404, OWN, "refused"],
    [500, OWN, "unknown"],
  ] as const)("answered by %i %j is %s", (status, body, expected) => {
    expect(read("posts.list", answer(status, body)).class).toBe(expected);
  });

  test("tells how many items it could not read", () => {
    expect(read("posts.list", answer(200, [{ id: 1 }, { id: 2 }, {}, 7]))).toMatchObject({ class: "confirmed", skipped: 2 });
  });
});

test("the network's own code and message come through", () => {
  expect(read("posts.reply", answer(404, OWN))).toEqual({
    class: "refused",
    status: 404,
    code: "no_such_post",
    message: "there is no such post",
  });
  expect(read("posts.reply", answer(404, { message: "gone for good" }))).toMatchObject({ code: "http_404", message: "gone for good" });
});

test("a token is confirmed only where there is one, and stands in no body", () => {
  const a = shippedProfile("a");
  expect(read("auth.token", answer(200, { ok: true }), a).class).toBe("unknown");
  const traded = read("auth.token", answer(200, { access_token: "abcdefghij", refresh_token: "klmnopqrst", expires_in: 600 }), a);
  expect(traded).toMatchObject({ class: "confirmed", record: { kind: "token", expiresInMs: 600_000 } });
  expect(JSON.stringify(traded)).not.toMatch(/abcdefghij|klmnopqrst/);
});

test("the server's clock is compared with ours", () => {
  expect(read("posts.list", answer(200, [], { date: new Date(NOW + 5_000).toUTCString() }))).toMatchObject({ skewMs: 5_000 });
  expect(read("posts.list", answer(200, [], { date: "rubbish" }))).not.toHaveProperty("skewMs");
});

describe("retry-after", () => {
  const after = (headers: WireHeaders, body: unknown = ""): number | undefined => {
    const outcome = read("posts.reply", answer(429, body, headers));
    return outcome.class === "limited" ? outcome.retryAfterMs : Number.NaN;
  };
  test("a date is measured by the server's own clock", () => {
    const date = new Date(NOW + 3_600_000).toUTCString();
    expect(after({ date, "retry-after": new Date(NOW + 3_630_000).toUTCString() })).toBe(30_000);
  });

  test.each([
    ["Try again in 3 minutes.", 180_000],
    ["The gate is shut and stays so for 1 minute and 30 seconds", 90_000],
    ["1h 5min", 3_900_000],
    ["PT4M30S", 270_000],
    ["P1DT2H", 93_600_000],
    ["250ms", 250],
    ["in an hour", 3_600_000],
    ["in a moment", undefined],
    ["and so on", undefined],
    ["3 posts", undefined],
  ])("is read from words of the body: %j", (words, expected) => {
    expect(after({}, { error: { code: "slow", retry_after: words } })).toBe(expected);
  });

  test("is counted in the unit that the profile states", () => {
    const profile = resolveProfile({ extends: "set-b", errors: { waitUnit: "minutes" } });
    const outcome = read("posts.reply", answer(429, { error: { code: "slow", retry_after: 1.5 } }), profile);
    expect(outcome).toMatchObject({ class: "limited", retryAfterMs: 90_000 });
  });

  test("is read from the body where the header is missing", () => {
    expect(after({}, { error: { code: "slow", retry_after: 12 } })).toBe(12_000);
    expect(after({})).toBeUndefined();
  });
});

test("limits in the body are read like headers, where the profile says so", () => {
  const limitHeaders = { remaining: ["x-left", "body:quota.left"], limit: "body:quota.of", windowMs: "1h", remainingDay: [] };
  const profile = resolveProfile({ extends: "set-b", limitHeaders });
  const posts = { posts: [], quota: { left: 7, of: "40" } };
  expect(read("posts.list", answer(200, posts), profile)).toMatchObject({ limits: { remaining: 7, limit: 40, windowMs: 3_600_000 } });
  expect(read("posts.list", answer(200, { posts: [], quota: "none" }), profile)).not.toHaveProperty("limits");
  expect(() => resolveProfile({ extends: "set-b", limitHeaders: { remaining: "body:quota..left" } })).toThrow("the name of a header");
});

test("a 5xx passes on how long the network asked to be left alone", () => {
  expect(read("posts.list", answer(503, "", { "retry-after": "20" }))).toMatchObject({ class: "unknown", retryAfterMs: 20_000 });
});

test("whatever comes, reading it never throws, and only a 2xx is ever confirmed", () => {
  const header = fc.constantFrom(
    "date",
    "retry-after",
    "ratelimit",
    "ratelimit-policy",
    "x-ratelimit-remaining",
    "x-ratelimit-reset",
    "link",
    "content-type",
  );
  const value = fc.oneof(fc.string(), fc.array(fc.string()), fc.integer().map(String), fc.constant('"day";r=1;t=1, <x>; rel="next"'));
  const text = fc.oneof(
    fc.string(),
    fc.json(),
    fc.json().map((json) => json.slice(0, -1)),
    fc.constant("[".repeat(100)),
  );
  const names = [...profileB.operations.values()].filter(({ unsupported }) => unsupported === undefined).map(({ name }) => name);
  fc.assert(
    fc.property(
      fc.constantFrom(...names),
      fc.integer({ min: 200, max: 599 }),
      fc.dictionary(header, value),
      text,
      (name, status, headers, body) => {
        const outcome = read(name, { kind: "answer", status, headers, text: body, elapsedMs: 1 });
        expect(outcome.class !== "confirmed" || (status >= 200 && status < 300 && status !== 206)).toBe(true);
        expect(outcome.class !== "refused" || status < 500).toBe(true);
        const waits = outcome.class === "limited" || outcome.class === "unknown" ? (outcome.retryAfterMs ?? 0) : 0;
        expect(Number.isFinite(waits) && waits >= 0).toBe(true);
      },
    ),
    { numRuns: 3_000 },
  );
});

describe("a list with further pages that shows its oldest items first", () => {
  const day = (n: number) => ({ id: `p${n}`, created_at: new Date(NOW + n * 86_400_000).toISOString() });
  const drift = (days: readonly number[], more: object = { next_cursor: "c" }) => {
    const operation = profileB.operations.get("posts.list");
    if (operation === undefined) throw new Error("no posts.list");
    const wire = answer(200, { posts: days.map(day), ...more });
    return outcomeReader(
      profileB,
      operation,
      virtualClock(NOW),
    )(wire, { operation: "posts.list", input: {} }).drift.map(({ kind }) => kind);
  };

  test("is told of, since what is new is on pages that no look comes to", () => {
    expect(drift([1, 2, 2, 3, 4])).toEqual(["oldest-first"]);
  });

  test("and one without further pages is not", () => expect(drift([1, 2, 3, 4, 5], {})).toEqual([]));
});

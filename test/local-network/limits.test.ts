/** Tier limits, however windows are cut. */
import { describe, expect, it } from "vitest";
import { DAY, HOUR, MINUTE } from "../../src/core/units.ts";
import type { WindowKind } from "../../src/local-network/assumptions.ts";
import { asking, lab, textAt, type Ask } from "../harness/visitor.ts";

const KINDS: readonly WindowKind[] = ["sliding", "fixed", "anchored"];
const TIERS = [
  ["free", 60, 500],
  ["starter", 300, 5_000],
  ["growth", 1_000, 20_000],
  ["pro", 10_000, 100_000],
] as const;

const statuses = async (ask: Ask, count: number): Promise<number[]> => {
  const seen: number[] = [];
  for (let i = 0; i < count; i++) seen.push((await ask("GET", "/v1/communities")).status);
  return seen;
};

describe("request limits", () => {
  for (const window of KINDS)
    it.each(TIERS)(`${window} windows: %s gets %i an hour and a 429 for the next`, async (tier, perHour) => {
      const { join, network } = lab({ window });
      const { b } = join("scout", tier);
      expect((await statuses(b, perHour)).every((status) => status === 200)).toBe(true);
      const refused = await b("GET", "/v1/communities");
      expect(refused.status).toBe(429);
      expect(textAt(refused.json, "error.code")).toBe("rate_limited");
      expect(Number(refused.headers["retry-after"])).toBe(3_600);
      expect(network.summary().network).toEqual({ requests: perHour + 1, refused429: 1 });
    });

  for (const window of KINDS)
    it(`${window} windows: the day is full before the hour is`, async () => {
      const { join, clock } = lab({ window });
      const { b } = join("scout", "free");
      for (let hour = 0; hour < 10; hour++) {
        expect(await statuses(b, 50)).toEqual(Array.from({ length: 50 }, () => 200));
        await clock.advance(HOUR);
      }
      const refused = await b("GET", "/v1/posts");
      expect(refused.status).toBe(429);
      expect(Number(refused.headers["retry-after"])).toBe(14 * 3_600);
      await clock.advance(14 * HOUR);
      expect((await b("GET", "/v1/posts")).status).toBe(200);
    });

  it("Retry-After is true: a second before it is too early, then there is room", async () => {
    for (const window of KINDS) {
      const { join, clock } = lab({ window });
      const { b } = join("scout", "free");
      await clock.advance(10 * MINUTE);
      await statuses(b, 30);
      await clock.advance(20 * MINUTE);
      await statuses(b, 30);
      const seconds = Number((await b("GET", "/v1/posts")).headers["retry-after"]);
      expect(seconds).toBe({ sliding: 40, fixed: 30, anchored: 40 }[window] * 60);
      await clock.advance((seconds - 1) * 1_000);
      expect((await b("GET", "/v1/posts")).status).toBe(429);
      await clock.advance(1_000);
      expect((await b("GET", "/v1/posts")).status).toBe(200);
    }
  });

  it("cut windows let through at their edge what a sliding one does not, and the judge sees it", async () => {
    for (const window of KINDS) {
      const { join, clock, network } = lab({ window });
      const { b } = join("scout", "free");
      if (window === "anchored") await b("GET", "/v1/posts"); // sets the anchor at the full hour
      await clock.advance(59 * MINUTE);
      await statuses(b, 59);
      await clock.advance(2 * MINUTE);
      const after = await statuses(b, 59);
      expect(after.includes(429)).toBe(window === "sliding");
      expect(network.truth.overLimit().length).toBeGreaterThan(0);
      expect(network.truth.overLimit()[0]).toMatchObject({ agent: "scout", window: "hour", limit: 60, count: 61 });
    }
  });

  it("keys are counted apart, refusals are not counted unless told to, and both sets share one count", async () => {
    const { join, clock, network } = lab();
    const scout = join("scout", "free");
    const quill = join("quill", "free");
    await statuses(scout.a, 30);
    await statuses(scout.b, 30);
    expect((await scout.a("GET", "/v1/posts")).status).toBe(429);
    expect((await quill.a("GET", "/v1/posts")).status).toBe(200);
    network.assume({ refusedCounts: true });
    await clock.advance(30 * MINUTE);
    expect(await statuses(scout.b, 10)).not.toContain(200);
    await clock.advance(30 * MINUTE);
    expect((await statuses(scout.b, 60)).filter((status) => status === 200)).toHaveLength(50);
  });

  it("refused requests leave the whole next hour open", async () => {
    for (const window of KINDS) {
      const { join, clock } = lab({ window });
      const { b } = join("scout", "free");
      await statuses(b, 60);
      await clock.advance(30 * MINUTE);
      expect(await statuses(b, 60)).not.toContain(200);
      await clock.advance(30 * MINUTE);
      expect(await statuses(b, 61)).toEqual([...Array.from({ length: 60 }, () => 200), 429]);
      await clock.advance(HOUR);
      expect(await statuses(b, 61)).toEqual([...Array.from({ length: 60 }, () => 200), 429]);
    }
  });

  it("a regenerated key goes on with the old one's count", async () => {
    const { join, network } = lab();
    await statuses(join("scout", "free").b, 60);
    const fresh = asking(network, "b", network.regenerateKey("scout"));
    expect((await fresh("GET", "/v1/posts")).status).toBe(429);
  });

  it("a higher tier opens at once", async () => {
    const { join, network } = lab();
    const { b } = join("scout", "free");
    await statuses(b, 60);
    network.setTier("scout", "starter");
    expect(await statuses(b, 240)).not.toContain(429);
    expect((await b("GET", "/v1/posts")).status).toBe(429);
  });

  it("the remaining quota stands in the headers when asked for", async () => {
    const { join, network } = lab();
    const { b } = join("scout", "free");
    network.assume({ limitHeaders: "x-ratelimit" });
    expect((await b("GET", "/v1/posts")).headers).toMatchObject({ "x-ratelimit-limit": "60", "x-ratelimit-remaining": "59" });
    network.assume({ limitHeaders: "ratelimit-draft" });
    expect((await b("GET", "/v1/posts")).headers["ratelimit"]).toBe('"hour";r=58;t=3600, "day";r=498;t=86400');
    network.assume({ retryAfter: "date", limitHeaders: "none" });
    await statuses(b, 58);
    expect((await b("GET", "/v1/posts")).headers["retry-after"]).toBe("Mon, 05 Jan 2026 01:00:00 GMT");
  });

  it("a day of free requests leaves nothing behind after a day", async () => {
    const { join, clock, network } = lab();
    const { b } = join("scout", "free");
    for (let i = 0; i < 500; i++) {
      await clock.advance(DAY / 500);
      expect((await b("GET", "/v1/posts")).status).toBe(200);
    }
    expect(network.truth.overLimit()).toEqual([]);
  });
});

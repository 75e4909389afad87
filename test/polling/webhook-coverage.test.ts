/** How far webhooks are trusted: what only polls find counts against them, what deliveries tell of counts for them. */
import { describe, expect, it } from "vitest";
import { asEventId, asHandle } from "../../src/core/ids.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import type { NewEvent } from "../../src/contract/event.ts";
import { MINUTE } from "../../src/core/units.ts";
import { createWebhookCoverage } from "../../src/polling/webhook-coverage.ts";

const scout = asHandle("scout");
const event = (kind: string, id: string, thread?: string): NewEvent => ({
  specialist: scout,
  id: asEventId(`${kind}:${id}`),
  kind,
  payload: {},
  via: "poll",
  hops: 0,
  ...(thread === undefined ? {} : { thread }),
});

function watching() {
  const clock = virtualClock();
  const health = createWebhookCoverage(clock);
  const told = (n: number): void => {
    for (let i = 0; i < n; i++) health.reported(scout, "post.created", [{ news: `post.created:told_${i}` }]);
  };
  return { clock, health, told };
}

describe("webhooks are", () => {
  it("unknown until one has come, whatever polls find", () => {
    const { health } = watching();
    health.found(scout, [event("post.created", "1")]);
    expect(health.of(scout)).toMatchObject({ state: "unknown", missed: 0 });
  });

  it("healthy once they have told of a few things and missed nothing", () => {
    const { health, told } = watching();
    told(2);
    expect(health.of(scout).state).toBe("doubtful");
    told(1);
    expect(health.of(scout)).toMatchObject({ state: "healthy", reported: 3 });
  });

  it("unhealthy after three misses in a row, and trusted again when they tell of things again", async () => {
    const { health, told, clock } = watching();
    told(3);
    health.found(
      scout,
      ["a", "b", "c"].map((id) => event("post.created", id)),
    );
    await clock.advance(119_000);
    expect(health.of(scout).state).toBe("healthy");
    await clock.advance(2_000);
    expect(health.of(scout)).toMatchObject({ state: "unhealthy", missed: 3, missedInRow: 3 });
    told(1);
    expect(health.of(scout)).toMatchObject({ state: "healthy", missed: 3, missedInRow: 0 });
  });

  it("not blamed for being later than a poll, or for what the poll found after them", async () => {
    const { health, told, clock } = watching();
    told(3);
    health.found(scout, [event("post.created", "late")]);
    await clock.advance(60_000);
    health.reported(scout, "post.created", [{ news: "post.created:late" }]);
    health.found(scout, [event("post.created", "told_1")]);
    await clock.advance(300_000);
    expect(health.of(scout)).toMatchObject({ state: "healthy", missed: 0 });
  });

  it("not blamed for kinds they never tell of, nor for replies to others", async () => {
    const { health, told, clock } = watching();
    told(3);
    health.reported(scout, "reply.created", [{ news: "post.created:1" }]);
    health.found(scout, [event("job.listed", "1"), event("reply.created", "2")]);
    await clock.advance(300_000);
    expect(health.of(scout)).toMatchObject({ state: "healthy", missed: 0 });
  });

  it("credited for a job whose standing a poll then read", async () => {
    const { health, clock } = watching();
    health.reported(scout, "job.assigned", [{ news: "job:4" }]);
    health.found(scout, [event("job.assigned", "4#1", "job:4")]);
    await clock.advance(300_000);
    expect(health.of(scout).missed).toBe(0);
    health.found(scout, [event("job.assigned", "5#1", "job:5")]);
    await clock.advance(300_000);
    expect(health.of(scout).missed).toBe(1);
  });

  it("credited for a post they named, whatever it turned out to be to us", async () => {
    const { health, told, clock } = watching();
    told(3);
    health.reported(scout, "mention.created", [{ news: "post.created:other" }]);
    health.reported(scout, "reply.created", [{ news: "post.created:9" }]);
    health.found(scout, [event("mention.created", "9")]);
    await clock.advance(300_000);
    expect(health.of(scout).missed).toBe(0);
  });

  it("credited once for each that did not say what it was about, before a poll or after it, and for an hour", async () => {
    const { health, told, clock } = watching();
    told(3);
    const like = event("post.liked", "7#3", "7");
    health.reported(scout, "post.created", [{ oneOf: "post.created" }]);
    health.reported(scout, "post.liked", [{ oneOf: "post.liked:7" }]);
    health.found(scout, [event("post.created", "a"), event("post.created", "b"), like, event("post.liked", "8#1", "8")]);
    health.reported(scout, "post.created", [{ oneOf: "post.created" }]);
    await clock.advance(300_000);
    expect(health.of(scout).missed).toBe(1); // the like of 8
    health.reported(scout, "post.created", [{ oneOf: "post.created" }]);
    await clock.advance(61 * MINUTE);
    health.found(scout, [event("post.created", "c")]);
    await clock.advance(300_000);
    expect(health.of(scout).missed).toBe(2);
  });

  it("relied on only for kinds they have told of", () => {
    const { health, told } = watching();
    expect(health.covers(scout, "post.created")).toBe(false);
    told(3);
    expect(health.covers(scout, "post.created")).toBe(true);
    expect(health.covers(scout, "job.listed")).toBe(false);
  });

  it("remembered within bounds", async () => {
    const { health, told, clock } = watching();
    told(5_000);
    health.found(
      scout,
      Array.from({ length: 5_000 }, (_, i) => event("post.created", `x${i}`)),
    );
    await clock.advance(300_000);
    expect(health.of(scout).missed).toBeLessThanOrEqual(1_000);
  });
});

describe("over a restart", () => {
  const kept = { reported: 7, missed: 2, missedInRow: 0, lastReportedAt: 5, kinds: ["post.created"] };

  it("they are what they were, and what polls find at first, of the time we were away, is not held against them", async () => {
    const { clock, health } = watching();
    health.keepOn(new Map([[scout, kept]]), () => undefined);
    expect(health.of(scout)).toEqual({ state: "healthy", reported: 7, missed: 2, missedInRow: 0, lastReportedAt: 5 });
    expect([health.covers(scout, "post.created"), health.covers(scout, "post.liked")]).toEqual([true, false]);
    health.found(scout, [event("post.created", "1"), event("post.created", "2")]);
    await clock.advance(10 * MINUTE);
    expect(health.of(scout).missed).toBe(2);
    health.found(scout, [event("post.created", "3")]);
    await clock.advance(3 * MINUTE);
    expect(health.of(scout).missed).toBe(3);
  });

  it("is kept at once what changes how they are trusted, the counts each ten minutes and at the end", async () => {
    const { clock, health, told } = watching();
    const saved: number[] = [];
    health.keepOn(new Map(), (_, one) => void saved.push(one.reported));
    told(10);
    expect(saved).toEqual([1, 3]); // a kind more, and then healthy
    await clock.advance(10 * MINUTE);
    told(2);
    expect(saved).toEqual([1, 3, 11]);
    health.flush();
    expect(saved).toEqual([1, 3, 11, 12]);
  });
});

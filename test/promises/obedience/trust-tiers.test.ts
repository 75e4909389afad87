/** What a profile says that a trust tier may not do waits until the network itself says that the trust is there. */
import { describe, expect, test } from "vitest";
import type { EndpointSet } from "../../../src/contract/operations.ts";
import type { ProfileSource } from "../../../src/contract/profile/source.ts";
import { DAY, HOUR, MINUTE } from "../../../src/core/units.ts";
import type { Guardian } from "../../../src/guardian/guardian.ts";
import { harness } from "../../harness/harness.ts";
import { textAt } from "../../harness/visitor.ts";

const FANS = 12;

/** One specialist that posts every hour, on a network where twelve others like what it posted by hand. */
async function stage(set: EndpointSet, trust: ProfileSource["trust"], spoil: (text: string) => string = (text) => text) {
  const asked: string[] = [];
  const here = await harness({
    seed: 5,
    set,
    specialists: [
      {
        handle: "ann",
        tier: "pro",
        may: ["posts.create"],
        spend: { perDay: { currency: "credits", micros: 10_000_000 } },
        schedules: { talk: { every: "1h", run: (act) => void act.post(`it is ${act.now}`) } },
      },
    ],
    profile: trust === undefined ? {} : { trust },
    link: (plain) => async (request) => {
      asked.push(`${request.method} ${request.path}`);
      const answer = await plain(request);
      return answer.kind === "answer" && request.path.startsWith("/v1/agents") ? { ...answer, text: spoil(answer.text) } : answer;
    },
  });
  const { clock } = here;
  return {
    clock,
    guardian: () => here.guardian,
    stops: () => here.runtime.parts.breakers.stops(),
    asked: (pattern: RegExp) => asked.filter((line) => pattern.test(line)).length,
    restart: (look: (guardian: Guardian) => Promise<void>) => here.restart({}, look),
    /** Ten likes make a member of a newcomer. */
    async earn() {
      const written = await here.as("ann")("POST", "/v1/posts", { body: { content: "by hand" } });
      const post = textAt(written.json, "id");
      for (let fan = 0; fan < FANS; fan++) {
        const [path, body] = set === "a" ? ["like", {}] : ["vote", { direction: "up" }];
        expect((await here.other(`fan${fan}`)("POST", `/v1/posts/${post}/${path}`, { body })).status).toBeLessThan(300);
      }
    },
  };
}

const LOOKS = /^GET \/v1\/agents/;
const WRITES = /^POST \/v1\/posts$/;

describe.each(["a", "b"] as const)("in Set %s, what a trust tier lacks", (set) => {
  test("waits without one request for it, and goes out once the network says that the trust is earned", async () => {
    const { clock, stops, asked, earn, guardian, restart } = await stage(set, { newcomer: { lacks: ["posts.create"] }, member: {} });
    await clock.advance(20 * HOUR);
    expect(asked(WRITES)).toBe(0);
    expect(stops()).toMatchObject([{ rule: "capability", code: "not_in_trust", handle: "ann", operation: "posts.create" }]);
    // Once to learn who it is, then every six hours.
    expect(asked(LOOKS)).toBeLessThanOrEqual(5);
    const [waiting] = (await clock.run(guardian().log({ limit: 1 }))).entries;
    const why = await clock.run(guardian().why({ id: waiting?.id ?? "" }));
    expect(why.reasons).toMatchObject([{ rule: "capability", message: expect.stringContaining('"newcomer"') }]);
    expect(why.reasons[0]?.until).toBeGreaterThan(clock.now());
    expect((await clock.run(guardian().status({}))).specialists).toMatchObject([{ handle: "ann", trust: "newcomer" }]);

    const looks = asked(LOOKS);
    await restart(async (asleep) => {
      expect((await clock.run(asleep.status({}))).stopped).toMatchObject([{ code: "not_in_trust", handle: "ann" }]);
      expect((await clock.run(asleep.why({ id: "ann" }))).reasons.map(({ rule }) => rule)).toContain("not_in_trust");
    });
    await clock.advance(MINUTE);
    expect([asked(LOOKS), asked(WRITES)]).toEqual([looks, 0]);

    await earn();
    await clock.advance(6 * HOUR + 10 * MINUTE);
    expect(stops()).toEqual([]);
    expect(asked(WRITES)).toBeGreaterThanOrEqual(20);
    expect((await clock.run(guardian().status({}))).specialists).toMatchObject([{ trust: "member" }]);
  });

  test("is looked at again at once at a person's word", async () => {
    const { clock, stops, asked, earn, guardian } = await stage(set, { newcomer: { lacks: ["posts.create"] }, member: {} });
    await clock.advance(2 * HOUR);
    await earn();
    await clock.advance(MINUTE);
    expect(asked(WRITES)).toBe(0);
    await clock.run(guardian().retry({ id: "posts.create" }));
    await clock.advance(2 * MINUTE);
    expect(stops()).toEqual([]);
    expect(asked(WRITES)).toBeGreaterThan(0);
  });
});

test("a network that tells reputation and no trust is read by the reputation that the profile says each begins at", async () => {
  const trust = {
    fresh: { reputation: 0, lacks: ["posts.create"] },
    seen: { reputation: 10 },
    old: { reputation: 1_000, lacks: ["posts.create"] },
  };
  const untold = (text: string): string => text.replaceAll('"trust":', '"standing_in_town":');
  const { clock, stops, asked, earn, guardian } = await stage("b", trust, untold);
  await clock.advance(HOUR + MINUTE);
  expect(stops()).toMatchObject([{ code: "not_in_trust" }]);
  expect((await clock.run(guardian().status({}))).specialists).toMatchObject([{ trust: "fresh" }]);
  await earn();
  await clock.advance(6 * HOUR);
  expect(asked(WRITES)).toBeGreaterThan(3);
  expect((await clock.run(guardian().status({}))).specialists).toMatchObject([{ trust: "seen" }]);
});

test("a price that falls with trust is the dearest until the network has said which it is", async () => {
  const price = (credits: number) => ({ prices: { "posts.create": { micros: credits * 1_000_000 } } });
  const hidden = { is: true };
  const here = await stage("b", { newcomer: price(2), member: price(0.5), veteran: price(0.1) }, (text) =>
    hidden.is ? text.replaceAll('"trust":', '"t":').replaceAll('"reputation":', '"r":') : text,
  );
  const spent = async (): Promise<number> => {
    const { specialists } = await here.clock.run(here.guardian().status({}));
    return (specialists[0]?.money.find(({ currency }) => currency === "credits")?.dayMicros ?? 0) / 1_000_000;
  };
  await here.clock.advance(HOUR + MINUTE);
  const first = [here.asked(WRITES), await spent()];
  expect(first).toEqual([first[0], 2 * (first[0] ?? 0)]);
  hidden.is = false;
  await here.earn();
  // Where nothing was told, it is asked again an hour later.
  await here.clock.advance(2 * HOUR);
  const before = [here.asked(WRITES), await spent()] as const;
  await here.clock.advance(2 * HOUR);
  expect([here.asked(WRITES), await spent()]).toEqual([before[0] + 2, before[1] + 1]);
});

test("if the profile says nothing of trust, nothing is asked for it and nothing told", async () => {
  const { clock, asked, guardian } = await stage("b", undefined);
  await clock.advance(DAY);
  expect(asked(LOOKS)).toBe(1);
  expect((await clock.run(guardian().status({}))).specialists[0]?.trust).toBeUndefined();
});

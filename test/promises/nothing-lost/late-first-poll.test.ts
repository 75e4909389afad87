/** A watch begins when it is first tried: what happens before it succeeds is not passed over, and neither is what follows an empty list. What is passed over is told. */
import { expect, test } from "vitest";
import type { Announcements } from "../../../src/core/events.ts";
import { HOUR, MINUTE, SECOND } from "../../../src/core/units.ts";
import { harness } from "../../harness/harness.ts";
import { showStatus } from "../../../src/guardian/status.ts";

/** More than a page. */
const POSTS = 50;
/** Four pages. */
const READ_BACK = 80;
const PASSED_OVER = 30;

/** A reader of the feed whose network can be out of reach. */
async function reading() {
  let reachable = true;
  const seen: (string | undefined)[] = [];
  const gaps: Announcements["gap"][] = [];
  const { clock, runtime, store, other } = await harness({
    specialists: [{ handle: "reader", tier: "starter", watch: { feed: true }, on: { "post.created": (post) => seen.push(post.content) } }],
    link: (plain) => async (request) => (reachable ? plain(request) : { kind: "never-left", reason: "ECONNREFUSED" }),
    start: false,
  });
  runtime.announcer.on("gap", (gap) => void gaps.push(gap));
  return {
    clock,
    runtime,
    status: () => showStatus({ store, clock }),
    seen,
    gaps,
    reach: (now: boolean) => void (reachable = now),
    async post(count: number) {
      for (let number = 0; number < count; number++) {
        await other("talker")("POST", "/v1/posts", { body: { content: `news ${number}` } });
        await clock.advance(SECOND);
      }
    },
  };
}

test("a first look that comes late goes back to when it was first tried", async () => {
  const { clock, runtime, seen, gaps, reach, post } = await reading();
  await post(1);
  reach(false);
  await clock.run(runtime.start());
  await clock.advance(MINUTE);
  await post(POSTS);
  reach(true);
  await clock.advance(HOUR);
  expect(seen).toHaveLength(POSTS);
  expect(gaps).toEqual([]);
});

test("items that follow an empty list are read whole, and a single page of them is no gap", async () => {
  const { clock, runtime, seen, gaps, reach, post } = await reading();
  await clock.run(runtime.start());
  await clock.advance(MINUTE);
  reach(false);
  await post(POSTS);
  reach(true);
  await clock.advance(HOUR);
  expect(seen).toHaveLength(POSTS);
  expect(gaps).toEqual([]);

  const few = await reading();
  await few.clock.run(few.runtime.start());
  await few.clock.advance(MINUTE);
  await few.post(1);
  await few.clock.advance(HOUR);
  expect(few.seen).toEqual(["news 0"]);
  expect(few.gaps).toEqual([]);
});

test("items further back than is read are skipped, and reported by the ids and times they lie between", async () => {
  const { clock, runtime, seen, gaps, status, reach, post } = await reading();
  await clock.run(runtime.start());
  await post(1);
  await clock.advance(HOUR);
  reach(false);
  const away = clock.now();
  await post(PASSED_OVER + READ_BACK);
  reach(true);
  await clock.advance(HOUR);
  const told = [{ after: "post_1", before: `post_${PASSED_OVER + 2}`, until: away + PASSED_OVER * SECOND }];
  expect(gaps).toMatchObject([{ ...told[0], handle: "reader", source: "feed" }]);
  expect(gaps[0]?.since).toBeLessThan(away);
  expect(seen).toHaveLength(1 + READ_BACK);

  await post(1); // later looks, with nothing missing between them, do not take it back
  await clock.advance(HOUR);
  const shown = async () => (await status()).specialists.flatMap(({ sources }) => sources.flatMap((source) => source.gaps));
  expect(seen).toHaveLength(2 + READ_BACK);
  expect(await shown()).toMatchObject(told);
});

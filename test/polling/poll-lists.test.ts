import { expect, onTestFinished, test } from "vitest";
import type { Transport } from "../../src/client/transport.ts";
import { asHandle } from "../../src/core/ids.ts";
import { seededRandom } from "../../src/core/random.ts";
import { HOUR, MINUTE } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { createLocalNetwork } from "../../src/local-network/local-network.ts";
import { readListState, reportedReadFailure, type ListState } from "../../src/polling/list-state.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { plainLink } from "../harness/plain-transport.ts";
import { virtualRuntime } from "../harness/virtual-runtime.ts";
import { asking } from "../harness/visitor.ts";

/** One specialist that reads the feed of a network that somebody stands in front of. */
async function reader() {
  const clock = virtualClock(Date.UTC(2026, 10, 22));
  const random = seededRandom(3);
  const network = createLocalNetwork({ clock, random, residents: false });
  const store = openSqliteStore({ path: ":memory:", clock, random });
  const { key } = network.provision({ handle: "scout", tier: "pro", set: "b" });
  const link = plainLink(network, "b");
  const refuses = { first: false, further: false };
  const transport: Transport = async (request) => {
    const isList = request.method === "GET" && /\/posts(\?|$)/.test(request.path);
    const isFurther = request.path.includes("cursor=");
    if (isList && (isFurther ? refuses.further : refuses.first)) return { ...(await link(request)), status: 503, text: "{}" };
    return link(request);
  };
  const handled: string[] = [];
  const runtime = virtualRuntime({
    specialists: [
      createSpecialist({
        handle: "scout",
        tier: "pro",
        id: "agt_mine",
        watch: { feed: { from: "start" } },
        on: { "post.created": (post) => void handled.push(post.id) },
      }),
    ],
    store,
    transport,
    keyOf: () => key,
    clock,
    random,
  });
  const quill = asking(network, "b", network.provision({ handle: "quill", tier: "pro", set: "b" }).key);
  onTestFinished(async () => {
    await clock.run(runtime.stop());
    await clock.run(store.close());
    await network.stop();
  });
  network.start();
  await clock.run(runtime.start());
  return {
    clock,
    handled,
    refuses,
    async post(count: number): Promise<void> {
      for (let n = 0; n < count; n++) await quill("POST", "/v1/posts", { body: { content: `news ${n}` } });
    },
    async feed(): Promise<ListState> {
      const rows = await clock.run(store.sources(asHandle("scout")));
      return readListState(rows.find(({ name }) => name === "feed")?.cursor, clock.now());
    },
  };
}

test("a list is no longer reported as unreadable once its first page is read, whatever becomes of the next", async () => {
  const { clock, handled, refuses, post, feed } = await reader();
  await post(1);
  await clock.advance(HOUR);
  expect(handled).toHaveLength(1);
  refuses.first = true;
  await clock.advance(HOUR);
  expect(reportedReadFailure(await feed())?.times).toBeGreaterThan(1);
  await post(50);
  refuses.first = false;
  refuses.further = true;
  await clock.runUntil(() => handled.length > 1, HOUR);
  await clock.advance(MINUTE);
  expect((await feed()).failedPages).toBeGreaterThan(0);
  expect(reportedReadFailure(await feed())).toBeUndefined();
  refuses.further = false;
  await clock.advance(HOUR);
  expect(handled).toHaveLength(51);
  expect(await feed()).toMatchObject({ failedPages: 0, gaps: [], failure: undefined });
});

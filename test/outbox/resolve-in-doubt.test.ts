/** Actions whose answer was lost: the network is read back, once for all of them, and nothing is sent again on a guess. */
import { describe, expect, test } from "vitest";
import type { WireAnswer } from "../../src/client/transport.ts";
import { shippedProfile } from "../../src/contract/profile/profile.ts";
import { HOUR, MINUTE, SECOND } from "../../src/core/units.ts";
import { harness } from "../harness/harness.ts";

const QUIET_MS = shippedProfile("b").quietMs;
const LOST: WireAnswer = { kind: "unknown", reason: "ECONNRESET" };
type Loss = "answer" | "request" | undefined;

/** A specialist that posts every two hours; `lose` says what is lost of each post, counted from 1. */
async function posting(
  lose: (post: number) => Loss,
  { atOnce = 1, shows = (): boolean => true, elsewhere = (): number => Number.NEGATIVE_INFINITY } = {},
) {
  let sent = 0;
  const lists: number[] = [];
  const here = await harness({
    specialists: [
      {
        handle: "scout",
        id: "agt_mine",
        tier: "pro",
        watch: { threads: false, mentions: false },
        may: ["posts.create"],
        schedules: {
          talk: {
            every: "2h",
            run(act) {
              for (let i = 0; i < atOnce; i++) act.post(`good day ${i}, it is ${act.now}`);
            },
          },
        },
      },
    ],
    sentElsewhereUntil: () => elsewhere(),
    link:
      (plain, { clock }) =>
      async (request) => {
        if (request.method === "GET") {
          lists.push(clock.now());
          return shows() ? plain(request) : { kind: "answer", status: 503, headers: {}, text: "{}", elapsedMs: 1 };
        }
        const loss = lose(++sent);
        if (loss !== "request") {
          const answer = await plain(request);
          return loss === "answer" ? LOST : answer;
        }
        return LOST;
      },
  });
  const { clock, network, restart } = here;
  // The first ones are sent within two hours.
  if (!(await clock.runUntil(() => sent >= atOnce, 3 * HOUR))) throw new Error("expected a post");
  return {
    clock,
    lists,
    restart,
    /** What the outbox keeps in memory. */
    outbox() {
      const { members, parts } = { members: here.runtime.members(), parts: here.runtime.parts.outbox };
      return members.flatMap((member) => [parts.inFlight.size || undefined, parts.doubts.find(member), parts.readings.find(member)]);
    },
    sent: () => sent,
    effects: () => network.truth.effects({ operation: "posts.create" }).length,
    states: async () =>
      (await clock.run(here.store.intents({ limit: 100 }))).map(({ state, code }) => (code === undefined ? state : `${state} ${code}`)),
  };
}

test("an effect that the network shows is confirmed by one read within seconds, and the action is not sent again", async () => {
  const { clock, sent, effects, lists, states } = await posting(() => "answer");
  await clock.advance(10 * SECOND);
  expect(await states()).toEqual(["confirmed"]);
  expect([sent(), effects(), lists.length]).toEqual([1, 1, 1]);
});

describe("an effect that the network does not show", () => {
  test("is not sent again while a process that is stopped may still send it, and then only after a quiet period of its own", async () => {
    let until = Number.POSITIVE_INFINITY;
    const { clock, lists, sent, states } = await posting((post) => (post === 2 ? "request" : undefined), { elsewhere: () => until });
    expect(await clock.runUntil(() => sent() === 2, 3 * HOUR)).toBe(true);
    await clock.advance(QUIET_MS);
    const before = lists.length;
    await clock.advance(HOUR);
    expect(sent()).toBe(2);
    expect(await states()).toContain("in_doubt process_silent");
    expect(lists.length - before).toBeLessThan(40); // and not one each five seconds
    until = clock.monotonic();
    await clock.advance(QUIET_MS - SECOND);
    expect(sent()).toBe(2);
    await clock.advance(MINUTE);
    expect(sent()).toBe(3);
  });

  test("is sent again after the quiet period, where an earlier effect was found by reading back", async () => {
    const { clock, sent, effects, states } = await posting((post) => (post === 2 ? "request" : undefined));
    expect(await clock.runUntil(() => sent() === 2, 3 * HOUR)).toBe(true);
    await clock.advance(QUIET_MS - SECOND);
    expect(sent()).toBe(2);
    expect((await states())[0]).toMatch(/^in_doubt/);
    await clock.advance(3 * QUIET_MS);
    expect([sent(), effects()]).toEqual([3, 2]);
    expect(await states()).toEqual(["confirmed", "confirmed"]);
  });

  test("waits for a person, where nothing proves that reading back finds what there is", async () => {
    const { clock, sent, states } = await posting(() => "request");
    await clock.advance(HOUR);
    expect(sent()).toBe(1);
    expect(await states()).toEqual(["parked absent_unproven"]);
  });
});

test("a network that cannot be read settles nothing, and is read ever more rarely", async () => {
  const { clock, sent, states, lists } = await posting(() => "answer", { shows: () => false });
  await clock.advance(HOUR);
  const [first, later] = [lists.length, lists.filter((at) => at > clock.now() - 30 * MINUTE).length];
  expect(await states()).toEqual(["in_doubt read_back_failed"]);
  expect(sent()).toBe(1);
  expect(later).toBeLessThan(first / 2);
});

test("several doubts that are due together are settled by one reading of their list, and then nothing of them is kept in memory", async () => {
  const { clock, states, lists, restart, outbox } = await posting(() => "answer", { atOnce: 4 });
  await restart({}, () => clock.advance(MINUTE));
  await clock.advance(10 * SECOND);
  expect(await states()).toEqual(["confirmed", "confirmed", "confirmed", "confirmed"]);
  expect(lists).toHaveLength(1);
  expect(outbox()).toEqual([undefined, undefined, undefined]);
});

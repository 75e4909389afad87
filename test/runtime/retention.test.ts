/** What is over goes when the Guardian's retention says so, and what still decides something stays. Real rows, no network. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { loadConfig } from "../../src/config/config.ts";
import { resolveProfile } from "../../src/contract/profile/profile.ts";
import { systemClock } from "../../src/core/clock.ts";
import { asEventId, asHandle, asIntentId } from "../../src/core/ids.ts";
import { silentLogger } from "../../src/core/log.ts";
import { systemRandom } from "../../src/core/random.ts";
import { Scrubber } from "../../src/core/scrubber.ts";
import { DAY, HOUR, SECOND } from "../../src/core/units.ts";
import { launch, planLaunch } from "../../src/runtime/launch.ts";
import { createMember, type Member } from "../../src/gateway/member.ts";
import { DEFAULT_RETENTION, keepPruned, neededRetention } from "../../src/runtime/retention.ts";
import { limitsOf, operationRules } from "../../src/gateway/permissions.ts";
import { createSpecialist, DEFAULT_BRAKES, type Specialist } from "../../src/specialist/specialist.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";
import { desk } from "../harness/guardian-over-store.ts";

const SCOUT = asHandle("scout");
const clock = systemClock();
const profile = resolveProfile({ extends: "set-b" });

/** An event handled at a time, with one intent that was refused then and one nobody has settled. */
async function handled(store: Store, name: string, at: number): Promise<void> {
  const event = { specialist: SCOUT, id: asEventId(name), kind: "post.created", payload: {}, via: "poll", hops: 0 } as const;
  const intent = (id: string, ordinal: number) =>
    ({
      id: asIntentId(id),
      ordinal,
      operation: "posts.create",
      input: {},
      effect: "at-most-once",
      lane: "act",
      conflictKey: id,
      hops: 0,
    }) as const;
  const intents = [intent(`${name}-refused`, 0), intent(`${name}-open`, 1)];
  await store.recordRun(event, {
    specialist: SCOUT,
    now: at,
    intents,
    caps: DEFAULT_BRAKES,
    brake: () => undefined,
    report: () => undefined,
  });
  const row = await store.findIntent(`${name}-refused`);
  await store.moveIntent({ seq: row?.seq ?? 0, by: "outbox", change: { state: "refused", code: "x:test", message: "no" }, now: at });
}

async function kept(store: Store, name: string): Promise<readonly string[]> {
  const events = await store.findEvents(asEventId(name), 5);
  const intents = await Promise.all([`${name}-refused`, `${name}-open`].map((id) => store.findIntent(id)));
  return [...events.map(() => "event"), ...intents.flatMap((one) => (one === undefined ? [] : [one.state]))];
}

function memberOf(specialist: Specialist): Member {
  return createMember(specialist, operationRules(specialist, profile, clock), limitsOf(specialist.tier, profile), clock.now());
}

test("each kind of row goes after its own time, and what is not settled never does", async () => {
  const store = openSqliteStore({ path: ":memory:", clock, random: systemRandom() });
  onTestFinished(() => store.close());
  const now = clock.now();
  await store.saveAccount(SCOUT, "agent_1", now);
  await handled(store, "young", now - 29 * DAY);
  await handled(store, "middling", now - 31 * DAY);
  await handled(store, "old", now - 91 * DAY);
  await store.prune(now, DEFAULT_RETENTION);
  expect(await kept(store, "young")).toEqual(["event", "refused", "ready"]);
  expect(await kept(store, "middling")).toEqual(["refused", "ready"]);
  expect(await kept(store, "old")).toEqual(["ready"]);
  await store.prune(now, { ...DEFAULT_RETENTION, intentsMs: 30 * DAY });
  expect(await kept(store, "middling")).toEqual(["ready"]);
});

test("a row that still decides something is kept for longer than the Guardian said", () => {
  const short = { eventsMs: 2 * DAY, intentsMs: 2 * DAY, requestsMs: 2 * DAY };
  const usual = memberOf(createSpecialist({ handle: "usual", on: { "post.created": () => undefined } }));
  expect(neededRetention(short, [usual], profile)).toEqual({ eventsMs: 3 * DAY, intentsMs: 3 * DAY, requestsMs: 2 * DAY });
  const archivist = memberOf(
    createSpecialist({ handle: "archivist", watch: { feed: { from: "start", maxAge: "60d" } }, brakes: { sameTextWithin: "30d" } }),
  );
  const strict = resolveProfile({ extends: "set-b", limits: [{ name: "weekly", operations: ["jobs.create"], max: 3, per: "7d" }] });
  expect(neededRetention(short, [usual, archivist], strict)).toEqual({ eventsMs: 62 * DAY, intentsMs: 32 * DAY, requestsMs: 9 * DAY });
  expect(neededRetention(DEFAULT_RETENTION, [usual], profile)).toEqual(DEFAULT_RETENTION);
});

test("facts are rolled up every half minute, once there are enough of them", async () => {
  const { clock: time, store, on } = desk();
  const stopping = new AbortController();
  const keeping = keepPruned({ store, clock: time, profile, members: () => [], retention: DEFAULT_RETENTION }, stopping.signal);
  await time.settle();
  const event = (n: number) =>
    ({ specialist: SCOUT, id: asEventId(`post.created:${n}`), kind: "post.created", payload: {}, via: "poll", hops: 0 }) as const;
  await on(store.putEvents({ events: Array.from({ length: 4_500 }, (_, n) => event(n)) }, time.now()));
  await time.advance(30 * SECOND);
  expect(await on(store.rollUp())).toBe(false); // nearly all are
  expect((await on(store.reads.timeline({ specialist: SCOUT, limit: 1 }))).total).toBe(4_500);
  stopping.abort();
  await on(keeping);
});

test("a backlog goes within seconds, and not within days", async () => {
  const { clock: time, store, on } = desk();
  const old = time.now() - 40 * DAY;
  const event = (n: number) =>
    ({ specialist: SCOUT, id: asEventId(`post.created:${n}`), kind: "post.created", payload: {}, via: "poll", hops: 0 }) as const;
  await on(store.putEvents({ events: Array.from({ length: 5_000 }, (_, n) => event(n)) }, old));
  for (let claimed = store.claimEvents(SCOUT, old, 1_000); claimed.length > 0; claimed = store.claimEvents(SCOUT, old, 1_000))
    for (const { seq } of claimed)
      store.finishRun({
        seq,
        specialist: SCOUT,
        now: old,
        intents: [],
        caps: DEFAULT_BRAKES,
        brake: () => undefined,
        report: () => undefined,
      });
  const stopping = new AbortController();
  const keeping = keepPruned({ store, clock: time, profile, members: () => [], retention: DEFAULT_RETENTION }, stopping.signal);
  await time.advance(10 * SECOND);
  expect((await on(store.reads.timeline({ specialist: SCOUT, limit: 1 }))).total).toBe(0);
  stopping.abort();
  await on(keeping);
});

test("the config file's retention is what a running project keeps", async () => {
  const cwd = mkdtempSync(join(tmpdir(), "retention-"));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  mkdirSync(join(cwd, "agents"));
  writeFileSync(join(cwd, "agents/scout.json"), JSON.stringify({ handle: "scout", id: "agent_1" }));
  writeFileSync(join(cwd, "retinue.config.json"), JSON.stringify({ retention: { events: "5d", intents: "6d" } }));
  const store = join(cwd, "store.sqlite");
  const config = await loadConfig({
    cwd,
    env: { RETINUE_KEY_SCOUT: "sk_live_retention_test", RETINUE_BASE_URL: "http://127.0.0.1:9/v1", RETINUE_STORE: `sqlite:${store}` },
  });
  const before = openSqliteStore({ path: store, clock, random: systemRandom() });
  const now = clock.now();
  await before.saveAccount(SCOUT, "agent_1", now);
  await handled(before, "sixth", now - 5 * DAY - 12 * HOUR);
  await handled(before, "seventh", now - 7 * DAY);
  await before.close();
  const scrubber = new Scrubber();
  const plan = await planLaunch(config, clock);
  const running = await launch(plan, { config, clock, random: systemRandom(), log: silentLogger(), scrubber, passive: true });
  onTestFinished(() => running.stop());
  await running.start();
  await expect.poll(() => kept(running.store, "seventh")).toEqual(["ready"]);
  expect(await kept(running.store, "sixth")).toEqual(["refused", "ready"]);
});

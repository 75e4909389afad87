/** A store of rows that is opened as facts holds what it held, wherever its process ends over it. */
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { eventId } from "../../src/contract/event-id.ts";
import { LANES } from "../../src/contract/operations.ts";
import { systemClock } from "../../src/core/clock.ts";
import { asHandle, asIntentId, asKeyId } from "../../src/core/ids.ts";
import { seededRandom } from "../../src/core/random.ts";
import { HOUR, SECOND } from "../../src/core/units.ts";
import { DEFAULT_FLOORS } from "../../src/limits/lanes.ts";
import type { DraftIntent } from "../../src/specialist/intent-draft.ts";
import { DEFAULT_BRAKES } from "../../src/specialist/specialist.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";

const scout = asHandle("scout");
const key = asKeyId("k1");
const NOW = Date.now();

function opened(path: string, facts: boolean): Store {
  return openSqliteStore({ path, facts, clock: systemClock(), random: seededRandom(1) });
}

const event = (id: string) =>
  ({ specialist: scout, id: eventId("post.created", id), kind: "post.created", payload: { id }, via: "poll", hops: 0 }) as const;

const draft = (id: string, change: Partial<DraftIntent> = {}): DraftIntent => ({
  id: asIntentId(id),
  ordinal: 0,
  operation: "posts.reply",
  target: id,
  input: { content: `about ${id}` },
  effect: "reconciled",
  lane: "reply",
  hops: 0,
  textHash: id,
  thread: "t1",
  conflictKey: `reply ${id}`,
  ...change,
});

/** Events and intents in every state there is, one request under way and one that was answered. */
async function fill(store: Store): Promise<void> {
  await store.registerKey(scout, key, { limits: { perHour: 60, perDay: 600 }, floors: DEFAULT_FLOORS }, NOW);
  const order = (id: string, intents: readonly DraftIntent[]): Promise<unknown> =>
    store.recordRun(event(id), {
      specialist: scout,
      now: NOW,
      intents,
      caps: DEFAULT_BRAKES,
      brake: () => undefined,
      report: () => undefined,
    });
  await order("done", [draft("sent"), draft("next", { ordinal: 1, expiresAt: NOW + HOUR })]);
  await order("other", [draft("no", { refusal: { code: "not_allowed", message: "no" } }), draft("flying", { ordinal: 1 })]);
  await order("third", [draft("doubted"), draft("parked", { ordinal: 1 })]);
  await send(store, "sent", true);
  await send(store, "flying", false);
  const move = async (id: string, change: Parameters<Store["moveIntent"]>[0]["change"]): Promise<void> => {
    const intent = await store.findIntent(id);
    await store.moveIntent({ seq: intent?.seq ?? 0, from: ["ready"], change, now: NOW });
  };
  await move("doubted", { state: "in_doubt", everUnknown: true, nextAt: NOW + SECOND, code: "outcome_unknown", message: "lost" });
  await move("parked", { state: "parked", code: "same_words", message: "a person has to look" });
  await store.putEvents({ events: [event("poison"), event("later"), event("running"), event("waiting")] }, NOW);
  const [poison, later] = await store.claimEvents(scout, NOW, 3);
  await store.parkEvent(poison?.seq ?? 0, NOW, "four times");
  await store.retryEvent(later?.seq ?? 0, { notBefore: NOW + HOUR, failed: true, note: "not yet" });
}

async function send(store: Store, id: string, isAnswered: boolean): Promise<void> {
  const intent = await store.findIntent(id);
  if (intent === undefined) throw new Error(id);
  const { seq, conflictKey, operation, effect, lane } = intent;
  const admission = await store.admit(
    {
      request: { specialist: scout, key, operation, effect, lane, price: { kind: "free" }, intent: intent.id },
      intent: { seq, id: intent.id, conflictKey },
      now: NOW,
      deadlineAt: NOW + 30 * SECOND,
      holdExpiresAt: Infinity,
      known: { may: undefined, review: false },
    },
    () => ({ kind: "admit", charge: { lane, cost: 1 }, hold: undefined }),
  );
  if (admission.kind !== "admitted") throw new Error(admission.kind);
  const { attempt } = admission;
  if (!isAnswered) return;
  await store.complete({
    attempt,
    end: { key, attempt: attempt.seq, lane, cost: 1, admittedAt: NOW, deadlineAt: attempt.deadlineAt, ending: "answered" },
    outcome: "confirmed",
    now: NOW,
    intent: { seq, id: intent.id, change: { state: "confirmed", createdRef: "r1" } },
    events: [],
    watches: [],
  });
}

const IDS = ["done", "other", "third", "poison", "later", "running", "waiting"];

async function shown(store: Store) {
  const events = await Promise.all(IDS.map((id) => store.findEvents(event(id).id, 1)));
  return {
    intents: await store.intents({ limit: 20 }),
    counts: await store.counts(scout),
    parked: await store.parkedEvents(undefined, 10),
    events: events
      .flat()
      .map(({ id, state, note, attempts, notBefore }) => [id, state === "running" ? "ready" : state, note, attempts, notBefore]),
    due: await store.dueIntents(scout, LANES, NOW, 10),
    doubts: await store.doubtfulIntents(scout, NOW + HOUR, 10),
    open: await store.openAttempts(),
    quota: await store.quotaUse(key, NOW),
    work: await store.dueWork(scout, LANES, NOW + 2 * HOUR),
    refs: [...(await store.claimedRefs({ specialist: scout, operation: "posts.reply" }, ["r1", "r2"]))],
    unanswered: await store.unansweredAttempts((await store.findIntent("sent"))?.seq ?? 0),
  };
}

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "retinue-migration-"));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

test("what a store of rows showed it shows as facts, and goes on from there", async () => {
  const file = join(folder(), "store.sqlite");
  const rows = opened(file, false);
  await fill(rows);
  const before = await shown(rows);
  await rows.close();
  const facts = opened(file, true);
  expect(await shown(facts)).toEqual(before);
  expect(existsSync(`${file}-before-facts`)).toBe(true);
  expect(await facts.putEvents({ events: [event("done")] }, NOW)).toEqual({ fresh: [], known: 1 });
  // The request under way and the event at work are what a crash leaves.
  expect(await facts.recover(NOW, SECOND)).toEqual({ events: 1, doubts: 1, attempts: 1 });
  const claimed = await facts.claimEvents(scout, NOW, 5);
  expect(claimed.map(({ id }) => id)).toEqual([event("running").id]); // alone, since it may be what ended the process
  await facts.close();
  const again = opened(file, true);
  expect(existsSync(`${file}-before-facts`)).toBe(false);
  expect((await again.intents({ limit: 20 })).map(({ id }) => id).toSorted()).toEqual(before.intents.map(({ id }) => id).toSorted());
  await again.close();
});

test("a process that dies anywhere over it leaves a store that opens whole", { timeout: 120_000 }, async () => {
  const made = folder();
  const original = join(made, "original.sqlite");
  const rows = opened(original, false);
  await fill(rows);
  const before = await shown(rows);
  await rows.close();
  let deaths = 0;
  let said = "";
  for (let which = 1; which < 60 && said === ""; which++) {
    const file = join(made, `at-${which}.sqlite`);
    copyFileSync(original, file);
    const script = join(import.meta.dirname, "../harness/migrate-and-die.ts");
    const { signal, stdout, stderr } = spawnSync(process.execPath, ["--conditions=retinue-source", script, file, `${which}`, "facts"], {
      encoding: "utf8",
    });
    const facts = opened(file, true);
    expect(await shown(facts)).toEqual(before);
    await facts.close();
    said = stdout + stderr;
    deaths += signal === "SIGKILL" ? 1 : 0;
  }
  expect(said).toBe("opened");
  expect(deaths).toBeGreaterThan(5);
});

test("a store of facts is refused where rows are expected, and stays as it is", async () => {
  const file = join(folder(), "store.sqlite");
  await opened(file, true).close();
  expect(() => opened(file, false)).toThrow(expect.objectContaining({ code: "store_newer" }));
  await opened(file, true).close();
});

/** A network's own limits as the store keeps them: over a new key, a lost answer, and a crash. */
import { expect, onTestFinished, test } from "vitest";
import { tierLimits } from "../../src/contract/tiers.ts";
import { systemClock } from "../../src/core/clock.ts";
import { asHandle, asKeyId, type KeyId } from "../../src/core/ids.ts";
import { seededRandom } from "../../src/core/random.ts";
import { DAY, MINUTE, SECOND } from "../../src/core/units.ts";
import { decide } from "../../src/limits/decide.ts";
import { DEFAULT_FLOORS } from "../../src/limits/lanes.ts";
import { LATE_LANDING_MS } from "../../src/limits/quota.ts";
import type { Attempt } from "../../src/outbox/intent.ts";
import type { Store } from "../../src/store/store.ts";
import { MEMORY, openDatabase } from "../../src/store/sqlite/database.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";

const T0 = Date.UTC(2026, 2, 1);
const SCOUT = asHandle("scout");
const OLD = asKeyId("k1");
const NEW = asKeyId("k2");
const PER_MS = 5 * MINUTE;
const DEADLINE_MS = 30 * SECOND;
const LIMIT = { name: "reads", operations: ["posts.list"], max: 2, perMs: PER_MS, lanes: ["poll"] } as const;

async function opened() {
  const database = openDatabase(MEMORY);
  onTestFinished(() => database.close());
  const open = (): Store => openSqliteStore({ path: MEMORY, database, clock: systemClock(), random: seededRandom(1) });
  const store = open();
  await store.recover(T0, 0);
  const register = (key: KeyId, now: number) =>
    store.registerKey(SCOUT, key, { limits: tierLimits("pro", "b"), floors: DEFAULT_FLOORS }, now);
  await register(OLD, T0);
  return { open, store, register };
}

async function admit(store: Store, key: KeyId, now: number): Promise<Attempt | string> {
  const request = {
    specialist: SCOUT,
    key,
    operation: "posts.list",
    effect: "read",
    lane: "poll",
    price: { kind: "free" },
    ownLimits: [LIMIT],
  } as const;
  const known = { may: [], review: false, caps: [] };
  const admission = await store.admit({ request, now, deadlineAt: now + DEADLINE_MS, holdExpiresAt: now + DAY, known }, decide);
  if (admission.kind === "admitted") return admission.attempt;
  return admission.kind === "wait" ? admission.rule : admission.kind;
}

async function end(store: Store, attempt: Attempt | string, ending: "answered" | "lost", now: number): Promise<void> {
  if (typeof attempt === "string") throw new Error(`not admitted: ${attempt}`);
  const { seq, keyId: key, startedAt: admittedAt, deadlineAt } = attempt;
  store.complete({
    attempt,
    end: { key, attempt: seq, lane: "poll", cost: 1, admittedAt, deadlineAt, ending },
    outcome: ending === "lost" ? "unknown" : "confirmed",
    now,
    events: [],
    watches: [],
  });
}

test("the use of the old key counts for the new key, also requests under way", async () => {
  const { store, register } = await opened();
  await end(store, await admit(store, OLD, T0), "answered", T0);
  const late = await admit(store, OLD, T0 + SECOND);
  await register(NEW, T0 + 2 * SECOND);
  expect(await admit(store, NEW, T0 + 3 * SECOND)).toBe("network_limit");
  await end(store, late, "answered", T0 + 4 * SECOND);
  expect(await admit(store, NEW, T0 + PER_MS - SECOND)).toBe("network_limit");
  expect(await admit(store, NEW, T0 + PER_MS + SECOND)).toMatchObject({ keyId: NEW });
  // The request that was under way counts as one that may land late.
  expect(await admit(store, NEW, T0 + PER_MS + LATE_LANDING_MS)).toBe("network_limit");
});

test("a request without an answer counts until it can no longer land", async () => {
  const { store } = await opened();
  for (let i = 0; i < LIMIT.max; i++) await end(store, await admit(store, OLD, T0), "lost", T0 + SECOND);
  const lastLanding = T0 + DEADLINE_MS + LATE_LANDING_MS;
  expect(await admit(store, OLD, lastLanding + PER_MS - SECOND)).toBe("network_limit");
  expect(await admit(store, OLD, lastLanding + PER_MS + SECOND)).toMatchObject({ keyId: OLD });
});

test("a request that a crash interrupted counts until it can no longer land", async () => {
  const { store, open } = await opened();
  for (let i = 0; i < LIMIT.max; i++) expect(await admit(store, OLD, T0)).toMatchObject({ keyId: OLD });
  const next = open();
  await next.recover(T0, 0);
  const lastLanding = T0 + DEADLINE_MS + LATE_LANDING_MS;
  expect(await admit(next, OLD, lastLanding + PER_MS - SECOND)).toBe("network_limit");
  expect(await admit(next, OLD, lastLanding + PER_MS + SECOND)).toMatchObject({ keyId: OLD });
});

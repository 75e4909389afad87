/** Requests of `scout` through a store's admission, as the gateway asks for them. */
import type { Clock } from "../../src/core/clock.ts";
import { asKeyId } from "../../src/core/ids.ts";
import { credits, DAY, SECOND } from "../../src/core/units.ts";
import { decide as decideAdmission } from "../../src/limits/decide.ts";
import { DEFAULT_FLOORS } from "../../src/limits/lanes.ts";
import { GUARDIAN, scopeOf } from "../../src/limits/spending.ts";
import type { Intent } from "../../src/outbox/intent.ts";
import type { Admission, Admit, Completion } from "../../src/store/admission.ts";
import { SCOUT, type Desk } from "./guardian-over-store.ts";

export const KEY = asKeyId("k1");

interface Timed {
  readonly clock: Pick<Clock, "now">;
}

/** A key of a hundred requests an hour. */
export async function withKey({ clock, store, on }: Desk): Promise<void> {
  await on(store.registerKey(SCOUT, KEY, { limits: { perHour: 100, perDay: 1_000 }, floors: DEFAULT_FLOORS }, clock.now()));
}

/** The admission of an intent for five credits, of which the specialist and the Guardian have ten each a day; or of a read. */
export function wanted({ clock }: Timed, intent?: Intent): Admit {
  const now = clock.now();
  const money = credits(10);
  const shared = { specialist: SCOUT, key: KEY } as const;
  return {
    request:
      intent === undefined
        ? { ...shared, operation: "posts.list", effect: "read", lane: "poll", price: { kind: "free" } }
        : {
            ...shared,
            operation: intent.operation,
            effect: intent.effect,
            lane: intent.lane,
            price: { kind: "priced", worst: credits(5) },
            intent: intent.id,
          },
    ...(intent === undefined ? {} : { intent: { seq: intent.seq, id: intent.id, conflictKey: intent.conflictKey } }),
    now,
    deadlineAt: now + 30 * SECOND,
    holdExpiresAt: now + 7 * DAY,
    known: {
      may: intent === undefined ? [] : [intent.operation],
      review: false,
      caps: [
        { scope: scopeOf(SCOUT), window: "day", money },
        { scope: GUARDIAN, window: "day", money },
      ],
    },
  };
}

export function admit(desk: Desk, intent?: Intent, over: Partial<Admit> = {}): Promise<Admission> {
  return desk.on(desk.store.admit({ ...wanted(desk, intent), ...over }, decideAdmission));
}

/** The end of an admitted request, answered now. */
export function endOf({ clock }: Timed, admission: Admission, over: Partial<Completion> = {}): Completion {
  if (admission.kind !== "admitted") throw new Error(`expected it to be admitted, got ${admission.kind}`);
  const { attempt } = admission;
  const { seq, lane, cost, startedAt: admittedAt, deadlineAt } = attempt;
  return {
    attempt,
    end: { key: KEY, attempt: seq, lane, cost, admittedAt, deadlineAt, ending: "answered" },
    outcome: "confirmed",
    status: 200,
    now: clock.now(),
    events: [],
    watches: [],
    ...over,
  };
}

/** A store in memory on virtual time, with the rows that a person asks about, and the Guardian over it without a runtime. */
import { onTestFinished } from "vitest";
import { asEventId, asHandle, type Handle } from "../../src/core/ids.ts";
import type { Json } from "../../src/core/json.ts";
import { seededRandom } from "../../src/core/random.ts";
import { virtualClock, type VirtualClock } from "../../src/core/virtual-clock.ts";
import { createGuardian, type Guardian } from "../../src/guardian/guardian.ts";
import type { GuardianContext } from "../../src/guardian/wake-waiting.ts";
import { failureNote, type Failure } from "../../src/store/failure.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";

export const SCOUT = asHandle("scout");

export interface Desk {
  readonly clock: VirtualClock;
  readonly store: Store;
  readonly guardian: Guardian;
  readonly context: GuardianContext;
  /** Resolves once the clock has let the store answer. */
  on<T>(asked: T | Promise<T>): Promise<T>;
  /** An event of `scout` that waits for its handler. */
  event(id: string, over?: { readonly kind?: string; readonly payload?: Json; readonly specialist?: Handle }): Promise<void>;
  /** The same, once its handling has failed; the next try is in a minute. */
  failed(id: string, failure?: Partial<Failure>, kind?: string): Promise<void>;
  /** The same, parked. */
  parked(id: string, note: string): Promise<void>;
}

export function desk(): Desk {
  const clock = virtualClock(Date.UTC(2026, 10, 21));
  const store = openSqliteStore({ path: ":memory:", clock, random: seededRandom("desk") });
  onTestFinished(() => clock.run(store.close()));
  const on = <T>(asked: T | Promise<T>): Promise<T> => clock.run(asked);
  const event: Desk["event"] = async (id, { kind = "post.created", payload = {}, specialist = SCOUT } = {}) => {
    await on(store.saveAccount(specialist, `agt_${specialist}`, clock.now()));
    const row = { specialist, id: asEventId(id), kind, payload, via: "poll", hops: 0 } as const;
    await on(store.putEvents({ events: [row] }, clock.now()));
  };
  const claimed = async (id: string): Promise<number> => {
    const claim = store.claimEvents(SCOUT, clock.now(), 100);
    const seq = claim.find((one) => one.id === id)?.seq;
    if (seq === undefined) throw new Error(`${id} cannot be claimed`);
    return seq;
  };
  return {
    clock,
    store,
    guardian: createGuardian({ store, clock, members: async () => [] }),
    context: { store, clock, parts: undefined, running: () => [], memberOf: async () => undefined },
    on,
    event,
    async failed(id, failure = {}, kind = "post.created") {
      await event(id, { kind });
      const whole: Failure = { at: clock.now(), code: "handler_threw", message: "no model", pattern: "no model", tries: 1, ...failure };
      const note = failureNote(whole);
      store.retryEvent(await claimed(id), { notBefore: clock.now() + 60_000, failed: true, note });
    },
    async parked(id, note) {
      await event(id);
      store.parkEvent(await claimed(id), clock.now(), note);
    },
  };
}

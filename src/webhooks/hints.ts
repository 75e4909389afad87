/** Limits reads that anyone may cause, or that one repeated delivery causes: merged into rounds that a tier can pay for. */
import { messageOf } from "../core/errors.ts";
import type { Handle } from "../core/ids.ts";
import { DAY, SECOND } from "../core/units.ts";
import { readsFor, type NeededRead } from "./interpret.ts";
import { MERGE_MS, nudgesFor, wakeFor } from "./process-deliveries.ts";
import type { Member } from "../gateway/member.ts";
import { NOTHING_REPORTED } from "../polling/webhook-coverage.ts";
import type { WebhookDependencies } from "./webhook-dependencies.ts";
import type { Nudge } from "../store/deliveries.ts";

export interface Hints {
  /** Adds the reads to the next round, once however often they are requested. */
  ask(member: Member, looks: readonly NeededRead[]): void;
}

/** All reads of a round happen at one time, after their requests. */
interface Round {
  /** On the monotonic clock. */
  readonly at: number;
  readonly asked: Set<string>;
}

const MIN_GAP_MS = 10 * SECOND;
/** Requests a day per possible round: a round of one request may use every second request of the day. */
const REQUESTS_A_ROUND = 2;
/** Reads in one round; further ones are left to regular polls. */
const MAX_LOOKS = 20;

export function createHints(parts: WebhookDependencies): Hints {
  const { clock, store, log } = parts;
  const rounds = new Map<Handle, Round>();

  const nextRound = ({ specialist, limits }: Member): Round => {
    const now = clock.monotonic();
    const last = rounds.get(specialist.handle);
    if (last !== undefined && now < last.at) return last;
    const gap = Math.max(MIN_GAP_MS, (REQUESTS_A_ROUND * DAY) / limits.perDay);
    const round = { at: Math.max(now + MERGE_MS, (last?.at ?? -Infinity) + gap), asked: new Set<string>() };
    rounds.set(specialist.handle, round);
    return round;
  };

  const note = async (member: Member, nudges: readonly Nudge[]): Promise<void> => {
    await store.nudge(member.specialist.handle, nudges, clock.now());
    wakeFor(parts, member, nudges); // a pass arms the timer for the nudged reads
  };

  return {
    ask(member, looks) {
      if (looks.length === 0) return;
      const { at, asked } = nextRound(member);
      const fresh = looks.filter((look) => !asked.has(JSON.stringify(look))).slice(0, MAX_LOOKS - asked.size);
      if (fresh.length === 0) return;
      for (const look of fresh) asked.add(JSON.stringify(look));
      const now = clock.now();
      const lookAt = now + at - clock.monotonic();
      note(
        member,
        nudgesFor(fresh, now).map((nudge): Nudge => ({ ...nudge, at: lookAt })),
      ).catch((error: unknown) => log.error("a hint could not be stored", { handle: member.specialist.handle, message: messageOf(error) }));
    },
  };
}

/**
 * Reads the lists whose news an earlier process got by webhook, since this one has no receiver: their next polls may be half an
 * hour away.
 */
export async function pollWithoutReceiver(parts: WebhookDependencies, members: readonly Member[]): Promise<void> {
  const { store, clock } = parts;
  const known = await store.webhookHealth();
  const hints = createHints(parts);
  for (const member of members) {
    const { handle } = member.specialist;
    if ((known.get(handle)?.reported ?? 0) === 0) continue;
    hints.ask(member, readsFor(undefined));
    await store.saveWebhookHealth(handle, NOTHING_REPORTED, clock.now());
  }
}

/** Opens the gateway to one network, with a client for its profile. */
import { createClient } from "../client/client.ts";
import type { Transport } from "../client/transport.ts";
import type { Profile } from "../contract/profile/profile.ts";
import type { Clock } from "../core/clock.ts";
import type { Announcer } from "../core/events.ts";
import type { Scrubber } from "../core/scrubber.ts";
import { DAY } from "../core/units.ts";
import { cappedCurrencies, capsOf, type SpendLimits } from "../limits/caps.ts";
import type { Pacer } from "../limits/pacing.ts";
import { GUARDIAN, scopeOf, type Cap } from "../limits/spending.ts";
import type { LedgerTime } from "../limits/ledger-clock.ts";
import type { Member } from "../gateway/member.ts";
import type { Caps, Specialist } from "../specialist/specialist.ts";
import type { Store } from "../store/store.ts";
import { announceIntent } from "../outbox/announce.ts";
import { concludeOutcome } from "../outbox/follow-up.ts";
import { createGateway, type Gateway } from "../gateway/gateway.ts";
import type { KeyWatch } from "../gateway/keys.ts";
import type { Breakers } from "../gateway/network-breakers.ts";
import type { Semaphore } from "../gateway/semaphore.ts";
import type { UnkeptHalts } from "../gateway/unkept-halts.ts";

export interface GatewaySettings {
  readonly profile: Profile;
  readonly baseUrl: string;
  readonly transport: Transport;
  readonly store: Store;
  readonly pacer: Pacer;
  /** Shared by runtimes that share sockets. Default: as many as one transport has. */
  readonly places?: Semaphore;
  readonly guardianCaps?: Caps;
  readonly writes?: "send" | "refuse";
}

export interface GatewayDependencies {
  /** Cleans every answer. */
  readonly scrubber: Scrubber;
  readonly announcer: Announcer;
  readonly breakers: Breakers;
  readonly unkeptHalts: UnkeptHalts;
  readonly keys: KeyWatch;
  /** Dates rows. */
  readonly clock: Clock;
  /** Compared with the network's clock. */
  readonly wall: Clock;
  readonly ledger: LedgerTime;
}

/** Money held for an action that nobody could resolve counts as spent after this. */
const HOLD_MS = 7 * DAY;

/** `noticeCalls` counts the checks of a job until it is seen to be assigned. */
export function openGateway(
  options: GatewaySettings,
  { announcer, scrubber, breakers, unkeptHalts, keys, clock, wall, ledger }: GatewayDependencies,
  noticeCalls: () => number,
): Gateway {
  const { profile, transport, baseUrl, store, pacer } = options;
  const connection = { baseUrl, transport, clock: wall, scrubber };
  const client = createClient({
    ...connection,
    profile,
    pins: (operation) => breakers.pins(operation),
    onDrift: (operation, observations) => breakers.drifted(operation, observations),
  });
  return createGateway({
    client,
    connect: (other) => createClient({ ...connection, profile: other }),
    store,
    pacer,
    places: options.places,
    keys,
    clock,
    ledger,
    announcer,
    breakers,
    unkeptHalts,
    caps: capsFor(options.guardianCaps),
    holdMs: HOLD_MS,
    noticeCalls,
    writes: options.writes ?? "send",
    conclude: (member, intent, outcome) => concludeOutcome(member, intent, outcome, profile, clock.now()),
    announce(member, intent, change) {
      if (announcer.listenerCount("intent") > 0) announceIntent(announcer, member, intent, change, clock.now());
    },
  });
}

/** The currencies of the Guardian's caps, and of those of specialists. */
export function cappedIn({
  guardianCaps = {},
  specialists,
}: {
  readonly guardianCaps?: SpendLimits;
  readonly specialists: readonly Specialist[];
}): readonly string[] {
  return cappedCurrencies([guardianCaps, ...specialists.map(({ spend }) => spend)]);
}

/** The caps on a specialist's spending, with the Guardian's; made once for each definition. */
export function capsFor(guardianCaps: SpendLimits = {}): (member: Member) => readonly Cap[] {
  const ofGuardian = capsOf(GUARDIAN, guardianCaps);
  const known = new WeakMap<Specialist, readonly Cap[]>();
  return ({ specialist }) => {
    const cached = known.get(specialist);
    if (cached !== undefined) return cached;
    const caps = [...capsOf(scopeOf(specialist.handle), specialist.spend), ...ofGuardian];
    known.set(specialist, caps);
    return caps;
  };
}

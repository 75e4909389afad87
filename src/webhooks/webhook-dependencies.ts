/** Dependencies of webhooks. */
import type { Profile } from "../contract/profile/profile.ts";
import type { Clock } from "../core/clock.ts";
import type { Announcer } from "../core/events.ts";
import type { Logger } from "../core/log.ts";
import type { Scrubber } from "../core/scrubber.ts";
import type { Breakers } from "../gateway/network-breakers.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { Member } from "../gateway/member.ts";
import type { WebhookCoverage } from "../polling/webhook-coverage.ts";
import type { WebhookMemory } from "./webhook-memory.ts";
import type { WorkKind } from "../store/sources.ts";
import type { Store } from "../store/store.ts";

export interface WebhookDependencies {
  readonly clock: Clock;
  /** The machine's own clock, which may jump: for comparison with the network's times. */
  readonly wall: Clock;
  /** The network's clock in ms, for the age of what it reports. */
  readonly networkNow: () => number;
  readonly log: Logger;
  /** Knows every secret: foreign text is cleaned by it before anything is read from it, or cut. */
  readonly scrubber: Scrubber;
  readonly announcer: Announcer;
  readonly store: Store;
  readonly profile: Profile;
  readonly gateway: Gateway;
  readonly breakers: Breakers;
  readonly coverage: WebhookCoverage;
  /** The webhooks' state in memory. */
  readonly deliveries: WebhookMemory;
  /** True while a pass over that kind of work of a specialist is running. */
  readonly isBusy: (member: Member, kind: WorkKind) => boolean;
  /** Aborted when the runtime begins to stop: no new work begins. */
  readonly stopping: AbortSignal;
  /** Aborted when the time to drain is over: running work is interrupted. */
  readonly ending: AbortSignal;
  /** Reports that a kind of work of a specialist has something to do. */
  readonly wake: (member: Member, part: WorkKind) => void;
}

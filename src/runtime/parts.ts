/** Everything the flow is made of, joined once in `runtime.ts` and handed to each stage's driver. */
import type PQueue from "p-queue";
import type { NetworkRecord } from "../contract/records.ts";
import type { Profile } from "../contract/profile/profile.ts";
import type { Clock } from "../core/clock.ts";
import type { Announcer } from "../core/events.ts";
import type { Logger } from "../core/log.ts";
import type { Random } from "../core/random.ts";
import type { Part } from "../store/sources.ts";
import type { Store } from "../store/store.ts";
import type { Door } from "../gateway/gateway.ts";
import type { Isolation } from "../handlers/worker/worker-pool.ts";
import type { Member } from "../gateway/member.ts";
import type { SharedLists } from "../polling/shared-lists.ts";
import type { Standing } from "../gateway/breakers.ts";
import type { WebhookHealth } from "../polling/webhook-coverage.ts";

export interface Parts {
  readonly clock: Clock;
  /** The machine's, which may jump: for comparing with what the network says. */
  readonly wall: Clock;
  /** By the network's clock: for how old it says that something is. */
  readonly networkNow: () => number;
  readonly random: Random;
  readonly log: Logger;
  readonly announcer: Announcer;
  readonly store: Store;
  readonly profile: Profile;
  /** The Guardian's IANA time zone. */
  readonly zone: string;
  readonly door: Door;
  /** What the network lacks, forbids, or no longer says readably. */
  readonly standing: Standing;
  /** What is known of webhooks; all unknown where none are received. */
  readonly health: WebhookHealth;
  /** Bounds how many handlers run at once. */
  readonly handlers: PQueue;
  /** Where definitions that ask for it run in threads; undefined where everything runs in this one. */
  readonly isolation: Isolation | undefined;
  readonly fetch: typeof globalThis.fetch;
  /** Aborted when the runtime begins to stop: nothing new is begun. */
  readonly stopping: AbortSignal;
  /** Aborted when the time to drain is over: what still runs is cut short. */
  readonly ending: AbortSignal;
  /** Takes in what a confirmed answer says of the specialist's own account. */
  readonly learn: (member: Member, record: NetworkRecord | undefined) => void;
  /** Which public lists all keys see alike. */
  readonly shared: SharedLists;
  readonly members: () => readonly Member[];
  /** How many specialists at work share a specialist's key, itself included. */
  readonly sharers: (member: Member) => number;
  /** Says that a part of a specialist has something to do. */
  readonly wake: (member: Member, part: Part) => void;
}

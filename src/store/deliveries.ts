/** Webhook deliveries as the store keeps them, and our registrations on networks. */
import type { Handle } from "../core/ids.ts";
import type { NewEvent } from "../contract/event.ts";

/** A webhook delivery as it came, durable before it is answered. */
export interface NewDelivery {
  readonly specialist: Handle;
  /** The id its signature covers, or one derived from the covered bytes. */
  readonly id: string;
  /** What a header said of its kind. */
  readonly kind: string | undefined;
  readonly scheme: string;
  /** The covered bytes: JSON, as far as anybody has looked. */
  readonly body: Uint8Array;
}

export interface StoredDelivery {
  readonly seq: number;
  readonly id: string;
  readonly kind: string | undefined;
  readonly body: Uint8Array;
  readonly receivedAt: number;
  /** How often it could not be worked on. */
  readonly attempts: number;
}

/** Something to look at soon, because a delivery said that it changed. */
export type Nudge =
  /** Lists whose name is, or begins with, this. */
  | { readonly kind: "source"; readonly name: string; readonly at: number }
  /** The few followed objects of this kind with the latest news. */
  | { readonly kind: "newest"; readonly of: "job" | "thread"; readonly at: number }
  /** A followed object; `follow` begins (or takes up again) where it is not followed. */
  | { readonly kind: "job" | "thread"; readonly object: string; readonly at: number; readonly follow?: boolean };

/** What became of a delivery, in one transaction. */
export interface DeliveryEnd {
  readonly seq: number;
  readonly specialist: Handle;
  /** `done`; `unhandled`: understood, but nobody handles its kind; `parked`: a person should look at it. */
  readonly state: "done" | "unhandled" | "parked";
  readonly kind: string | undefined;
  readonly note?: string;
  readonly events: readonly NewEvent[];
  readonly nudges: readonly Nudge[];
}

/** Deliveries by kind and state, for people. */
export interface DeliveryCount {
  readonly kind: string;
  readonly state: string;
  readonly count: number;
}

/** Our registration on the network, as last made. */
export interface Registration {
  readonly webhookId: string;
  readonly url: string;
  /** The network signs with a secret of its own, which is not stored. */
  readonly foreignSecret: boolean;
  /** A salted hash of the secret that the network was told when it was made; undefined where it was told none. */
  readonly signedWith: string | undefined;
}

/** How far a specialist's webhooks are trusted: what is kept of it over restarts. */
export interface StoredCoverage {
  /** Happenings that deliveries told of. */
  readonly told: number;
  /** Happenings that only a poll found. */
  readonly missed: number;
  readonly missedInRow: number;
  readonly lastToldAt: number | undefined;
  /** Kinds of events that a delivery has told of before. */
  readonly kinds: readonly string[];
}

/** Where a delivery is stored. */
export interface DeliveryArrival {
  readonly delivery: NewDelivery;
  /** What it comes to, where its bytes alone say so: then it is worked on in the transaction that stores it. */
  readonly plain: Omit<DeliveryEnd, "seq" | "specialist"> | undefined;
  /**
   * Called once it is stored, with the identities that were new, and before it is on disk: what is written from then on comes
   * to disk after it. `waits` says that it is still to be worked on.
   */
  readonly onStored: (fresh: readonly NewEvent[], waits: boolean) => void;
}

export interface DeliveryStore {
  /** Resolves once it is on disk. Answers `known` for an id that was stored before, and `full` where too many wait already. */
  putDelivery(arrival: DeliveryArrival, now: number): Promise<"stored" | "known" | "full">;
  /** Whether so few of a specialist's events wait that deliveries may become more. */
  hasRoomForEvents(specialist: Handle): Promise<boolean>;
  dueDeliveries(specialist: Handle, now: number, limit: number): Promise<readonly StoredDelivery[]>;
  /** Answers which identities were new. */
  endDelivery(end: DeliveryEnd, now: number): Promise<{ readonly fresh: readonly NewEvent[] }>;
  delayDelivery(seq: number, change: { readonly dueAt: number; readonly failed: boolean; readonly note: string }): Promise<void>;
  nudge(specialist: Handle, nudges: readonly Nudge[], now: number): Promise<void>;
  /** What has been worked on so far, by the network's word for its kind (empty where it has none). */
  deliveryCounts(specialist: Handle): Promise<readonly DeliveryCount[]>;
  webhookHealth(): Promise<ReadonlyMap<Handle, StoredCoverage>>;
  saveWebhookHealth(specialist: Handle, health: StoredCoverage, now: number): Promise<void>;
  registrations(specialist: Handle): Promise<readonly Registration[]>;
  /** Takes the place of all that was known of the specialist's registrations. */
  saveRegistrations(specialist: Handle, registrations: readonly Registration[], now: number): Promise<void>;
}

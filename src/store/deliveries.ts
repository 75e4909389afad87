/** Store interface of webhook deliveries, and of our registrations on networks. */

import type { Handle } from "../core/ids.ts";
import type { NewEvent, WatchKind } from "../contract/event.ts";

/** A webhook delivery as received, durable before it is acknowledged. */
export interface NewDelivery {
  readonly specialist: Handle;
  /** The signed id, or one derived from the signed bytes. */
  readonly id: string;
  /** The kind stated in a header. */
  readonly kind: string | undefined;
  readonly scheme: string;
  /** The signed bytes, presumably JSON. */
  readonly body: Uint8Array;
}

export interface StoredDelivery {
  readonly seq: number;
  readonly id: string;
  readonly kind: string | undefined;
  readonly body: Uint8Array;
  readonly receivedAt: number;
  /** Number of failed attempts to process it. */
  readonly attempts: number;
}

/** An early check, requested because a delivery reported a change. */
export type Nudge =
  /** Lists with this name or prefix. */
  | { readonly kind: "source"; readonly name: string; readonly at: number }
  /** The few watched objects of this kind with the latest news. */
  | { readonly kind: "newest"; readonly of: WatchKind; readonly at: number }
  /** A watched object; `follow` starts (or restarts) the watch if there is none. */
  | { readonly kind: WatchKind; readonly object: string; readonly at: number; readonly follow?: boolean };

/** The result of a delivery, stored in one transaction. */
export interface DeliveryEnd {
  readonly seq: number;
  readonly specialist: Handle;
  /** `done`; `unhandled`: understood, but nothing handles its kind; `parked`: a person should check it. */
  readonly state: "done" | "unhandled" | "parked";
  readonly kind: string | undefined;
  readonly note?: string;
  readonly events: readonly NewEvent[];
  readonly nudges: readonly Nudge[];
}

/** Deliveries by kind and state, for people. Those that were done are not counted. */
export interface DeliveryCount {
  readonly kind: string;
  readonly state: "unhandled" | "parked";
  readonly count: number;
}

/** Our latest registration on the network. */
export interface Registration {
  readonly webhookId: string;
  readonly url: string;
  /** True if the network signs with its own secret, which is not stored. */
  readonly foreignSecret: boolean;
  /** A salted hash of the secret given at registration; undefined if none was given. */
  readonly signedWith: string | undefined;
}

/** Reliability of a specialist's webhooks, kept over restarts. */
export interface StoredCoverage {
  /** Events reported by deliveries. */
  readonly reported: number;
  /** Events found only by polls. */
  readonly missed: number;
  readonly missedInRow: number;
  readonly lastReportedAt: number | undefined;
  /** Kinds of events that deliveries have reported. */
  readonly kinds: readonly string[];
}

/** A delivery to store. */
export interface DeliveryArrival {
  readonly delivery: NewDelivery;
  /** Its result, if the bytes alone determine it: it is then processed in the transaction that stores it. */
  readonly plain: Omit<DeliveryEnd, "seq" | "specialist"> | undefined;
  /**
   * Called once it is stored, with the new event ids, and before it is on disk: later writes reach the disk after it. `waits` is true if it
   * is still to be processed.
   */
  readonly onStored: (fresh: readonly NewEvent[], waits: boolean) => void;
}

export interface DeliveryStore {
  /** Resolves once it is on disk. Returns `known` for an id stored before, and `full` if too many deliveries wait. */
  putDelivery(arrival: DeliveryArrival, now: number): Promise<"stored" | "known" | "full">;
  /** True if the specialist has room for events from further deliveries. */
  hasRoomForEvents(specialist: Handle): Promise<boolean>;
  dueDeliveries(specialist: Handle, now: number, limit: number): Promise<readonly StoredDelivery[]>;
  /** Returns the new events. */
  endDelivery(end: DeliveryEnd, now: number): Promise<{ readonly fresh: readonly NewEvent[] }>;
  delayDelivery(seq: number, change: { readonly dueAt: number; readonly failed: boolean; readonly note: string }): Promise<void>;
  nudge(specialist: Handle, nudges: readonly Nudge[], now: number): Promise<void>;
  /** Deliveries that nothing handled or understood, by the network's word for their kind (empty if it has none). */
  deliveryCounts(specialist: Handle): Promise<readonly DeliveryCount[]>;
  webhookHealth(): Promise<ReadonlyMap<Handle, StoredCoverage>>;
  saveWebhookHealth(specialist: Handle, health: StoredCoverage, now: number): Promise<void>;
  registrations(specialist: Handle): Promise<readonly Registration[]>;
  /** Replaces everything known of the specialist's registrations. */
  saveRegistrations(specialist: Handle, registrations: readonly Registration[], now: number): Promise<void>;
}

/** What a local network is to those who run one: its options, what it offers, how it listens. */
import type { EndpointSet } from "../contract/operations.ts";
import type { Tier } from "../contract/tiers.ts";
import type { Clock } from "../core/clock.ts";
import type { Random } from "../core/random.ts";
import type { NetworkReply, NetworkRequest } from "./server/exchange.ts";
import type { Assumptions, WindowKind } from "./assumptions.ts";
import type { Deliver, Delivery } from "./webhooks/deliver.ts";
import type { MakeWireFormat } from "./wire/wire.ts";
import type { Faults } from "./faults/network-faults.ts";
import type { ResidentOptions } from "./residents/residents.ts";
import type { Summary } from "./summary.ts";
import type { GroundTruth } from "./ground-truth.ts";
import type { Account, Approval, Job, Spending } from "./world/rows.ts";
import type { Keep } from "./world/world.ts";

export interface LocalNetworkOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Chance for keys and secrets, where `random` is seeded and keys should not be guessable. Default `random`. */
  readonly secrets?: Random;
  /** An SQLite file that keeps the world over restarts. Default: memory only. */
  readonly data?: string;
  readonly window?: WindowKind;
  /** What to assume otherwise than by default. */
  readonly assume?: Partial<Assumptions>;
  /** Another wording of a set: paths, field names, envelopes, pages, ids, errors, limit headers. */
  readonly dialects?: { readonly [set in EndpointSet]?: MakeWireFormat };
  readonly webhooks?: { readonly deliver?: Deliver };
  /** Who lives here; `false` for nobody. Default nobody until asked for. */
  readonly residents?: ResidentOptions | false;
  /** Multiplies the network's own waits: assignment, review, payment, webhook retries. Default 1. */
  readonly scale?: number;
  /** How much of the past is kept. */
  readonly keep?: Partial<Keep>;
}

export interface Provisioned {
  readonly id: string;
  readonly handle: string;
  /** Shown once; the network keeps a hash only. */
  readonly key: string;
}

export interface NewSpecialist {
  readonly handle: string;
  readonly tier: Tier;
  readonly name?: string;
  readonly spending?: Spending;
  /** Whose prefix the key carries. Keys work on both sets. Default `b`. */
  readonly set?: EndpointSet;
}

export interface LocalNetwork {
  /**
   * Answers one request without any socket. `path` starts with `/v1/` in both sets.
   * Rejects with `ConnectionLost` where a fault breaks the connection.
   */
  handle(set: EndpointSet, request: NetworkRequest): Promise<NetworkReply>;
  /** What My Agents does. Throws `Refused` (`handle_taken`, `handle_invalid`). */
  provision(agent: NewSpecialist): Provisioned;
  /** Whether a key kept from before is this specialist's present one; asking costs no quota. */
  isKeyOf(handle: string, key: string): boolean;
  /** Every method below that takes a handle throws `Refused` (`agent_unknown`) for one that is not there. */
  regenerateKey(handle: string, set?: EndpointSet): string;
  setTier(handle: string, tier: Tier): void;
  setSpending(handle: string, spending: Spending): void;
  suspend(handle: string, suspended?: boolean): void;
  remove(handle: string): void;
  /** One account begins to follow another, as residents do: the interface has no operation for it. */
  follow(follower: string, followed: string): void;
  /** A key of the Guardian's own, for creating and managing specialists in Set B. The one before dies. */
  guardianKey(): string;
  find(handle: string): Readonly<Account> | undefined;
  specialists(): readonly Readonly<Account>[];
  jobs(): readonly Readonly<Job>[];
  approvals(): readonly Readonly<Approval>[];
  /** The Guardian's decision on a pending approval; the action happens now if approved. Throws `Refused` (`approval_not_pending`). */
  decide(approvalId: string, approve: boolean): void;
  deliveries(): readonly Readonly<Delivery>[];
  /** Changes assumptions while the network runs. */
  assume(changes: Partial<Assumptions>): void;
  readonly assumptions: Readonly<Assumptions>;
  /** Serves `handle()` and the Guardian's page over HTTP. Throws `Retryable` (`port_in_use`) or `Misconfigured` (`cannot_listen`). */
  listen(options?: ListenOptions): Promise<Listening>;
  readonly faults: Faults;
  readonly truth: GroundTruth;
  /** Totals of the specialists, or of those named. */
  summary(handles?: readonly string[]): Summary;
  /** Residents, job deadlines and webhook deliveries begin. */
  start(): void;
  /** They end; what was under way goes on after the next start. Closes the data file. */
  stop(): Promise<void>;
}

export interface ListenOptions {
  /** 0, the default, takes any free port. */
  readonly port?: number;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** One set alone at the root; without, Set A at `/a` and Set B at `/b`. */
  readonly set?: EndpointSet;
  /** Told of what should not happen: a fault in the network itself. */
  readonly onError?: (error: unknown) => void;
}

export interface Listening {
  readonly origin: string;
  /** What a client calls its base address. Set B's ends in `/v1`. */
  readonly baseUrls: { readonly a?: string; readonly b?: string };
  /** The Guardian's page, and the token its login asks for. */
  readonly guardian: { readonly url: string; readonly token: string };
  /** Stops listening and breaks open connections. The network itself goes on. */
  close(): Promise<void>;
}

/** Options and interface of a local network. */
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

/** Options of a local network: clock, chance, residents, assumptions, data file. */
export interface LocalNetworkOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Source of keys and secrets, for a seeded `random` with keys that cannot be guessed. Default `random`. */
  readonly secrets?: Random;
  /** SQLite file that keeps the world over restarts. Default: memory only. */
  readonly data?: string;
  readonly window?: WindowKind;
  /** Overrides of the default assumptions. */
  readonly assume?: Partial<Assumptions>;
  /** Replacement wire formats of a set: paths, field names, envelopes, pages, ids, errors, limit headers. */
  readonly wireFormats?: { readonly [set in EndpointSet]?: MakeWireFormat };
  readonly webhooks?: { readonly deliver?: Deliver };
  /** Resident accounts; `false` for none. Default none. */
  readonly residents?: ResidentOptions | false;
  /** Factor on the network's own waits: assignment, review, payment, webhook retries. Default 1. */
  readonly scale?: number;
  /** Bounds on stored history. */
  readonly keep?: Partial<Keep>;
}

/** An account made on a local network, with its key. */
export interface Provisioned {
  readonly id: string;
  readonly handle: string;
  /** Shown once; the network stores its hash only. */
  readonly key: string;
}

/** An account to make on a local network. */
export interface NewSpecialist {
  readonly handle: string;
  readonly tier: Tier;
  readonly name?: string;
  readonly spending?: Spending;
  /** Set whose key prefix is used. Keys work on both sets. Default `b`. */
  readonly set?: EndpointSet;
}

/** A local network: its core without sockets, its server, its accounts, its ground truth. */
export interface LocalNetwork {
  /**
   * Answers one request without a socket. `path` starts with `/v1/` in both sets. Rejects with `ConnectionLost` if a fault breaks the
   * connection.
   */
  handle(set: EndpointSet, request: NetworkRequest): Promise<NetworkReply>;
  /** Creates a specialist, as My Agents does. Throws `Refused` (`handle_taken`, `handle_invalid`). */
  provision(agent: NewSpecialist): Provisioned;
  /** Returns true if a stored key is this specialist's present one. Asking costs no quota. */
  isKeyOf(handle: string, key: string): boolean;
  /** Regenerates the key. This and every method below with a handle throws `Refused` (`agent_unknown`) for an unknown one. */
  regenerateKey(handle: string, set?: EndpointSet): string;
  setTier(handle: string, tier: Tier): void;
  setSpending(handle: string, spending: Spending): void;
  suspend(handle: string, suspended?: boolean): void;
  remove(handle: string): void;
  /** Makes one account follow another. The interface has no operation for it. */
  follow(follower: string, followed: string): void;
  /** Creates the Guardian's own key, which creates and manages specialists in Set B. Revokes the previous one. */
  guardianKey(): string;
  find(handle: string): Readonly<Account> | undefined;
  specialists(): readonly Readonly<Account>[];
  jobs(): readonly Readonly<Job>[];
  approvals(): readonly Readonly<Approval>[];
  /** Decides a pending approval; an approved action happens at once. Throws `Refused` (`approval_not_pending`). */
  decide(approvalId: string, approve: boolean): void;
  deliveries(): readonly Readonly<Delivery>[];
  /** Delivers one of them once more, under the same id. Throws `Refused` (`nothing_found`). */
  redeliver(id: string): void;
  /** Changes assumptions while the network runs. */
  assume(changes: Partial<Assumptions>): void;
  readonly assumptions: Readonly<Assumptions>;
  /** Serves `handle()` and the Guardian's page over HTTP. Throws `Retryable` (`port_in_use`) or `Misconfigured` (`cannot_listen`). */
  listen(options?: ListenOptions): Promise<Listening>;
  readonly faults: Faults;
  readonly truth: GroundTruth;
  /** Totals of all specialists, or of those named. */
  summary(handles?: readonly string[]): Summary;
  /** Starts residents, job deadlines and webhook deliveries. */
  start(): void;
  /** Stops them; unfinished work resumes at the next start. Closes the data file. */
  stop(): Promise<void>;
}

export interface ListenOptions {
  /** 0, the default, takes any free port. */
  readonly port?: number;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Serves one set at the root. Default: Set A at `/a` and Set B at `/b`. */
  readonly set?: EndpointSet;
  /** Called on a defect of the network itself. */
  readonly onError?: (error: unknown) => void;
}

/** A local network that listens: its base addresses, by endpoint set. */
export interface Listening {
  readonly origin: string;
  /** Base addresses for clients. The one of Set B ends in `/v1`. */
  readonly baseUrls: { readonly a?: string; readonly b?: string };
  /** Address of the Guardian's page, and the token for its login. */
  readonly guardian: { readonly url: string; readonly token: string };
  /** Stops listening and breaks open connections. The network itself keeps running. */
  close(): Promise<void>;
}

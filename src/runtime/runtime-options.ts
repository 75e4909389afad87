/** The settings and parts that a runtime is made of. */
import type PQueue from "p-queue";
import type { KeyProvider } from "../client/auth.ts";
import type { Transport } from "../client/transport.ts";
import type { Profile } from "../contract/profile/profile.ts";
import type { Clock } from "../core/clock.ts";
import type { Announcer } from "../core/events.ts";
import type { Logger } from "../core/log.ts";
import type { Random } from "../core/random.ts";
import type { Scrubber } from "../core/scrubber.ts";
import type { UnderWay } from "../core/under-way.ts";
import type { Semaphore } from "../gateway/semaphore.ts";
import type { ToolDesk } from "../handlers/handling.ts";
import type { WorkerPool } from "../handlers/worker/worker-pool.ts";
import type { Pacer } from "../limits/pacing.ts";
import type { SharedLists } from "../polling/shared-lists.ts";
import type { Caps, Specialist } from "../specialist/specialist.ts";
import type { Retention } from "../store/history.ts";
import type { Store } from "../store/store.ts";
import type { ReceiverSettings } from "../webhooks/receiver-settings.ts";
import type { Dependencies } from "./dependencies.ts";
import type { ModelAccess } from "./open-models.ts";

export interface RuntimeOptions {
  readonly specialists: readonly Specialist[];
  readonly profile: Profile;
  readonly baseUrl: string;
  readonly store: Store;
  readonly transport: Transport;
  readonly keys: KeyProvider;
  /** Called when a specialist has another key than before. */
  readonly onKeyReplaced?: () => void;
  readonly pacer: Pacer;
  /** Requests that may leave at once, for runtimes that share sockets. Default: those of one transport. */
  readonly places?: Semaphore;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Learns every secret, and cleans answers, deliveries and errors of them. Give it to the logger as well. Default: a new one. */
  readonly scrubber?: Scrubber;
  readonly announcer?: Announcer;
  /** Caps on the spending of all specialists together. */
  readonly guardianCaps?: Caps;
  readonly zone?: string;
  /** Concurrent handlers, over all specialists. Default 32. */
  readonly handlers?: number;
  /** A queue of handlers, and looks at public lists, that this runtime shares with others of its process. Default: its own. */
  readonly handlerQueue?: PQueue;
  readonly sharedLists?: SharedLists;
  readonly spread?: Dependencies["spread"];
  readonly keptOut?: Dependencies["keptOut"];
  /** Retention of rows that nothing needs. Default: events and requests 30 days, intents 90. */
  readonly retention?: Retention;
  /** Time that a stop waits for answers. Default 25 s. */
  readonly drainMs?: number;
  readonly fetch?: typeof globalThis.fetch;
  /** The models that definitions may ask. Default: none. */
  readonly models?: ModelAccess;
  /** The tools of MCP servers. Its owner closes it. Default: none is reached. */
  readonly tools?: ToolDesk | undefined;
  /**
   * `refuse` for a dry run: it reads, handles and decides as usual, and the gateway sends no write. Default `send`. Its decisions are
   * stored as refused, so it must not use the project's own store: `launch` opens one in memory.
   */
  readonly writes?: "send" | "refuse";
  /** Acts on commands only: nothing is polled, handled or sent on its own. Default false. */
  readonly passive?: boolean;
  /** Runs definitions with `isolate: "worker"`. Its owner closes it. Default: everything runs in this thread. */
  readonly isolation?: WorkerPool;
  /** The end, on the monotonic clock, of what other processes may have sent; infinite while one is stopped. Default: there is none. */
  readonly sentElsewhereUntil?: () => number;
  /** Follows handlers that take time, for whoever waits for a moment to stop. Default: nobody does. */
  readonly underWay?: UnderWay;
  /** Settings of the webhook receiver. Default: none. */
  readonly receiver?: ReceiverSettings;
}

/** Options of a store in one SQLite file. */
import type { Clock } from "../../core/clock.ts";
import type { Fatal, RetinueError } from "../../core/errors.ts";
import type { Random } from "../../core/random.ts";
import type { Ledger } from "../ledger.ts";
import type { Observe } from "./fact-log.ts";
import type { Numbers } from "./numbers.ts";
import type { SharedMoney } from "./shared-money.ts";
import type { DatabaseOptions, OpenDatabase } from "./database.ts";

export interface SqliteStoreOptions extends DatabaseOptions {
  /** A file, or `:memory:`. */
  readonly path: string;
  /** An open database instead of the path; left open at the end. For simulated processes, which share one disk. */
  readonly database?: OpenDatabase;
  readonly clock: Clock;
  readonly random: Random;
  /** The Guardian's IANA time zone. Default UTC. */
  readonly zone?: () => string;
  /** Time after its deadline in which a request may still count, from the network's profile. */
  readonly lateLandingMs?: number;
  /** The ledger of another store, in place of its own: for a dry run, whose reads are charged to the project's. */
  readonly ledger?: Ledger;
  /** Does the reads for people in a thread, if the store has a file: the process has other work to do. Default false. */
  readonly readsBeside?: boolean;
  /** Set if the store can only be read: the error of every write. It is opened without a lock, beside its user. */
  readonly readOnly?: RetinueError;
  /** Called once when a commit fails: nothing can be stored, so nothing may be sent. */
  readonly onLost?: (error: Fatal) => void;
  /** For oracles: called with each fact after it is applied. */
  readonly observe?: Observe;
  /** For oracles: called once with a function that returns the differences between memory and rows. */
  readonly onOpened?: (differences: () => readonly string[]) => void;
  /** Default: a store that one process has alone. */
  readonly numbers?: Numbers;
  /** Default: this store has all of the Guardian's money. */
  readonly shared?: SharedMoney;
  /** Leaves nothing to add up when it is closed: its rows go elsewhere. Default: as for `numbers`. */
  readonly rollsUpAtEnd?: boolean;
  /** Called after each commit. */
  readonly onCommitted?: () => void;
}

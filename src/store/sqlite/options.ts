/** What a store in one SQLite file is opened with. */
import type { Clock } from "../../core/clock.ts";
import type { Fatal } from "../../core/errors.ts";
import type { Random } from "../../core/random.ts";
import type { Ledger } from "../store.ts";
import type { DatabaseOptions, OpenDatabase } from "./database.ts";

export interface SqliteStoreOptions extends DatabaseOptions {
  /** A file, or `:memory:`. */
  readonly path: string;
  /** Already open, instead of the path; left open at the end. For simulated processes, which come and go over one disk. */
  readonly database?: OpenDatabase;
  readonly clock: Clock;
  readonly random: Random;
  /** The Guardian's IANA time zone. Default UTC. */
  readonly zone?: () => string;
  /** How late a request may still be counted after its deadline, from the network's profile. */
  readonly lateLandingMs?: number;
  /** The ledger of another store, in place of its own: for a dry run, whose reads are charged to the project's. */
  readonly ledger?: Ledger;
  /** Told once when a commit fails: nothing can be stored, so nothing may be sent. */
  readonly onLost?: (error: Fatal) => void;
}

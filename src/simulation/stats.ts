/** Counts the results of a simulated run. */
import type { Announcements } from "../core/events.ts";
import type { Specialist } from "../specialist/specialist.ts";
import type { OpenDatabase } from "../store/sqlite/database.ts";
import type { Waiting } from "./backlog.ts";
import { createHandlings } from "./handlings.ts";

/** The numbers of a simulation: requests, intents by operation and state, crashes, doubts. */
export interface SimulationStats {
  readonly requests: number;
  readonly effects: number;
  readonly commits: number;
  readonly lives: number;
  readonly crashes: number;
  readonly stops: number;
  readonly jumps: number;
  readonly rotations: number;
  readonly outages: number;
  readonly halts: number;
  readonly storms: number;
  /** Of several processes: lost sessions, ends in order, and specialists that went from one process to another. */
  readonly disconnections: number;
  readonly departures: number;
  readonly takeovers: number;
  /** Webhook deliveries answered by the receiver. */
  readonly deliveries: number;
  readonly approvals: number;
  /** By `operation state`. */
  readonly intents: { readonly [what: string]: number };
  /** By `kind state`. */
  readonly events: { readonly [what: string]: number };
  /** Intents that were in doubt at some time. */
  readonly doubts: number;
  readonly parked: number;
  /** Doubts that reading back can resolve: it has been seen to show this operation's effects. */
  readonly provenDoubts: number;
  /** Proven doubts that were left to a person. */
  readonly provenParked: number;
  /** Intents left to a person, by `operation code`. */
  readonly parkedFor: { readonly [what: string]: number };
  /** Actions that wait at the end behind a spending cap that is used up, by operation. */
  readonly waiting: { readonly [what: string]: number };
  /** Specialists that may act and never decided to, with the number of events their handlers took. */
  readonly undecided: { readonly [handle: string]: number };
  /** Handlings that failed, by `handle kind: message`. The first 20 are told apart. */
  readonly failures: { readonly [what: string]: number };
}

/**
 * Selects intents that reading back can resolve: it has been seen to find this operation's effects with a key they were sent with, and
 * shows them all.
 */
const PROVEN = `effect = 'reconciled' AND operation <> 'jobs.create' AND coalesce(code, '') <> 'absent_unproven' AND EXISTS (
  SELECT 1 FROM attempt JOIN proof USING (key_id)
  WHERE attempt.intent_seq = intent.seq AND proof.operation = intent.operation AND proof.proven = 1)`;

type Counter =
  | "requests"
  | "commits"
  | "crashes"
  | "stops"
  | "jumps"
  | "rotations"
  | "outages"
  | "halts"
  | "approvals"
  | "storms"
  | "disconnections"
  | "departures"
  | "takeovers"
  | "deliveries";

export type Counting = Record<Counter, number> & {
  error(message: string): void;
  errors(): readonly string[];
  /** Counts one handling. */
  run(what: Announcements["run"]): void;
  close(end: End): SimulationStats;
};

/** The state at the end of a run. */
interface End extends Pick<SimulationStats, "effects" | "lives"> {
  readonly databases: readonly OpenDatabase["db"][];
  readonly specialists: readonly Specialist[];
  readonly backlog: readonly Waiting[];
}

const MAX_ERRORS = 20;

export function createStats(): Counting {
  const errors = new Set<string>();
  const handlings = createHandlings();
  const counting: Counting = {
    requests: 0,
    commits: 0,
    crashes: 0,
    stops: 0,
    jumps: 0,
    rotations: 0,
    outages: 0,
    halts: 0,
    storms: 0,
    disconnections: 0,
    departures: 0,
    takeovers: 0,
    deliveries: 0,
    approvals: 0,
    error: (message) => void (errors.size < MAX_ERRORS && errors.add(message)),
    errors: () => [...errors],
    run: (what) => handlings.add(what),
    close({ databases, effects, lives, specialists, backlog }) {
      const { requests, commits, crashes, stops, jumps, rotations, outages, halts, storms, deliveries, approvals } = counting;
      const { disconnections, departures, takeovers } = counting;
      const counts = (sql: string): SimulationStats["intents"] =>
        addedUp(databases.flatMap((db) => db.prepare(sql).all()).map((row) => [String(row["what"]), Number(row["n"])]));
      const one = (sql: string): number => databases.reduce((sum, db) => sum + Number(db.prepare(sql).get()?.["n"] ?? 0), 0);
      return {
        requests,
        effects,
        commits,
        lives,
        crashes,
        stops,
        jumps,
        rotations,
        outages,
        halts,
        approvals,
        storms,
        disconnections,
        departures,
        takeovers,
        deliveries,
        intents: counts("SELECT operation || ' ' || state AS what, count(*) AS n FROM intent GROUP BY 1"),
        events: counts("SELECT kind || ' ' || state AS what, count(*) AS n FROM event GROUP BY 1"),
        doubts: one("SELECT count(*) AS n FROM intent WHERE ever_unknown = 1"),
        parked: one("SELECT count(*) AS n FROM intent WHERE state = 'parked'"),
        provenDoubts: one(`SELECT count(*) AS n FROM intent WHERE ever_unknown = 1 AND ${PROVEN}`),
        parkedFor: counts("SELECT operation || ' ' || code AS what, count(*) AS n FROM intent WHERE state = 'parked' GROUP BY 1"),
        provenParked: one(`SELECT count(*) AS n FROM intent WHERE state = 'parked' AND ${PROVEN}`),
        waiting: countsOf(backlog.map(({ operation }) => operation)),
        undecided: handlings.undecided(specialists),
        failures: handlings.failures(),
      };
    },
  };
  return counting;
}

/** Sums by name, in the order of names. */
function addedUp(counts: readonly (readonly [name: string, n: number])[]): { readonly [name: string]: number } {
  const sums = [...Map.groupBy(counts, ([name]) => name)].map(([name, all]) => [name, all.reduce((sum, [, n]) => sum + n, 0)] as const);
  return Object.fromEntries(sums.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function countsOf(names: readonly string[]): { readonly [name: string]: number } {
  return Object.fromEntries([...Map.groupBy(names, (name) => name)].map(([name, all]) => [name, all.length]));
}

/** Rows that a start leaves for later: what is past. Of these tables it reads the few rows that the present is made of. */
import { INTENTS_OF_RUN } from "../../live/facts.ts";
import { OPEN } from "../sqlite/fold.ts";
import { OPEN_HOLDS, OPEN_INTENTS } from "./migrations/0001-tables.ts";

/**
 * `decisions`: rows that say what a specialist has done before, so it begins nothing without all of them. `people`: rows that only people
 * ask for.
 */
export type PastUse = "decisions" | "people";

/** The numbers after which a start reads every row: of facts, and of entries in the ledger of money. */
export interface StartsAfter {
  readonly facts: number;
  readonly entries: number;
}

interface PastTable {
  readonly use: PastUse;
  /** The rows that a start needs: a condition, or the queries of their shards and numbers. `$1` is the list of shards, `@` the schema. */
  readonly needed: (after: StartsAfter) => string | readonly string[];
}

const HERE = "WHERE shard = ANY($1::int[])";
const later = (table: string, column: string, after: number, and = "true"): string =>
  `SELECT shard, ${column} FROM @.${table} ${HERE} AND seq > ${after} AND ${and}`;
const open = (kind: number): string => `SELECT shard, seq FROM @.open ${HERE} AND kind = ${kind}`;
const ofOpenIntents = (column: string): string => `SELECT shard, ${column} FROM @.intent ${HERE} AND ${OPEN_INTENTS}`;
const laterFacts = ({ facts }: StartsAfter): string => `seq > ${facts}`;

const TABLES: { readonly [table: string]: PastTable } = {
  event: {
    use: "decisions",
    needed: ({ facts }) => [
      later("event", "seq", facts),
      open(OPEN.event),
      later("change", "subject", facts, "kind = 0"),
      later("run", "event", facts),
      ofOpenIntents("event_seq"),
    ],
  },
  intent: {
    use: "decisions",
    needed: ({ facts }) => [
      ofOpenIntents("seq"),
      later("intent", "seq", (facts + 1) * INTENTS_OF_RUN - 1),
      later("attempt", "intent", facts, "intent IS NOT NULL"),
      later("change", "subject", facts, "kind = 1"),
    ],
  },
  hold: { use: "decisions", needed: () => OPEN_HOLDS },
  attempt: { use: "people", needed: ({ facts }) => [later("attempt", "seq", facts), open(OPEN.attempt)] },
  answer: { use: "people", needed: laterFacts },
  run: { use: "people", needed: laterFacts },
  change: { use: "people", needed: laterFacts },
  spend_entry: { use: "people", needed: ({ entries }) => `seq > ${entries}` },
};

/** The query of the rows of a table that a start needs; undefined if it needs all. */
export function neededRows(table: string, columns: readonly string[], after: StartsAfter): string | undefined {
  const needed = TABLES[table]?.needed(after);
  if (needed === undefined) return undefined;
  if (typeof needed === "string") return `SELECT ${columns.join(", ")} FROM @.${table} ${HERE} AND ${needed}`;
  // Each row is looked up by its key, however many the planner expects: a scan would read the whole past.
  return `SELECT t.* FROM (${needed.join(" UNION ")}) AS wanted (shard, seq) CROSS JOIN LATERAL (
    SELECT ${columns.join(", ")} FROM @.${table} AS t WHERE t.shard = wanted.shard AND t.seq = wanted.seq OFFSET 0) AS t`;
}

export const pastTables = (use: PastUse): readonly string[] => Object.keys(TABLES).filter((table) => TABLES[table]?.use === use);

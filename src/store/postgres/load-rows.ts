/** Loads the rows of some shards from the server into a working copy: all, or those that a start needs. */
import type { Handle, KeyId } from "../../core/ids.ts";
import type { Row } from "../sqlite/columns.ts";
import type { TableShape } from "../sqlite/row-changes.ts";
import type { WorkingCopy } from "../sqlite/working-copy.ts";
import { columnsOf } from "./commit-groups.ts";
import type { HolderGroup } from "./holders.ts";
import type { PostgresConnection, PostgresRow, Statement } from "./open-connection.ts";
import { SHARDS } from "./ownership.ts";
import { neededRows, type StartsAfter } from "./past-rows.ts";
import { NO_SHARD, ROW_PLACES } from "./row-places.ts";

export interface Loading {
  readonly schema: string;
  readonly copy: WorkingCopy;
  readonly group: HolderGroup;
  /** Undefined for a copy that is only read, which gets all rows. A holder gets those that its start needs. */
  readonly holder: number | undefined;
  readonly now: number;
}

/** Tables whose rows without a shard concern every holder. */
const SHARED: ReadonlySet<string> = new Set(["spend_frozen"]);

export interface Places {
  readonly keys: Map<KeyId, number>;
  readonly placements: Map<Handle, number>;
  /** True if money is held. */
  readonly hasHolds: boolean;
}

/** Rows that come in one answer: however many a table has, few are in memory at once. */
const BATCH = 4_096;

/** Reads every table in one transaction, all at once: a table of few rows costs no round trip of its own. */
export async function loadRows(connection: PostgresConnection, loading: Loading): Promise<Places> {
  const { copy, schema } = loading;
  const keys = new Map<KeyId, number>();
  let hasHolds = false;
  // Counts of intents are rows of their own, written over those that the intents' rows make.
  const shapes = copy.shapes.toSorted((a, b) => Number(a.name === "intent_count") - Number(b.name === "intent_count"));
  const after = loading.holder === undefined ? undefined : await startsAfter(connection, schema, loading.holder);
  const begun = connection.query({ text: "BEGIN" });
  const tables = shapes.map((shape) => ({
    shape,
    batches: openBatches(connection, shape.name, statementFor(shape, loading, after), BATCH),
  }));
  await begun;
  for (const { shape, batches } of tables) {
    const { name } = shape;
    const own = ROW_PLACES[name] === "holder";
    for await (const rows of batches) {
      if (name === "quota_key") for (const row of rows) keys.set(String(row["key_id"]) as KeyId, Number(row["shard"]));
      if (name === "hold") hasHolds ||= rows.some(({ state }) => state === "open");
      copy.load(
        name,
        rows.map((row) => (own ? { one: 1, ...row } : row) as Row),
      );
    }
    if (name === "spend_row" && loading.holder !== undefined) copy.load(name, await guardianRows(connection, loading));
  }
  copy.indexLoaded();
  const placed = await connection.query({ text: `SELECT specialist, shard FROM ${schema}.placement` });
  await connection.query({ text: "COMMIT" });
  return { keys, placements: new Map(placed.map((row) => [String(row["specialist"]) as Handle, Number(row["shard"])])), hasHolds };
}

/** The mark up to which everything that facts have changed is in rows, and sums contain them. */
async function startsAfter(connection: PostgresConnection, schema: string, holder: number): Promise<StartsAfter> {
  const [row] = await connection.query({
    text: `SELECT least(m.seq, m.quota, r.facts) AS facts, r.entries FROM ${schema}.mark m JOIN ${schema}.rolled_up r USING (holder) WHERE holder = $1`,
    values: [holder],
  });
  return { facts: Number(row?.["facts"] ?? 0), entries: Number(row?.["entries"] ?? 0) };
}

/** Asks for the first rows at once, and for further ones while those before are taken in. Inside a transaction. */
export function openBatches(
  connection: PostgresConnection,
  table: string,
  { text, values }: Statement,
  batch: number,
): AsyncIterable<readonly PostgresRow[]> {
  const cursor = `load_${table}`;
  const ask = (): Promise<readonly PostgresRow[]> => {
    const rows = connection.query({ text: `FETCH ${batch} FROM ${cursor}` });
    rows.catch(() => undefined); // who waits for it is told
    return rows;
  };
  const declared = connection.query({
    text: `DECLARE ${cursor} NO SCROLL CURSOR FOR ${text}`,
    ...(values === undefined ? {} : { values }),
  });
  const first = Promise.all([declared, ask()]);
  first.catch(() => undefined);
  return {
    async *[Symbol.asyncIterator]() {
      let [, rows] = await first;
      while (rows.length === batch) {
        const next = ask();
        yield rows;
        rows = await next;
      }
      yield rows;
    },
  };
}

function statementFor(shape: TableShape, { schema, group, holder }: Loading, after: StartsAfter | undefined): Statement {
  const { name } = shape;
  const { columns } = columnsOf(shape);
  const needed = after === undefined ? undefined : neededRows(name, columns, after);
  if (needed !== undefined) return { text: needed.replaceAll("@", schema), values: [group.shards] };
  const text = `SELECT ${columns.join(", ")} FROM ${schema}.${name}`;
  const place = ROW_PLACES[name];
  if (place === "all") return { text };
  if (place === "holder") {
    if (holder === undefined) return { text: `${text} ORDER BY holder DESC LIMIT 1` };
    return { text: `${text} WHERE holder = $1`, values: [holder] };
  }
  const lowest = SHARED.has(name) || (holder === undefined && name !== "spend_row") ? NO_SHARD : 0;
  if (group.shards.length === SHARDS) return { text: `${text} WHERE shard >= ${lowest}` };
  return { text: `${text} WHERE shard = ANY($1::int[])`, values: [lowest === NO_SHARD ? [NO_SHARD, ...group.shards] : group.shards] };
}

/**
 * The Guardian's account begins empty with each holder, which stores what it adds. The rows of others are there with nothing in them, so that
 * what another holder held can be released where it was held.
 */
async function guardianRows(connection: PostgresConnection, { schema, now }: Loading): Promise<readonly Row[]> {
  const rows = await connection.query({
    text: `SELECT DISTINCT scope, currency, span, start, until, ends, 0 AS held, 0 AS posted FROM ${schema}.spend_row
      WHERE shard = ${NO_SHARD} AND (ends > $1 OR held <> 0)`,
    values: [now],
  });
  return rows as readonly Row[];
}

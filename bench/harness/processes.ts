/** A contender's processes: one, or several that share the work on one server, each asked for what is its own. */
import { Client } from "pg";
import { SHARDS } from "../../src/store/postgres/ownership.ts";
import { hashedShard } from "../../src/store/postgres/shard-map.ts";
import { drive, type LoadEnd, type LoadOptions } from "./load.ts";
import { serverCpuMs, serverOf } from "./server-usage.ts";
import { startSubject, type Subject } from "./subject.ts";

/** The process that has a shard, by its number: each has the same count of them. */
export const ownerOfShard = (shard: number, processes: number): number => Math.floor((shard * processes) / SHARDS);

/** The process that has a specialist. */
export const ownerOf = (handle: string, processes: number): number => ownerOfShard(hashedShard(handle), processes);

/** The first one makes the tables. */
export async function startProcesses(
  file: string,
  processes: number,
  settings: Readonly<Record<string, unknown>>,
): Promise<readonly Subject[]> {
  const subjects: Subject[] = [];
  for (let process = 0; process < processes; process++) {
    const share = processes === 1 ? {} : { share: { process, processes } };
    subjects.push(await startSubject(file, { ...settings, ...share }, file === "retinue.ts" ? "retinue" : "peer"));
  }
  return subjects;
}

export interface SharedLoad {
  readonly requests: readonly Buffer[];
  /** The specialist of each request. */
  readonly handleOf: (n: number) => string;
  readonly inFlight: number;
  readonly perSecond?: number;
  readonly onSent: (n: number) => void;
  readonly onAnswer?: (n: number) => void;
}

/** Shares the requests out to the processes that have their specialists, before the clock starts. The returned function sends them. */
export function shareOut(
  subjects: readonly Pick<Subject, "port">[],
  { requests, handleOf, inFlight, perSecond, onSent, onAnswer }: SharedLoad,
): () => Promise<LoadEnd> {
  const count = subjects.length;
  const numbers = Map.groupBy(requests.keys(), (n) => ownerOf(handleOf(n), count));
  const loads = subjects.map(({ port }, process): LoadOptions => {
    const own = numbers.get(process) ?? [];
    const numberOf = (k: number): number => own[k] ?? 0;
    return {
      port,
      total: own.length,
      requests: own.flatMap((n) => requests[n] ?? []),
      inFlight: Math.max(1, Math.round(inFlight / count)),
      ...(perSecond === undefined ? {} : { perSecond: perSecond / count }),
      onSent: (k) => onSent(numberOf(k)),
      ...(onAnswer === undefined ? {} : { onAnswer: (k: number) => onAnswer(numberOf(k)) }),
    };
  });
  return async () => {
    const ends = await Promise.all(loads.map(drive));
    const sum = (what: "again" | "refused"): number => ends.reduce((all, end) => all + end[what], 0);
    return { tookMs: Math.max(...ends.map(({ tookMs }) => tookMs)), again: sum("again"), refused: sum("refused") };
  };
}

/** What a server has done so far. */
export interface ServerUse {
  /** Transactions that wrote. Each of ours is one statement. */
  readonly writes: number;
  readonly cpuMs: number;
  /** Bytes of its log. */
  readonly walBytes: number;
  /** Bytes of the database: tables with their indexes. */
  readonly storedBytes: number;
}

/** Zeros without a server. */
export async function serverUse(postgres: unknown): Promise<ServerUse> {
  if (typeof postgres !== "string") return { writes: 0, cpuMs: 0, walBytes: 0, storedBytes: 0 };
  const client = new Client({ connectionString: postgres });
  await client.connect();
  try {
    const { rows } = await client.query<{ readonly wal: string; readonly stored: string; readonly next: string }>(
      "SELECT pg_current_wal_lsn() - '0/0' AS wal, pg_database_size(current_database()) AS stored, pg_snapshot_xmax(pg_current_snapshot()) AS next",
    );
    return {
      writes: Number(rows[0]?.next),
      cpuMs: serverCpuMs(await serverOf(postgres)),
      walBytes: Number(rows[0]?.wal),
      storedBytes: Number(rows[0]?.stored),
    };
  } finally {
    await client.end();
  }
}

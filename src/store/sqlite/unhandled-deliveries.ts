/** Bodies of unhandled deliveries: the newest are kept for a person to read, and the ids of all stay known. */
import type { DatabaseSync } from "node:sqlite";
import { PRUNE_BATCH } from "../../limits/row-lifetimes.ts";
import { numberOf, textOf } from "./columns.ts";

/** Bounds after pruning. Between two prunings there may be twice as much; further ones are stored without their body. */
export const UNHANDLED_KEPT = { ofKind: 100, ofSpecialist: 1_000, bytes: 16 * 1_024 * 1_024 } as const;
const BETWEEN_PRUNINGS = 2;

export interface UnhandledDeliveries {
  /** True if one more body may be kept. */
  hasRoom(specialist: string, kind: string | null | undefined, bytes: number): boolean;
  /** Counts one more kept body. */
  add(specialist: string, kind: string | null | undefined, bytes: number): void;
  /** Drops the oldest bodies, a bounded number at a time, inside a transaction the caller owns. */
  prune(): void;
  /** Cached counts may no longer be true. */
  forget(): void;
}

interface Kept {
  n: number;
  bytes: number;
  readonly ofKind: Map<string, number>;
}

export function createUnhandledDeliveries(db: DatabaseSync): UnhandledDeliveries {
  const kept = "FROM delivery INDEXED BY delivery_leftover WHERE done_at IS NOT NULL AND body IS NOT NULL";
  const count = db.prepare(`
    SELECT specialist, coalesce(kind, '') AS kind, count(*) AS n, sum(length(body)) AS bytes ${kept} GROUP BY specialist, kind`);
  const dropOfKind = db.prepare(`
    UPDATE delivery SET body = NULL WHERE seq IN (SELECT seq FROM (
      SELECT seq, row_number() OVER (PARTITION BY specialist, kind ORDER BY seq DESC) AS place ${kept}
    ) WHERE place > ${UNHANDLED_KEPT.ofKind} LIMIT ${PRUNE_BATCH})`);
  const dropOfSpecialist = db.prepare(`
    UPDATE delivery SET body = NULL WHERE seq IN (SELECT seq FROM (
      SELECT seq, row_number() OVER newest AS place, sum(length(body)) OVER newest AS bytes ${kept}
      WINDOW newest AS (PARTITION BY specialist ORDER BY seq DESC)
    ) WHERE place > ${UNHANDLED_KEPT.ofSpecialist} OR bytes > ${UNHANDLED_KEPT.bytes} LIMIT ${PRUNE_BATCH})`);
  /** Counted once and then cached, so that a delivery needs no further statement. */
  let counted: Map<string, Kept> | undefined;

  const countAll = (): Map<string, Kept> => {
    const all = new Map<string, Kept>();
    for (const row of count.all())
      add(keptOf(all, textOf(row, "specialist")), textOf(row, "kind"), { n: numberOf(row, "n"), bytes: numberOf(row, "bytes") });
    return all;
  };

  return {
    hasRoom(specialist, kind, bytes) {
      const has = keptOf((counted ??= countAll()), specialist);
      return (
        (has.ofKind.get(kind ?? "") ?? 0) < BETWEEN_PRUNINGS * UNHANDLED_KEPT.ofKind &&
        has.n < BETWEEN_PRUNINGS * UNHANDLED_KEPT.ofSpecialist &&
        has.bytes + bytes <= BETWEEN_PRUNINGS * UNHANDLED_KEPT.bytes
      );
    },
    add(specialist, kind, bytes) {
      if (counted !== undefined) add(keptOf(counted, specialist), kind ?? "", { n: 1, bytes });
    },
    prune() {
      dropOfKind.run();
      dropOfSpecialist.run();
      counted = undefined;
    },
    forget: () => void (counted = undefined),
  };
}

function keptOf(all: Map<string, Kept>, specialist: string): Kept {
  const known = all.get(specialist);
  if (known !== undefined) return known;
  const none: Kept = { n: 0, bytes: 0, ofKind: new Map() };
  all.set(specialist, none);
  return none;
}

function add(kept: Kept, kind: string, { n, bytes }: Pick<Kept, "n" | "bytes">): void {
  kept.n += n;
  kept.bytes += bytes;
  kept.ofKind.set(kind, (kept.ofKind.get(kind) ?? 0) + n);
}

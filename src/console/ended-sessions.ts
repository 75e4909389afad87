/** Sessions that their holders have ended: a copy of the cookie opens nothing, also after a restart. One small row, bounded, by the session's name. */
import type { Clock } from "../core/clock.ts";
import { isObject } from "../core/json.ts";
import type { NetworkStateStore } from "../store/network-state.ts";

export interface EndedSessions {
  has(id: string): boolean;
  /** Resolves once it is on disk. `until` is the end that the session had. */
  add(id: string, until: number): Promise<void>;
}

const ROW = { kind: "console", name: "ended sessions" } as const;
/** Beyond it the next one that would end by itself is forgotten. */
const MOST_KEPT = 1_000;

export async function openEndedSessions(store: NetworkStateStore, clock: Clock): Promise<EndedSessions> {
  const row = (await store.networkState()).find(({ kind, name }) => kind === ROW.kind && name === ROW.name);
  const stored = isObject(row?.data["until"]) ? Object.entries(row.data["until"]) : [];
  const ended = new Map(stored.flatMap(([id, until]): [string, number][] => (typeof until === "number" ? [[id, until]] : [])));
  return {
    has: (id) => ended.has(id),
    async add(id, until) {
      ended.set(id, until);
      const now = clock.now();
      const kept = [...ended].filter(([, end]) => end > now).sort(([, a], [, b]) => b - a);
      ended.clear();
      for (const [one, end] of kept.slice(0, MOST_KEPT)) ended.set(one, end);
      await store.saveNetworkState({ put: [{ ...ROW, data: { until: Object.fromEntries(ended) } }], drop: [] }, now);
    },
  };
}

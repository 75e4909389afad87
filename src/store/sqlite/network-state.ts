/** Network state in SQLite: a few rows, read once at the start and written on change. */
import type { DatabaseSync } from "node:sqlite";
import type { Commits } from "./commits.ts";
import { objectOf, textOf } from "./columns.ts";
import type { NetworkStateStore } from "../network-state.ts";

export function createNetworkState(db: DatabaseSync, commits: Commits): NetworkStateStore {
  const all = db.prepare("SELECT kind, name, data FROM standing ORDER BY kind, name");
  const put = db.prepare(`
    INSERT INTO standing (kind, name, data, updated_at) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (kind, name) DO UPDATE SET data = ?3, updated_at = ?4`);
  const drop = db.prepare("DELETE FROM standing WHERE kind = ? AND name = ?");
  return {
    networkState: async () =>
      all.all().map((row) => ({ kind: textOf(row, "kind"), name: textOf(row, "name"), data: objectOf(row, "data") })),
    saveNetworkState: (change, now) =>
      commits.hard(() => {
        for (const { kind, name } of change.drop) drop.run(kind, name);
        for (const { kind, name, data } of change.put) put.run(kind, name, JSON.stringify(data), now);
      }),
  };
}

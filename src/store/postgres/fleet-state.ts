/** Rows that concern no specialist, as those of the console and of the alerts. */
import { isObject, parseJson } from "../../core/json.ts";
import type { NetworkStateChange, NetworkStateRow } from "../network-state.ts";
import type { Query } from "./in-schema.ts";

export async function readNetworkState(query: Query): Promise<readonly NetworkStateRow[]> {
  const rows = await query("SELECT kind, name, data FROM @.standing ORDER BY kind, name");
  return rows.map(({ kind, name, data }) => {
    const value = parseJson(String(data));
    return { kind: String(kind), name: String(name), data: isObject(value) ? value : {} };
  });
}

export async function saveNetworkState(query: Query, { put, drop }: NetworkStateChange, now: number): Promise<void> {
  for (const { kind, name } of drop) await query("DELETE FROM @.standing WHERE kind = $1 AND name = $2", [kind, name]);
  for (const { kind, name, data } of put)
    await query(
      `INSERT INTO @.standing (kind, name, data, updated_at) VALUES ($1, $2, $3, $4)
        ON CONFLICT (kind, name) DO UPDATE SET data = excluded.data, updated_at = excluded.updated_at`,
      [kind, name, JSON.stringify(data), now],
    );
}

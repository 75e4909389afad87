/** Facts about the store itself, by name. The caller owns the transaction. */
import type { DatabaseSync } from "node:sqlite";
import { isObject, parseJson, type JsonObject } from "../../core/json.ts";
import { textOf } from "./columns.ts";

export interface Metadata {
  get(name: string): string | undefined;
  /** Empty if there is none, or none that can be read. */
  getObject(name: string): JsonObject;
  set(name: string, value: string): void;
  remove(name: string): void;
}

export function createMetadata(db: DatabaseSync): Metadata {
  const read = db.prepare("SELECT value FROM meta WHERE name = ?");
  const write = db.prepare("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)");
  const drop = db.prepare("DELETE FROM meta WHERE name = ?");
  const get = (name: string): string | undefined => {
    const row = read.get(name);
    return row === undefined ? undefined : textOf(row, "value");
  };
  return {
    get,
    getObject(name) {
      const value = parseJson(get(name) ?? "");
      return isObject(value) ? value : {};
    },
    set: (name, value) => void write.run(name, value),
    remove: (name) => void drop.run(name),
  };
}

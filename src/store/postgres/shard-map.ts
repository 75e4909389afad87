/** The shard of each specialist and key: stored if they were placed, else by a hash of the name. */
import { createHash } from "node:crypto";
import type { Handle, KeyId } from "../../core/ids.ts";
import type { WorkingCopy } from "../sqlite/working-copy.ts";
import { SHARDS } from "./ownership.ts";
import type { ShardMap } from "./row-places.ts";

export interface ShardMapOptions {
  /** Of keys that have rows. New ones are added. */
  readonly keys: Map<KeyId, number>;
  /** Of specialists that stand elsewhere than their hash says. Those that are placed later are added. */
  readonly placements: ReadonlyMap<Handle, number>;
  readonly copy: Pick<WorkingCopy, "holderOf">;
  readonly home: number;
}

export function shardMap({ keys, placements, copy, home }: ShardMapOptions): ShardMap {
  const ofSpecialist = (handle: Handle): number => placements.get(handle) ?? hashedShard(handle);
  return {
    home,
    ofSpecialist,
    ofKey(key) {
      const known = keys.get(key);
      if (known !== undefined) return known;
      const holder = copy.holderOf(key);
      const shard = holder === undefined ? hashedShard(key) : ofSpecialist(holder);
      keys.set(key, shard);
      return shard;
    },
  };
}

/** The shard of a name that was not placed, in SQL. */
export function hashedShardSql(name: string): string {
  const hash = `sha256(convert_to(${name}, 'UTF8'))`;
  return `((get_byte(${hash}, 0) * 256 + get_byte(${hash}, 1)) % ${SHARDS})`;
}

const MOST_KNOWN = 100_000;
const shardsByName = new Map<string, number>();

/** The shard of a name that was not placed. */
export function hashedShard(name: string): number {
  const known = shardsByName.get(name);
  if (known !== undefined) return known;
  const shard = createHash("sha256").update(name).digest().readUInt16BE(0) % SHARDS;
  if (shardsByName.size < MOST_KNOWN) shardsByName.set(name, shard);
  return shard;
}

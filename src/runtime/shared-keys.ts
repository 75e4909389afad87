/** Specialists of a process by their keys: those of one key are together in one shard, or not at work, because its quota would be counted twice. */
import type { Config } from "../config/config.ts";
import { keyVariablesNow } from "../config/key-sources.ts";
import type { Handle } from "../core/ids.ts";
import type { Logger } from "../core/log.ts";
import { Secret } from "../core/secret.ts";
import { KEY_CHECK_MS } from "../gateway/keys.ts";
import type { KeyTrouble } from "../gateway/member.ts";
import { remedyFor } from "../limits/wait-rules.ts";
import type { HeldStore } from "../store/postgres/postgres-store.ts";
import type { Membership } from "../store/postgres/membership.ts";
import type { KeyGroup } from "../store/postgres/placements.ts";
import type { FleetOptions } from "./fleet-options.ts";
import { keysOf, type LaunchOptions } from "./launch.ts";

/** Specialists by their keys. One whose key cannot be read now is in no group: it waits for its key. */
export function groupByKey(
  handles: readonly Handle[],
  config: Config,
  { scrubber, salt }: Pick<LaunchOptions, "scrubber"> & { readonly salt: Secret },
): readonly KeyGroup[] {
  const now = { ...config, environment: keyVariablesNow(config.environment) };
  const keys = keysOf(now, salt, scrubber);
  const groups = Map.groupBy(handles, (handle) => {
    try {
      return keys.current(handle).fingerprint;
    } catch {
      return undefined; // the runtime says why, and looks again
    }
  });
  return [...groups].flatMap(([key, members]) => (key === undefined ? [] : [{ key, members }]));
}

/** Shards of this process with those that work there. */
export interface Worked extends Pick<HeldStore, "has" | "place"> {
  readonly runtime: { member(handle: string): unknown };
}

type Placing = Pick<Membership, "place" | "salt">;

/** Specialists that a message names. */
const NAMED = 3;

export interface SharedKeysOptions {
  readonly keyGroups: FleetOptions["keyGroups"];
  readonly log: Logger;
  readonly now: () => number;
}

export class SharedKeys {
  readonly #options: SharedKeysOptions;
  #keptOut: ReadonlyMap<Handle, KeyTrouble> = new Map();
  /** The groups as they were placed last, and by what session. */
  #placed = "";
  #by: unknown;
  #isDue = false;
  #lookedAt = 0;
  #shards: ReadonlyMap<Handle, number> = new Map();

  constructor(options: SharedKeysOptions) {
    this.#options = options;
  }

  /** The specialists that do not run, because each shares its key with a specialist elsewhere. */
  get keptOut(): ReadonlyMap<Handle, KeyTrouble> {
    return this.#keptOut;
  }

  /** A key took the place of another. */
  keyReplaced(): void {
    this.#isDue = true;
  }

  /** True if they are to be placed: the last try failed, a key was replaced, or it is time to read the keys of those that are kept out. */
  get isDue(): boolean {
    return this.#isDue || (this.#keptOut.size > 0 && Math.abs(this.#options.now() - this.#lookedAt) >= KEY_CHECK_MS);
  }

  /** False for one that shares its key with a specialist elsewhere. */
  mayRun(handle: Handle): boolean {
    return !this.#keptOut.has(handle);
  }

  /** True if a specialist works there that must not: the store has to be opened again without it. */
  isMixed({ has, runtime }: Worked): boolean {
    return [...this.#keptOut.keys()].some((handle) => has(handle) && runtime.member(handle) !== undefined);
  }

  /**
   * Puts those that share a key now into one shard, for stores that are open too. Returns specialists that may run again. Nothing is asked if
   * the groups are those of the last call.
   */
  async place(membership: Placing, open: readonly Pick<HeldStore, "place">[]): Promise<readonly Handle[]> {
    this.#isDue = false;
    this.#lookedAt = this.#options.now();
    try {
      return await this.#place(membership, open);
    } catch (error) {
      this.#isDue = true;
      throw error;
    }
  }

  async #place(membership: Placing, open: readonly Pick<HeldStore, "place">[]): Promise<readonly Handle[]> {
    const groups = this.#options.keyGroups(new Secret(membership.salt));
    const placing = JSON.stringify(groups);
    if (placing === this.#placed && membership === this.#by) return [];
    const { apart, shards } = await membership.place(groups);
    this.#shards = shards;
    for (const one of open) this.applyTo(one);
    const freed = [...this.#keptOut.keys()].filter((handle) => !apart.includes(handle));
    this.#keptOut = new Map(apart.map((handle) => [handle, this.#keepOut(handle, groups, apart)]));
    this.#placed = placing;
    this.#by = membership;
    return freed;
  }

  /** Told again only if it shares its key with others than before. */
  #keepOut(handle: Handle, groups: readonly KeyGroup[], apart: readonly Handle[]): KeyTrouble {
    const { log, now } = this.#options;
    const others = groups.find(({ members }) => members.includes(handle))?.members.filter((one) => !apart.includes(one)) ?? [];
    const named = [...others.slice(0, NAMED), ...(others.length > NAMED ? [`${others.length - NAMED} more`] : [])];
    const whom = named.length === 0 ? "a specialist" : named.join(", ");
    const message = `it shares its key with ${whom} in another shard, so it does not run`;
    const known = this.#keptOut.get(handle);
    if (known?.message === message) return known;
    log.error(message, { handle, hint: remedyFor("key_shared", { handle, id: handle, name: handle }) });
    return { code: "key_shared", message, since: known?.since ?? now() };
  }

  /** Tells a store that is open where they were placed. */
  applyTo({ place }: Pick<HeldStore, "place">): void {
    for (const [handle, shard] of this.#shards) place(handle, shard);
  }
}

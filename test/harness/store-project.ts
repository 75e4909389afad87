/** A project folder with a store that nothing runs on, and the commands in it. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../src/core/clock.ts";
import { isObject, parseJson, type JsonObject } from "../../src/core/json.ts";
import { systemRandom } from "../../src/core/random.ts";
import { asHandle } from "../../src/core/ids.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";
import { inProcess, type Finished } from "./cli.ts";
import { project } from "./project.ts";

export interface StoreProject {
  readonly root: string;
  /** Runs a command, and gives what a person sees. */
  run(...args: readonly string[]): Promise<Finished>;
  /** Runs it with `--json`, and gives its one object. */
  json(...args: readonly string[]): Promise<{ readonly code: number | null; readonly said: JsonObject }>;
  /** Looks into the store, which must be free. */
  inStore<T>(look: (store: Store, now: number) => Promise<T>): Promise<T>;
}

/** `scout` has run there; `fill` writes further rows. */
export async function storeProject(
  fill: (store: Store, now: number) => Promise<unknown> = async () => undefined,
  {
    files = {},
    env = {},
  }: { readonly files?: { readonly [path: string]: string }; readonly env?: { readonly [name: string]: string } } = {},
): Promise<StoreProject> {
  const { root } = project(files);
  mkdirSync(join(root, ".retinue"));
  const clock = systemClock();
  const inStore: StoreProject["inStore"] = async (look) => {
    const store = openSqliteStore({ path: join(root, ".retinue/store.sqlite"), clock, random: systemRandom() });
    try {
      return await look(store, clock.now());
    } finally {
      await store.close();
    }
  };
  await inStore(async (store, now) => {
    await store.saveAccount(asHandle("scout"), "agt_1", now);
    await fill(store, now);
  });
  const run: StoreProject["run"] = (...args) => inProcess(args, { cwd: root, env });
  return {
    root,
    run,
    async json(...args) {
      const { code, stdout } = await run(...args, "--json");
      const said = parseJson(stdout);
      return { code, said: isObject(said) ? said : {} };
    },
    inStore,
  };
}

/** The error of a command's one object. */
export function errorOf(said: JsonObject): JsonObject {
  const { error } = said;
  return isObject(error) ? error : {};
}

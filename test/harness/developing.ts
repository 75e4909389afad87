/** A project under development: real files, definitions in threads, and each edit timed from its save until it is in use. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { loadConfig } from "../../src/config/config.ts";
import { createDefinitionLoader } from "../../src/config/definitions.ts";
import { shippedProfile } from "../../src/contract/profile/profile.ts";
import { systemClock } from "../../src/core/clock.ts";
import { createAnnouncer } from "../../src/core/events.ts";
import { silentLogger } from "../../src/core/log.ts";
import { createWorkerPool } from "../../src/handlers/worker/worker-pool.ts";
import { readRoster } from "../../src/runtime/launch.ts";
import { keepReloading } from "../../src/runtime/reload.ts";
import type { RunRequest } from "../../src/specialist/run-request.ts";
import type { RunResult } from "../../src/specialist/run.ts";
import type { Specialist } from "../../src/specialist/specialist.ts";
import { handlingOf } from "./run-request.ts";

export interface Developing {
  readonly threads: () => number;
  /** The messages about definitions. */
  readonly told: readonly string[];
  write(path: string, text: string): void;
  /** Writes a file. Resolves with the milliseconds until a message contains `expected`. */
  edit(path: string, text: string, expected: string): Promise<number>;
  /** The specialist in use. */
  specialist(handle: string): Specialist;
  /** Handles one event by the version in use. */
  handle(handle: string, kind: string, over?: Partial<RunRequest>): Promise<RunResult>;
  close(): Promise<void>;
}

export async function develop(files: { readonly [path: string]: string }): Promise<Developing> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "retinue-test-")));
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  for (const [path, text] of Object.entries(files)) write(path, text);
  const clock = systemClock();
  const log = silentLogger();
  const config = await loadConfig({ env: {}, cwd: root });
  const pool = createWorkerPool({ clock, log, keepsSpare: true });
  const loader = createDefinitionLoader(clock, (file) => pool.evaluate(file));
  const load = () => readRoster(config, shippedProfile("b"), clock, { loader });
  const roster = await load();
  const used = new Map<string, Specialist>();
  const use = (specialist: Specialist): void => {
    pool.use(specialist);
    used.set(specialist.handle, specialist);
  };
  for (const { specialist } of roster.definitions) use(specialist);
  const told: string[] = [];
  const waiting = new Set<() => void>();
  const announcer = createAnnouncer();
  announcer.on("definition", ({ handle, message }) => {
    told.push(`${handle} ${message}`);
    for (const look of waiting) look();
  });
  const runtime = {
    announcer,
    put: (specialist: Specialist) => Promise.resolve(use(specialist)),
    retire: (handle: string) => void used.delete(handle),
  };
  const end = new AbortController();
  const over = keepReloading({ config, roster, runtime, clock, log, load, loader, refresh: () => false, isHasty: true }, end.signal);
  const specialist = (handle: string): Specialist => {
    const found = used.get(handle);
    if (found === undefined) throw new Error(`there is no ${handle}: ${told.join(", ")}`);
    return found;
  };
  return {
    threads: () => pool.threads,
    told,
    write,
    specialist,
    edit(path, text, expected) {
      const from = told.length;
      const began = clock.monotonic();
      return new Promise((resolve) => {
        const look = (): void => {
          if (!told.slice(from).some((line) => line.includes(expected))) return;
          waiting.delete(look);
          resolve(clock.monotonic() - began);
        };
        waiting.add(look);
        write(path, text);
      });
    },
    handle: (handle, kind, about = {}) => {
      const { request } = handlingOf({ clock, event: { ...handlingOf().request.event, kind }, ...about });
      return pool.run(specialist(handle), kind, request);
    },
    async close() {
      end.abort();
      await over;
      await pool.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

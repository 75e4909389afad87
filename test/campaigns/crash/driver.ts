/** The process that is killed: the runtime with real time, disk and sockets. Its settings come as one JSON argument. */
import { flushCompileCache } from "node:module";
import { createKeys } from "../../../src/client/auth.ts";
import { createTransport, type Transport } from "../../../src/client/transport.ts";
import { resolveProfile } from "../../../src/contract/profile/profile.ts";
import { systemClock } from "../../../src/core/clock.ts";
import { createLogger } from "../../../src/core/log.ts";
import { systemRandom } from "../../../src/core/random.ts";
import { Secret } from "../../../src/core/secret.ts";
import { readListState, type Gap } from "../../../src/polling/list-state.ts";
import type { IntentState } from "../../../src/outbox/intent.ts";
import { livePacer } from "../../../src/limits/pacing.ts";
import { createRuntime } from "../../../src/runtime/runtime.ts";
import { createSpecialist } from "../../../src/specialist/specialist.ts";
import { parseStoreAddress } from "../../../src/config/store-address.ts";
import { openWhenFree } from "./open-when-free.ts";
import type { Store } from "../../../src/store/store.ts";
import { TIMING, victims } from "./victim.ts";

export interface DriverSettings {
  /** For files of this process. */
  readonly folder: string;
  /** The address of the store. */
  readonly store: string;
  readonly baseUrl: string;
  /** By handle. */
  readonly keys: { readonly [handle: string]: string };
  /** Posts outside the feed that are answered all the time. */
  readonly roots: readonly string[];
  /** The process kills itself at this call to store or network, before it or after it. */
  readonly dieAt?: number;
}

/** What the process says of its store, as one line of JSON, again and again. */
export interface DriverReport {
  /** Differences between memory and rows. */
  readonly drift: readonly string[];
  /** Intents neither settled nor parked, and events that were handled when several processes ended and wait for their last try. */
  readonly open: number;
  readonly lists: readonly {
    readonly handle: string;
    readonly name: string;
    /** When it was read last. */
    readonly lookedAt: number | undefined;
    readonly gaps: readonly Gap[];
  }[];
}

const OPEN: readonly IntentState[] = ["proposed", "ready", "sending", "in_doubt", "pending"];
const TELL_EVERY_MS = 200;
/** Younger intents are on their way. */
const YOUNG_MS = 2_000;
const MANY = 100_000;

const settings = JSON.parse(process.argv[2] ?? "{}") as DriverSettings;
let boundaries = 0;

/** The end of a process that nothing in it can notice. */
function boundary(): void {
  if (++boundaries === settings.dieAt) process.kill(process.pid, "SIGKILL");
}

async function across<T>(call: () => Promise<T>): Promise<T> {
  boundary();
  const result = await call();
  boundary();
  return result;
}

function mortal(store: Store): Store {
  return new Proxy(store, {
    get(target, name) {
      const operation: unknown = Reflect.get(target, name);
      if (typeof operation !== "function") return operation;
      return (...args: unknown[]): unknown => {
        boundary();
        const result: unknown = Reflect.apply(operation, target, args);
        if (result instanceof Promise) return across(() => result);
        boundary();
        return result;
      };
    },
  });
}

const specialists = victims(settings.roots).map((victim) => createSpecialist(victim));
const clock = systemClock();
const random = systemRandom();
const profile = resolveProfile({ extends: "set-b", timing: TIMING });
/** Commits between two comparisons of memory and rows. */
const COMPARED_EVERY = 10;
const drift: string[] = [];
let differences: () => readonly string[] = () => [];
let commits = 0;
const compare = (): void => void drift.push(...differences().slice(0, 3));
const store = await openWhenFree(parseStoreAddress(settings.store, settings.folder), {
  clock,
  random,
  lateLandingMs: profile.timing.lateLandingMs,
  onOpened: (found) => void (differences = found),
  onCommitted: () => void (++commits % COMPARED_EVERY === 0 && compare()),
});
const transport = createTransport({ clock });
const send: Transport = (request) => across(() => transport.send(request));
const runtime = createRuntime({
  specialists,
  profile,
  baseUrl: settings.baseUrl,
  store: settings.dieAt === undefined ? store : mortal(store),
  transport: settings.dieAt === undefined ? transport.send : send,
  keys: createKeys({ read: (handle) => settings.keys[handle], salt: new Secret("crash") }),
  pacer: livePacer(clock, { spacingMs: 0 }),
  clock,
  random,
  log: createLogger({
    level: "error",
    now: () => clock.now(),
    sink: ({ message, fields }) => process.stderr.write(`${message} ${JSON.stringify(fields)}\n`),
  }),
});

async function report(): Promise<DriverReport> {
  const intents = await Promise.all(specialists.map(({ handle }) => store.intents({ specialist: handle, states: OPEN, limit: MANY })));
  const lists = await Promise.all(
    specialists.map(async ({ handle }) =>
      (await store.sources(handle)).map(({ name, cursor }) => {
        const { gaps, cursor: list } = readListState(cursor, 0);
        return { handle, name, lookedAt: list.lookedAt, gaps };
      }),
    ),
  );
  const { eventCount, parkedCount } = await store.failing(undefined, 1);
  const underWay = intents.flat().filter(({ createdAt }) => createdAt < clock.now() - YOUNG_MS).length;
  return { open: underWay + eventCount - parkedCount, drift, lists: lists.flat() };
}

async function tell(): Promise<void> {
  process.stdout.write(`${JSON.stringify(await report())}\n`);
}

await runtime.start();
process.stdout.write(`ready ${process.pid}\n`);
await tell(); // what the one before recorded and could not tell any more
flushCompileCache(); // else only an orderly end writes it
const telling = setInterval(() => void tell(), TELL_EVERY_MS);
process.once("SIGTERM", () => {
  clearInterval(telling);
  void runtime
    .stop()
    .then(() => compare())
    .then(() => tell())
    .then(() => store.close())
    .then(() => transport.close());
});

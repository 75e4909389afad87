/** Retinue inside a program: the same checks, limits and promises as `retinue run`. */
import type { Transport } from "./client/transport.ts";
import { openSurfaces, type Surfaces } from "./console/open-interfaces.ts";
import { loadConfig } from "./config/config.ts";
import { shareVariables } from "./config/environment.ts";
import { systemClock } from "./core/clock.ts";
import { defined } from "./core/defined.ts";
import { messageOf } from "./core/errors.ts";
import {
  ANNOUNCEMENT_NAMES,
  createAnnouncer,
  subscribe,
  type AnnouncementName,
  type Announcements,
  type Announcer,
} from "./core/events.ts";
import { createLogger, type LogLine, type Logger, type LogLevel } from "./core/log.ts";
import { systemRandom } from "./core/random.ts";
import { Scrubber } from "./core/scrubber.ts";
import { createGuardian, type Guardian } from "./guardian/guardian.ts";
import { PROGRAM } from "./guardian/record-orders.ts";
import type { Caller } from "./store/orders.ts";
import { launch, planCast, planLaunch, type LaunchOptions, type LaunchPlan, type Life } from "./runtime/launch.ts";
import type { SeenRuntime } from "./runtime/seen-runtime.ts";
import type { SpecialistDefinition } from "./specialist/definition.ts";

/** A listener for each name of an announcement. */
export type Listeners = { readonly [name in AnnouncementName]?: ((what: Announcements[name]) => void) | undefined };

/** Options of `startRetinue`. Settings come from the folder `cwd` and the variables, as for `retinue run`. */
export interface RetinueOptions {
  /** The folder of the project: `retinue.config.ts`, `.env` and the definitions are found from here. */
  readonly cwd: string;
  /**
   * Variables in place of those of the process. `.env` is read beside them. Without it, the variables of `.env` (`RETINUE_*` excepted) are
   * set in `process.env`, where definitions read them.
   */
  readonly env?: { readonly [name: string]: string | undefined };
  /** Definitions in code, in place of the folder of definitions. They are not reloaded. */
  readonly specialists?: readonly SpecialistDefinition[];
  /**
   * Wraps the function by which requests leave: for a proxy, a recording or tracing. It sees requests with their keys. Admission comes
   * before it, so it must pass each request on at most once.
   */
  readonly transport?: (next: Transport) => Transport;
  /** `refuse` reads and decides, and sends no write: a dry run. Default `send`. */
  readonly writes?: "send" | "refuse";
  /** Takes each log line, without known secrets; lines that repeat are summed up. Default: log lines are dropped. */
  readonly log?: (line: LogLine) => void;
  /** The lowest level of log lines. Default: `RETINUE_LOG_LEVEL`, else `info`. */
  readonly logLevel?: LogLevel;
  /** Listeners, set before anything happens. A listener that throws is logged and changes nothing. */
  readonly on?: Listeners;
}

/** The working specialists of this process. */
export interface Retinue extends AsyncDisposable {
  /** The Guardian's interface: status, why, approve, halt and the rest. */
  readonly guardian: Guardian;
  /** Announcements of work in progress, for display and counters. */
  readonly events: Announcer;
  /**
   * Begins no new work, waits for answers in flight (at most `drainMs`), and closes everything. Calls share one stop. Rejects with `Fatal`
   * (`store_lost`) if the store could not be written to the end.
   */
  stop(): Promise<void>;
}

/**
 * Starts the specialists of a folder, or those given in code, on the network that settings name. The store is bound to this
 * process until `stop` resolves. The commands (`retinue status` and the rest) reach it like any runtime.
 *
 * @throws `Misconfigured` for the first mistake in settings, profile, definitions or keys, before anything is opened.
 * @throws `Retryable` (`store_in_use`, `port_in_use`) if another process holds the store or a port.
 */
export async function startRetinue(options: RetinueOptions): Promise<Retinue> {
  const { cwd, env, specialists, transport, writes = "send" } = options;
  const clock = systemClock();
  const scrubber = new Scrubber();
  const variables = env === undefined ? shareVariables(cwd) : undefined;
  const config = await loadConfig(defined({ cwd, env }));
  const log = createLogger({
    level: options.logLevel ?? config.logLevel,
    now: () => clock.now(),
    scrubber,
    sink: options.log ?? (() => undefined),
  });
  const events = createAnnouncer();
  listen(events, options.on ?? {}, log);
  // The commands print the announcement itself; a program that listens to nothing finds it in its log.
  subscribe(events, "run", ({ result, handle, event, message, tries, file, line }) => {
    if (tries === undefined) return;
    log.warn("a handler failed", { handle, ...defined({ event, message, file, line }), parked: result === "parked" });
  });
  const plan = await planLaunch(config, clock, await planCast(config, clock, { given: specialists }));
  for (const { message, code, file, hint } of plan.warnings) log.warn(message, { code, file, hint });
  const launchOptions: LaunchOptions = {
    config,
    clock,
    random: systemRandom(),
    log,
    scrubber,
    announcer: events,
    writes,
    fixed: specialists !== undefined,
    ...defined({ variables }),
    ...(transport === undefined ? {} : { transport }),
  };
  const { launched, runtime, guardianOf } = await open(plan, launchOptions);
  const close = (): Promise<void> => launched.stop().finally(() => log.flush());
  let surfaces: Surfaces | undefined;
  const end = async (): Promise<void> => {
    await launched.drain();
    await surfaces?.close();
    await close();
  };
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopped ??= end());
  try {
    surfaces = await openSurfaces({ config, runtime, guardianOf, log, announcer: events, scrubber, onStop: () => void stop() });
    await launched.start();
  } catch (error) {
    await stop();
    throw error;
  }
  return { guardian: guardianOf(PROGRAM), events, stop, [Symbol.asyncDispose]: stop };
}

interface Opened {
  readonly launched: Life;
  readonly runtime: SeenRuntime;
  readonly guardianOf: (caller: Caller) => Guardian;
}

/** On a store of its own, or as one process of those that share a store on a server. */
async function open(plan: LaunchPlan, options: LaunchOptions): Promise<Opened> {
  const { store: address } = plan.config;
  const { clock } = options;
  if (address.kind === "postgres" && options.writes === "send") {
    const [{ launchFleet }, { answerRequest, guardianOfFleet, passOn }] = await Promise.all([
      import("./runtime/launch-fleet.ts"),
      import("./guardian/fleet-guardian.ts"),
    ]);
    const fleet = await launchFleet(plan, { ...options, address, answer: answerRequest, passOn });
    return { launched: fleet, runtime: fleet.runtime, guardianOf: (caller) => guardianOfFleet(fleet, caller) };
  }
  const launched = await launch(plan, options);
  const { runtime, store } = launched;
  const live = { runtime, startedAt: clock.now(), baseUrl: plan.baseUrl };
  return { launched, runtime, guardianOf: (caller) => createGuardian({ store, clock, live, caller }) };
}

function listen(events: Announcer, listeners: Listeners, log: Logger): void {
  for (const name of ANNOUNCEMENT_NAMES) listenTo(events, name, listeners, log);
}

function listenTo<Name extends AnnouncementName>(events: Announcer, name: Name, listeners: Listeners, log: Logger): void {
  const listener: ((what: Announcements[Name]) => void) | undefined = listeners[name];
  if (listener === undefined) return;
  subscribe(events, name, (what) => {
    try {
      listener(what);
    } catch (error) {
      log.error(`a listener for "${name}" failed`, { message: messageOf(error) });
    }
  });
}

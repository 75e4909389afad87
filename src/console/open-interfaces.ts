/** Opens the interfaces by which people reach a running runtime: the control socket of the commands, and the console's port. */
import type { Config } from "../config/config.ts";
import type { ConsoleSettings } from "../config/console-settings.ts";
import { storeFile } from "../config/store-address.ts";
import { systemClock } from "../core/clock.ts";
import { messageOf } from "../core/errors.ts";
import type { Announcer } from "../core/events.ts";
import type { Logger } from "../core/log.ts";
import type { Scrubber } from "../core/scrubber.ts";
import { isTraced } from "../core/trace-ids.ts";
import { controlPath, isServed, serveControl, type Control } from "../guardian/control-socket.ts";
import type { Guardian } from "../guardian/guardian.ts";
import type { Snapshot } from "../guardian/status.ts";
import { PROGRAM } from "../guardian/record-orders.ts";
import type { Caller } from "../store/orders.ts";
import type { SeenRuntime } from "../runtime/seen-runtime.ts";
import type { Signals } from "../signals/open-signals.ts";
import type { Console } from "./console.ts";
import type { SharedStatus } from "./shared-status.ts";

export interface SurfaceOptions {
  readonly config: Config;
  readonly runtime: SeenRuntime;
  readonly guardianOf: (caller: Caller) => Guardian;
  readonly announcer: Announcer;
  readonly log: Logger;
  readonly scrubber: Scrubber;
  /** Called when a command asks the runtime to stop. */
  readonly onStop: () => void;
}

export interface Surfaces {
  /** The console's address; undefined if the settings give it no port. */
  readonly consoleUrl: string | undefined;
  close(): Promise<void>;
}

/** Opens the interfaces in the settings. Throws `Retryable` (`port_in_use`) or `Misconfigured` if one cannot be opened. */
export async function openSurfaces(options: SurfaceOptions): Promise<Surfaces> {
  const control = await openControl(options);
  let console: Console | undefined;
  let status: SharedStatus | undefined;
  try {
    status = await openStatus(options);
    console = await openConsolePort(options, status);
    const signals = await openSignalsOf(options, { consoleUrl: console?.url, status });
    return {
      consoleUrl: console?.url,
      async close() {
        await signals?.close();
        await console?.close();
        await status?.close();
        await control?.close();
      },
    };
  } catch (error) {
    await console?.close();
    await status?.close();
    await control?.close();
    throw error;
  }
}

/** One status for pages, metrics and alerts. Loaded only where one of them reads it. */
async function openStatus({ config, guardianOf, runtime }: SurfaceOptions): Promise<SharedStatus | undefined> {
  if (config.console.port === undefined && config.alerts === undefined) return undefined;
  const [{ createSharedStatus }, { statusOfLost }] = await Promise.all([import("./shared-status.ts"), import("../guardian/status.ts")]);
  const guardian = guardianOf(PROGRAM);
  const { clock, storeLost, unkeptHalts, profile } = runtime.parts;
  const since = clock.now();
  const status = async (): Promise<Snapshot> => {
    try {
      return await guardian.status({});
    } catch (error) {
      const lost = storeLost();
      if (lost === undefined) throw error;
      return statusOfLost({
        at: clock.now(),
        running: { pid: process.pid, since, baseUrl: config.network.baseUrl ?? "", set: profile.set },
        storeLost: { message: lost.message, hint: "mend the server of the store, or the way to it; the processes go on by themselves" },
        unkept: unkeptHalts.all(),
      });
    }
  };
  return createSharedStatus({ clock, status });
}

/** Commands find a runtime by its store's path; a store in memory has none. */
async function openControl({ config, guardianOf, announcer, log, onStop }: SurfaceOptions): Promise<Control | undefined> {
  const file = storeFile(config.store);
  // Of several processes in one folder, the first one serves: all know of each other by the server.
  const isOthers = async (): Promise<boolean> => config.store.kind === "postgres" && (await isServed(file, systemClock()));
  if (file === ":memory:" || (await isOthers())) return undefined;
  try {
    return await serveControl({ path: controlPath(file), guardianOf, announcer, log, onStop });
  } catch (error) {
    if (await isOthers()) return undefined; // it began at the same moment
    throw error;
  }
}

/** Loaded only where there is an SDK for traces, or a target of alerts. */
async function openSignalsOf(
  options: SurfaceOptions,
  { consoleUrl, status }: { readonly consoleUrl: string | undefined; readonly status: SharedStatus | undefined },
): Promise<Signals | undefined> {
  const { config } = options;
  if (!isTraced() && config.alerts === undefined) return undefined;
  const { openSignals } = await import("../signals/open-signals.ts");
  return openSignals({ ...options, status, consoleUrl: config.console.url?.href ?? consoleUrl });
}

async function openConsolePort(options: SurfaceOptions, status: SharedStatus | undefined): Promise<Console | undefined> {
  const { config, runtime, guardianOf, announcer, log, scrubber } = options;
  if (config.console.port === undefined || status === undefined) return undefined;
  const settings = withKnownTokens(config.console, scrubber);
  const { openConsole } = await import("./console.ts"); // fastify is a third of the start, and most runtimes need no console
  const { store, clock } = runtime.parts;
  const { openMetrics } = await import("../signals/open-metrics.ts");
  const metrics = await openMetrics({
    announcer,
    clock,
    scrubber,
    status: () => status.read(),
    backlog: () => store.reads.backlog(),
    specialistCount: () => runtime.members().length,
  });
  const { openEndedSessions } = await import("./ended-sessions.ts");
  const ended = await openEndedSessions(store, clock);
  const onError = (error: unknown): void => log.error("the console failed", { message: messageOf(error) });
  return openConsole({ settings, clock: systemClock(), announcer, runtime, guardianOf, status, ended, metrics, onError });
}

/** The scrubber knows each token from its first use on, also one that replaces another. */
function withKnownTokens(settings: ConsoleSettings, scrubber: Scrubber): ConsoleSettings {
  const people = settings.people.map(({ readToken, ...person }) => ({
    ...person,
    readToken() {
      const token = readToken();
      if (token !== undefined) scrubber.add(token);
      return token;
    },
  }));
  for (const person of people) person.readToken();
  return { ...settings, people };
}

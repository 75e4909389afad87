/** Opens the interfaces by which people reach a running runtime: the control socket of the commands, and the console's port. */
import { lstatSync } from "node:fs";
import type { Config } from "../config/config.ts";
import type { ConsoleSettings } from "../config/console-settings.ts";
import { storeFile } from "../config/store-address.ts";
import { systemClock, type Timer } from "../core/clock.ts";
import { messageOf } from "../core/errors.ts";
import type { Announcer } from "../core/events.ts";
import type { Logger } from "../core/log.ts";
import type { Scrubber } from "../core/scrubber.ts";
import { isTraced } from "../core/trace-ids.ts";
import { SECOND } from "../core/units.ts";
import { controlPath, isServed, serveControl, type Control } from "../guardian/control-socket.ts";
import type { Guardian } from "../guardian/guardian.ts";
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
  const { createSharedStatus } = await import("./shared-status.ts");
  const guardian = guardianOf(PROGRAM);
  return createSharedStatus({ clock: runtime.parts.clock, status: () => guardian.status({}) });
}

/** Commands find a runtime by its store's path; a store in memory has none. */
async function openControl(options: SurfaceOptions): Promise<Control | undefined> {
  const { kind } = options.config.store;
  const file = storeFile(options.config.store);
  if (file === ":memory:") return undefined;
  if (kind !== "postgres") return serveControl({ ...options, path: controlPath(file) });
  const control = new FolderControl(options, file);
  await control.open();
  return control;
}

/** Interval of looks at the control socket of a folder. Commands there use the server by themselves until it has a successor. */
const CONTROL_LOOK_MS = 5 * SECOND;

/**
 * The control socket of a folder that several processes may share. The first one serves, since all know of each other by the server; as soon
 * as it has ended, another does.
 */
class FolderControl implements Control {
  readonly #options: SurfaceOptions;
  readonly #file: string;
  #served: { readonly control: Control; readonly inode: number | undefined } | undefined;
  #timer: Timer | undefined;
  #looking: Promise<void> | undefined;
  #told = "";
  #isClosed = false;

  constructor(options: SurfaceOptions, file: string) {
    this.#options = options;
    this.#file = file;
  }

  /** Throws as `serveControl` does. */
  async open(): Promise<void> {
    try {
      await this.#look();
    } catch (error) {
      if (!(await this.#isOthers())) throw error; // otherwise it began at the same moment
    }
    this.#lookLater();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    await this.#looking;
    await this.#served?.control.close();
  }

  #lookLater(): void {
    const { clock, writes } = this.#options.runtime.parts;
    if (this.#isClosed || writes === "refuse") return; // a dry run succeeds nobody: orders are for those who send
    this.#timer = clock.after(CONTROL_LOOK_MS, () => {
      this.#looking = this.#look()
        .then(
          () => void (this.#told = ""),
          (error: unknown) => this.#tell(messageOf(error)),
        )
        .finally(() => this.#lookLater());
    });
  }

  /** Serves, unless this process or another one does. Of two that begin at one moment, one replaces the socket of the other. */
  async #look(): Promise<void> {
    const path = controlPath(this.#file);
    if (this.#served !== undefined && this.#served.inode === inodeOf(path)) return;
    if ((await this.#isOthers()) || this.#isClosed) return;
    await this.#served?.control.close();
    this.#served = undefined;
    const control = await serveControl({ ...this.#options, path });
    this.#served = { control, inode: inodeOf(path) };
  }

  #isOthers(): Promise<boolean> {
    return isServed(this.#file, systemClock());
  }

  /** Once for each reason. */
  #tell(message: string): void {
    if (message !== this.#told) this.#options.log.warn("commands in this folder do not reach this process", { message });
    this.#told = message;
  }
}

function inodeOf(path: string): number | undefined {
  return lstatSync(path, { throwIfNoEntry: false })?.ino;
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

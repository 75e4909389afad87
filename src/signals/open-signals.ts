/** Opens the signals of a running runtime that were asked for: traces if an SDK is set up, alerts if the config file names targets. */
import { createTransport } from "../client/transport.ts";
import type { Config } from "../config/config.ts";
import { Misconfigured } from "../core/errors.ts";
import type { Announcer } from "../core/events.ts";
import type { Logger } from "../core/log.ts";
import { systemRandom } from "../core/random.ts";
import type { Scrubber } from "../core/scrubber.ts";
import { isTraced } from "../core/trace-ids.ts";
import { readVersion } from "../core/version.ts";
import type { Snapshot } from "../guardian/status.ts";
import type { SeenRuntime } from "../runtime/seen-runtime.ts";
import { openAlerts } from "./alerts.ts";
import { loadTraceApi } from "./trace-peer.ts";
import { traceAnnouncements, type Traces } from "./traces.ts";

export interface SignalOptions {
  readonly config: Config;
  readonly runtime: SeenRuntime;
  /** Undefined without alerts. */
  readonly status: { read(): Promise<Snapshot>; changed(): void } | undefined;
  readonly announcer: Announcer;
  readonly log: Logger;
  readonly scrubber: Scrubber;
  /** The console's own address. */
  readonly consoleUrl: string | undefined;
}

export interface Signals {
  close(): Promise<void>;
}

export async function openSignals(options: SignalOptions): Promise<Signals> {
  const closing = [await openTraces(options), await keepAlerts(options)];
  return {
    async close() {
      for (const close of closing) await close?.();
    },
  };
}

type Close = () => Promise<void>;

async function openTraces({ runtime, announcer, log, scrubber }: SignalOptions): Promise<Close | undefined> {
  if (!isTraced()) return undefined;
  const { store, clock } = runtime.parts;
  let traces: Traces;
  try {
    traces = traceAnnouncements(await loadTraceApi(), { announcer, log, scrubber, store: store.reads, clock, version: readVersion() });
  } catch (error) {
    if (!(error instanceof Misconfigured)) throw error;
    // An SDK that brings a copy of its own must not stop a runtime.
    log.warn("an OpenTelemetry SDK is set up, and no trace is sent", { message: error.message, hint: error.details.hint });
    return undefined;
  }
  return () => traces.close();
}

/** Largest answer of a target that is read. */
const MAX_ANSWER_BYTES = 64 * 1_024;

async function keepAlerts({ config, runtime, status, announcer, log, scrubber, consoleUrl }: SignalOptions): Promise<Close | undefined> {
  const { to, link = consoleUrl } = config.alerts ?? { to: [] };
  const { store, clock, writes } = runtime.parts;
  if (to.length === 0 || writes === "refuse" || status === undefined) return undefined;
  const transport = createTransport({ clock, maxBodyBytes: MAX_ANSWER_BYTES });
  const random = systemRandom();
  const alerts = await openAlerts({
    to,
    link,
    clock,
    log,
    scrubber,
    announcer,
    store,
    environment: config.environment,
    cwd: config.cwd,
    send: transport.send,
    status: () => status.read(),
    newId: () => random.word(ID_LENGTH),
    term: runtime.tellingTerm,
  });
  return async () => {
    const isLost = runtime.parts.storeLost() !== undefined;
    if (isLost) status.changed(); // nothing announces it
    await alerts.close({ isLost });
    await transport.close();
  };
}

const ID_LENGTH = 16;

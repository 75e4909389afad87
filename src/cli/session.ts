/** One run of a runtime under a command: started, shown, drained, summed up, closed. */
import { createAnnouncer, type Announcer } from "../core/events.ts";
import { defined } from "../core/defined.ts";
import { messageOf, isRetinueError, type Fatal } from "../core/errors.ts";
import { readLogLevel } from "../config/config.ts";
import { openEnvironment } from "../config/environment.ts";
import { throwMistakes, type Problem } from "../config/problem.ts";
import { createLogger, type LogLevel, type RootLogger } from "../core/log.ts";
import { systemRandom } from "../core/random.ts";
import { Scrubber } from "../core/scrubber.ts";
import { openSurfaces } from "../console/open-interfaces.ts";
import { createGuardian } from "../guardian/guardian.ts";
import { launch, type Launched, type LaunchOptions, type LaunchPlan } from "../runtime/launch.ts";
import { showRunning, type SpecialistShown } from "../guardian/status.ts";
import type { AtWork } from "./at-work.ts";
import type { Context } from "./command.ts";
import { inTurn } from "./command-turns.ts";
import { openLifetime, type End, type Lifetime } from "./lifetime.ts";
import type { Place } from "./frame.ts";
import { openLiveView } from "./live-view.ts";
import type { TextStream } from "./output.ts";
import { logSink, reportLines } from "./progress.ts";
import type { NetworkSummary } from "./run-summary.ts";
import { openServiceManager } from "./service-manager.ts";
import type { Text } from "./text.ts";

/** Things a command needs before launch: its log sink and its end. */
export interface Stage {
  readonly context: Context;
  readonly log: RootLogger;
  readonly scrubber: Scrubber;
  readonly announcer: Announcer;
  readonly lifetime: Lifetime;
  /** Prints for people; replaced while a live view has the screen. */
  print: (line: Text) => void;
  /** The reason if the store can no longer be written. */
  lost: Fatal | undefined;
  close(): void;
}

/** From here on signals request an orderly end. */
export function openStage(context: Context, forMs: number | undefined): Stage {
  const { out, clock } = context;
  const scrubber = new Scrubber();
  const lifetime = openLifetime(clock, forMs === undefined ? {} : { forMs });
  const log = createLogger({
    level: logLevelOf(context),
    now: () => clock.now(),
    scrubber,
    sink: logSink(out, (line) => stage.print(line)),
  });
  context.prints?.elsewhere(log);
  // A definition may leave a failing promise or timer behind; the others must survive it.
  const stray = (error: unknown): void =>
    log.error("something failed outside any handling", {
      message: messageOf(error),
      ...(isRetinueError(error) ? { code: error.code } : {}),
    });
  process.on("unhandledRejection", stray);
  process.on("uncaughtException", stray);
  const stage: Stage = {
    context,
    log,
    scrubber,
    announcer: createAnnouncer(),
    lifetime,
    print: (line) => out.line(line),
    lost: undefined,
    close() {
      log.flush();
      lifetime.close();
      process.off("unhandledRejection", stray);
      process.off("uncaughtException", stray);
    },
  };
  return stage;
}

/** Throws `Misconfigured` (`log_level_unknown`). */
function logLevelOf({ flags, cwd, env }: Context): LogLevel {
  const problems: Problem[] = [];
  const level = readLogLevel(flags, openEnvironment({ cwd, variables: env }), problems);
  throwMistakes(problems);
  return level;
}

/** Composes the runtime of a process that works: on a store of its own, or on a share of one that several processes have. */
export async function openWork(stage: Stage, plan: LaunchPlan, options: Parameters<typeof launchOn>[2] = {}): Promise<AtWork> {
  const { store } = plan.config;
  if (store.kind === "sqlite" || options.writes === "refuse") {
    const launched = await inTurn(stage.context.clock, () => launchOn(stage, plan, options));
    return workOn(stage, launched);
  }
  const { openFleet } = await import("./fleet-session.ts"); // nobody else pays for it
  return openFleet(launchOptions(stage, plan, options), plan, store);
}

export function workOn({ context: { clock } }: Stage, launched: Launched): AtWork {
  const { runtime, store, baseUrl } = launched;
  const live = { runtime, startedAt: clock.now(), baseUrl };
  return {
    ...launched,
    halts: async () => (await store.stops()).halts,
    isUnsigned: () => runtime.webhooks?.unsigned ?? false,
    guardianOf: (caller) => createGuardian({ store, clock, live, caller }),
    shown: () => showRunning(launched, clock),
  };
}

/** Opens the store and composes the runtime. Starts nothing. */
export function launchOn(
  stage: Stage,
  plan: LaunchPlan,
  options: Pick<LaunchOptions, "writes" | "passive" | "networkName" | "anyNetwork" | "isolation" | "isHasty" | "onLoaded"> = {},
): Promise<Launched> {
  return launch(plan, launchOptions(stage, plan, options));
}

function launchOptions(stage: Stage, { config }: LaunchPlan, options: Parameters<typeof launchOn>[2] = {}): LaunchOptions {
  const { log, scrubber, announcer, context, lifetime } = stage;
  const { clock, variables, prints } = context;
  const onLost = (error: Fatal): void => {
    stage.lost = error;
    lifetime.end("lost");
  };
  return {
    config,
    clock,
    random: systemRandom(),
    log,
    scrubber,
    announcer,
    onLost,
    capturesPrints: prints !== undefined,
    ...defined({ variables }),
    ...options,
  };
}

export interface Ended {
  readonly why: End;
  readonly shown: readonly SpecialistShown[];
}

/** Display during a run. */
export interface Showing {
  stopping(): void;
  close(): void;
}

/** The output of a command while it runs. */
export interface ShowOptions {
  readonly launched: AtWork;
  readonly forMs: number | undefined;
  /** Lines, also on a terminal. */
  readonly plain: boolean;
  readonly places?: readonly Place[];
  readonly totals?: () => NetworkSummary;
  /** Lines of before, which the view would hide. */
  readonly notes?: readonly string[];
}

/** A live view on a terminal; lines for pipes, logs and servers. */
export function showing(stage: Stage, options: ShowOptions): (places: readonly Place[]) => Showing {
  const { terminal } = stage.context.out;
  return terminal === undefined || options.plain
    ? (places) => showLines(stage, places)
    : (places) => showLive(stage, terminal, options, places);
}

function showLines({ announcer, context: { out, clock } }: Stage, [console]: readonly Place[]): Showing {
  return {
    stopping: () => out.progress({ type: "stopping", at: clock.now() }, out.paint.dim("stopping: waiting for answers in flight")),
    close: reportLines(announcer, out, clock, console && `${console.name}: ${console.text}`),
  };
}

function showLive(
  stage: Stage,
  terminal: TextStream,
  { launched, forMs, totals, places = [], notes = [] }: ShowOptions,
  more: readonly Place[],
): Showing {
  const { announcer, context } = stage;
  const { out, clock } = context;
  const view = openLiveView({
    terminal,
    paint: out.paint,
    clock,
    announcer,
    launched,
    set: launched.profile.set,
    endsAt: forMs === undefined ? undefined : clock.now() + forMs,
    places: [...more, ...places],
    ...defined({ totals }),
  });
  // They were printed before the view took the screen.
  for (const { message } of launched.warnings) view.note(`warning: ${message}`);
  for (const line of notes) view.note(line);
  const print = stage.print;
  stage.print = (line) => view.note(line);
  return {
    stopping: () => view.stopping(),
    close() {
      stage.print = print;
      view.close();
    },
  };
}

/** A service manager would restart the process, which then knew nothing of a halt that is not stored. */
async function heldByHalt({ log, lifetime }: Stage, { runtime }: AtWork): Promise<void> {
  if (runtime.parts.unkeptHalts.all().length === 0) return;
  log.warn("the process stays up for a halt that is not stored: free disk space or make the disk writable, then stop the process");
  await lifetime.asked;
}

/** Starts, and resolves once it has ended and drained. The store is still open. Throws the error that lost the store, if there is one. */
export async function live(stage: Stage, launched: AtWork, show: (places: readonly Place[]) => Showing): Promise<Ended> {
  const { lifetime, context } = stage;
  const { clock } = context;
  const { runtime, guardianOf } = launched;
  const { log, announcer, scrubber } = stage;
  const surfaces = await openSurfaces({
    config: launched.config,
    runtime,
    guardianOf,
    announcer,
    log,
    scrubber,
    onStop: () => lifetime.end("asked"),
  });
  const { consoleUrl: url } = surfaces;
  const { login } = launched.config.console;
  if (url !== undefined)
    context.out.progress({ type: "console", at: clock.now(), url }, `The console, to watch and approve: ${url} (log in with ${login})`);
  const shower = show(url === undefined ? [] : [{ name: "Console", text: `${url}  log in: ${login}` }]);
  const manager = openServiceManager({ env: context.env, clock, log });
  try {
    await launched.start();
    manager.ready();
    const why = await lifetime.over;
    if (why !== "lost") {
      manager.stopping(); // after a lost store the process may stay up for a halt, and must not be killed for it
      shower.stopping();
    }
    await launched.drain();
    log.flush();
    if (stage.lost !== undefined) {
      await heldByHalt(stage, launched);
      throw stage.lost;
    }
    return { why, shown: await launched.shown() };
  } finally {
    manager.close();
    shower.close();
    await surfaces.close();
  }
}

/** Retinue inside a program of your own: the same checks, limits and promises as `retinue run`, with your eyes on what happens. */
import { createGuardian, createLogger, type Guardian, launch, loadConfig, planLaunch, Scrubber, systemClock, systemRandom } from "retinue";

export interface Program {
  /** The folder with `retinue.config.ts`, `.env` and the definitions. */
  readonly folder: string;
  readonly env?: { readonly [name: string]: string | undefined };
  readonly print: (line: string) => void;
}

export interface Running {
  /** What the commands do: status, why, approve, halt and the rest. */
  readonly guardian: Guardian;
  stop(): Promise<void>;
}

/** Starts the specialists of a folder. Throws `Misconfigured` before anything was opened. */
export async function startProgram({ folder, env, print }: Program): Promise<Running> {
  const clock = systemClock();
  const scrubber = new Scrubber();
  const log = createLogger({
    level: "info",
    now: () => clock.now(),
    scrubber,
    sink: ({ level, message, fields }) => print(`${level} ${message} ${JSON.stringify(fields)}`),
  });
  const config = await loadConfig({ cwd: folder, ...(env === undefined ? {} : { env }) });
  const plan = await planLaunch(config, clock);
  const launched = await launch(plan, { config, clock, random: systemRandom(), log, scrubber });
  const { runtime, store } = launched;
  runtime.announcer.on("intent", ({ handle, operation, state }) => print(`${handle} ${operation} ${state}`));
  const guardian = createGuardian({ store, clock, live: { runtime, startedAt: clock.now(), baseUrl: plan.baseUrl } });
  await launched.start();
  return { guardian, stop: () => launched.stop() };
}

if (import.meta.main) {
  const program = await startProgram({ folder: import.meta.dirname, print: (line) => process.stdout.write(`${line}\n`) });
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void program.stop());
}

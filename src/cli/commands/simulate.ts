/** `retinue simulate`: virtual days and weeks of the specialists, with seeded faults, and the promises checked after every step. */
import { readAnswers, readCrowd, readReplies, type ReadFile } from "../../config/simulation-files.ts";
import type { Problem } from "../../config/problem.ts";
import { planCast } from "../../runtime/launch.ts";
import { defined } from "../../core/defined.ts";
import { DAY, HOUR, MINUTE, showDuration } from "../../core/units.ts";
import { answeringFetch } from "../../simulation/answering-fetch.ts";
import { scriptAnswers, type ModelReplies } from "../../simulation/scripted-answers.ts";
import { MAX_PROCESSES, simulate } from "../../simulation/simulate.ts";
import { UNHURRIED } from "../../simulation/situation.ts";
import { requireModels } from "../../simulation/staged-models.ts";
import type { SimulationProgress } from "../../simulation/simulate-options.ts";
import { choiceOption, durationOption, textOption, wholeOption } from "../args.ts";
import { EXIT, OPTIONS, type Command, type Context, type ExitCode } from "../command.ts";
import { problemJson } from "../output.ts";
import { createSimulationReport } from "../simulation-report.ts";
import { showWorking } from "../working.ts";

const MAX_SEEDS = 1_000_000;
const DEFAULT_MS = 7 * DAY;
export const command: Command = {
  name: "simulate",
  describe:
    "Runs the specialists in virtual time against a local network with every kind of fault: lost answers, crashes, wrong clocks. " +
    "Checks after every step that nothing is lost, doubled, overspent or over a limit. A seed always gives the same run.",
  options: [
    OPTIONS.config,
    OPTIONS.agents,
    OPTIONS.set,
    { flags: "--seeds <number>", describe: "number of runs, each with its own seed (default: 1)" },
    { flags: "--seed <number>", describe: "the first seed (default: 1)" },
    { flags: "--for <time>", describe: "virtual time of a run, such as 12h or 30d (default: 7d)" },
    { flags: "--faults <none|swarm|all>", describe: "none, those that the seed chooses, or all at once (default: swarm)" },
    { flags: "--processes <number>", describe: "processes that work on one store, as a fleet does (default: 1)" },
    { flags: "--webhooks", describe: "the network also sends webhooks (Set B only)" },
    { flags: "--crowd <file>", describe: "the posts, replies and jobs of others, and how many come in an hour (YAML or JSON)" },
    { flags: "--fetch <file>", describe: "the answers to the definitions' own requests, by act.fetch (YAML or JSON)" },
    { flags: "--models <file>", describe: "the replies of models, by name: no real model is asked (YAML or JSON)" },
  ],
  examples: [
    "retinue simulate",
    "retinue simulate --seeds 100 --for 1d",
    "retinue simulate --seed 4711 --faults all",
    "retinue simulate --for 1d --processes 3",
    "retinue simulate --for 1d --crowd crowd.yaml --fetch answers.yaml",
    "retinue simulate --for 1d --models replies.yaml",
  ],
  async run(context) {
    const { out, clock, version, options, cwd, command: name } = context;
    const seeds = wholeOption(options, "seeds", { min: 1, max: MAX_SEEDS }) ?? 1;
    const first = wholeOption(options, "seed", { min: 0, max: Number.MAX_SAFE_INTEGER - MAX_SEEDS }) ?? 1;
    const virtualMs = durationOption(options, "for") ?? DEFAULT_MS;
    const faults = choiceOption(options, "faults", ["none", "swarm", "all"]) ?? "swarm";
    const processes = wholeOption(options, "processes", { min: 1, max: MAX_PROCESSES }) ?? 1;
    const webhooks = options["webhooks"] === true;
    const crowd = await readGiven(textOption(options, "crowd"), cwd, readCrowd);
    const answers = await readGiven(textOption(options, "fetch"), cwd, readAnswers);
    const replies = await readGiven(textOption(options, "models"), cwd, readReplies);
    const config = await context.loadConfig();
    const { roster } = await planCast(config, clock);
    const problems = [...crowd.problems, ...answers.problems, ...replies.problems];
    if (problems.length > 0) return misused(problems, context);
    const specialists = roster.definitions.map(({ specialist }) => specialist);
    const scripts: ModelReplies = replies.value ?? {};
    requireModels(specialists, scripts, (name) => `give its replies by --models <file>, such as ${name}: [Two minutes., NOTHING]`);
    const report = createSimulationReport(out);
    const began = clock.monotonic();
    const working = showWorking(out, clock);
    for (let seed = first; seed < first + seeds; seed++) {
      await using scripted = await scriptAnswers(scripts, config.models);
      const run = await simulate({
        specialists,
        seed,
        models: scripted.models,
        hours: virtualMs / HOUR,
        faults,
        processes,
        webhooks,
        set: config.network.set,
        residents: UNHURRIED,
        ...defined({ crowd: crowd.value, fetch: answers.value === undefined ? undefined : answeringFetch(answers.value) }),
        onProgress: (progress) => working.tell(() => progressOf(progress, { seed, last: first + seeds - 1, virtualMs })),
      });
      working.clear();
      report.add(run);
    }
    const tookMs = Math.max(1, Math.round(clock.monotonic() - began));
    const { ok, ...found } = report.close({ seeds, virtualMs, tookMs });
    out.result({ version, command: name, ok, seeds, virtualMs, tookMs, ...found });
    return ok ? EXIT.done : EXIT.failed;
  },
};

function readGiven<Content>(
  file: string | undefined,
  cwd: string,
  read: (file: string, cwd: string) => Promise<ReadFile<Content>>,
): Promise<ReadFile<Content>> | ReadFile<Content> {
  return file === undefined ? { value: undefined, problems: [] } : read(file, cwd);
}

function misused(problems: readonly Problem[], { out, cwd, version, command: name }: Context): ExitCode {
  out.problems(problems);
  const [error, ...others] = problems.map((problem) => problemJson(problem, cwd));
  out.result({ version, command: name, ok: false, error, problems: [error, ...others] });
  return EXIT.misused;
}

interface Course {
  readonly seed: number;
  readonly last: number;
  readonly virtualMs: number;
}

function progressOf({ virtualMs: passedMs, requests, effects }: SimulationProgress, { seed, last, virtualMs }: Course) {
  const over = passedMs > virtualMs;
  // The virtual time beyond the span is that of work which is still to finish.
  const when = over
    ? `${showDuration(virtualMs)} are over, work finishes`
    : `day ${1 + Math.floor(passedMs / DAY)}, ${share(passedMs, virtualMs)}`;
  const text = `seed ${seed}${seed === last ? "" : ` of ${last}`}: ${when}: ${requests} requests, ${effects} effects`;
  return { event: { type: "simulating", seed, passedMs: Math.round(passedMs), virtualMs, requests, effects }, text };
}

function share(passedMs: number, virtualMs: number): string {
  return `${showDuration(Math.floor(passedMs / MINUTE) * MINUTE)} of ${showDuration(virtualMs)}`;
}

/** `retinue simulate`: virtual weeks of the cast in seconds, with seeded faults, and the promises checked after every step. */
import { planCast } from "../../runtime/launch.ts";
import { DAY, HOUR, showDuration } from "../../core/units.ts";
import { simulate, type Simulation } from "../../simulation/simulate.ts";
import { choiceOption, durationOption, wholeOption } from "../args.ts";
import { EXIT, OPTIONS, type Command } from "../command.ts";
import type { Output } from "../output.ts";
import { say } from "../text.ts";

const MAX_SEEDS = 1_000_000;
const DEFAULT_MS = 7 * DAY;
/** A quiet village, since a year of it should pass in minutes: a task every half hour, a post every ten minutes. */
const RESIDENTS = { perMinute: { post: 0.1, reply: 0.1, like: 0.1, follow: 0.01, offer: 0.03, work: 0.03 }, jobDeadlineMs: 12 * HOUR };

export const command: Command = {
  name: "simulate",
  describe:
    "Runs the specialists on virtual time against a local network that fails in every way it can: lost answers, crashes, wrong clocks. " +
    "Checks after every step that nothing is lost, doubled, overspent or over a limit. A seed gives the same run each time.",
  options: [
    OPTIONS.config,
    OPTIONS.agents,
    OPTIONS.set,
    { flags: "--seeds <number>", describe: "how many runs, each with a seed of its own (default: 1)" },
    { flags: "--seed <number>", describe: "the first seed (default: 1)" },
    { flags: "--for <time>", describe: "how much virtual time a run takes, such as 12h or 30d (default: 7d)" },
    { flags: "--faults <none|swarm|all>", describe: "none, those the seed chooses, or all at once (default: swarm)" },
    { flags: "--webhooks", describe: "the network tells of news by webhook as well (Set B only)" },
  ],
  examples: ["retinue simulate", "retinue simulate --seeds 100 --for 1d", "retinue simulate --seed 4711 --faults all"],
  async run(context) {
    const { out, clock, version, options } = context;
    const seeds = wholeOption(options, "seeds", { min: 1, max: MAX_SEEDS }) ?? 1;
    const first = wholeOption(options, "seed", { min: 0, max: Number.MAX_SAFE_INTEGER - MAX_SEEDS }) ?? 1;
    const virtualMs = durationOption(options, "for") ?? DEFAULT_MS;
    const faults = choiceOption(options, "faults", ["none", "swarm", "all"]) ?? "swarm";
    const webhooks = options["webhooks"] === true;
    const config = await context.loadConfig();
    const { roster } = await planCast(config, clock);
    const specialists = roster.definitions.map(({ specialist }) => specialist);
    const broken: Simulation[] = [];
    const sums = { requests: 0, effects: 0, crashes: 0, doubts: 0, parked: 0 };
    const began = clock.monotonic();
    for (let seed = first; seed < first + seeds; seed++) {
      const run = await simulate({
        specialists,
        seed,
        hours: virtualMs / HOUR,
        faults,
        webhooks,
        set: config.network.set,
        residents: RESIDENTS,
      });
      for (const what of Object.keys(sums) as (keyof typeof sums)[]) sums[what] += run.tally[what];
      if (!run.ok) broken.push(run);
      tell(run, out);
    }
    const tookMs = Math.max(1, Math.round(clock.monotonic() - began));
    const speed = Math.round((seeds * virtualMs) / tookMs);
    out.line(
      `${seeds} ${seeds === 1 ? "run" : "runs"} of ${showDuration(virtualMs)} in ${showDuration(tookMs)} (${speed} x): ` +
        `${sums.requests} requests, ${sums.effects} effects, ${sums.crashes} crashes, ${broken.length} broken`,
    );
    const violations = broken.flatMap(({ seed, violations: found }) => found.map((violation) => ({ seed, ...violation })));
    out.result({ version, command: "simulate", ok: broken.length === 0, seeds, virtualMs, tookMs, ...sums, violations });
    return broken.length === 0 ? EXIT.done : EXIT.failed;
  },
};

function tell({ seed, ok, violations, errors, trace, tally }: Simulation, out: Output): void {
  const { requests, effects, crashes, doubts, parked } = tally;
  out.line(
    say`seed ${seed}: ${ok ? "kept" : out.paint.red("broken")}, ${requests} requests, ${effects} effects, ${crashes} crashes, ${doubts} in doubt, ${parked} parked (${trace})`,
  );
  for (const { promise, what, at } of violations) out.line(`  ${promise} ${new Date(at).toISOString()} ${what}`);
  for (const error of errors) out.line(`  logged: ${error}`);
}

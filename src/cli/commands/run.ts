/** `retinue run`: runs the specialists of this project on a network, until they are asked to stop. */
import { checkReachable } from "../../doctor/reach.ts";
import { EVERYONE, type Stop } from "../../limits/verdict.ts";
import { planLaunch, type LaunchPlan } from "../../runtime/launch.ts";
import { isCopied } from "../../store/copied.ts";
import { durationOption, flagOption } from "../args.ts";
import { EXIT, type ExitCode, OPTIONS, PROJECT_OPTIONS, type Command } from "../command.ts";
import { moment } from "../format-values.ts";
import { live, openStage, openWork, showing, type Stage } from "../session.ts";
import { countWithheld, summaryJson, summaryTable, withheldLine } from "../run-summary.ts";

export const command: Command = {
  name: "run",
  describe: "Runs the specialists of this project on a network, within every limit, until it is asked to stop.",
  options: [
    ...PROJECT_OPTIONS,
    OPTIONS.for,
    OPTIONS.logLevel,
    { flags: "--allow-unsigned", describe: "dangerous: accepts webhooks without a secret; anyone can then cause reads" },
    {
      flags: "--allow-private",
      describe: "dangerous: registers RETINUE_WEBHOOK_URL although it is an address of this machine or a private network",
    },
    { flags: "--allow-moved", describe: "once: the network of this store has a new address" },
    { flags: "--dry-run", describe: "read and decide, show what would be sent, send no write and keep nothing" },
    OPTIONS.plain,
  ],
  examples: ["retinue run --base-url https://api.example.com/v1", "retinue run --dry-run --for 10m"],
  async run(context) {
    const { out, clock, options } = context;
    const forMs = durationOption(options, "for");
    const plan = await planLaunch(await context.loadConfig(), clock);
    out.problems(plan.warnings);
    await checkReachable(plan.baseUrl, clock);
    const stage = openStage(context, forMs);
    try {
      return await runOnce(stage, plan, forMs);
    } finally {
      stage.close();
    }
  },
};

async function runOnce(stage: Stage, plan: LaunchPlan, forMs: number | undefined): Promise<ExitCode> {
  const { context } = stage;
  const { out, clock, options } = context;
  const dryRun = flagOption(options, "dryRun");
  // The words of a dry run are its result, and a live view would cut them.
  const plain = dryRun || flagOption(options, "plain");
  const launched = await openWork(stage, plan, { writes: dryRun ? "refuse" : "send" });
  try {
    const handles = plan.roster.definitions.map(({ specialist }) => specialist.handle);
    const { set } = plan.profile;
    const unsigned = launched.isUnsigned();
    const halts = await launched.halts();
    const notes = halts.map((halt) => haltLine(halt, clock.now()));
    out.progress({ type: "started", at: clock.now(), set, baseUrl: plan.baseUrl, handles, dryRun, unsigned, halts }, [
      `${handles.join(", ")} at ${plan.baseUrl} (Set ${set.toUpperCase()})${dryRun ? ": a dry run, only reads are sent" : ""}${unsigned ? ": WEBHOOKS ARE NOT SIGNED" : ""}`,
      ...notes.map(out.paint.red),
      "",
    ]);
    const withheld = countWithheld(stage.announcer);
    const { why, shown } = await live(stage, launched, showing(stage, { launched, forMs, plain, notes }));
    summaryTable(shown, out);
    if (dryRun) withheldLine(withheld, out);
    const ok = why !== "lost";
    const specialists = summaryJson(shown, set);
    out.result({ version: context.version, command: context.command, ok, specialists, ...(dryRun ? { withheld } : {}) });
    return ok ? EXIT.done : EXIT.failed;
  } finally {
    await launched.stop();
  }
}

/** Says why nothing is written, since a process that is halted looks like one that has nothing to do. */
function haltLine({ scope, reason, since }: Stop, now: number): string {
  const who = scope === EVERYONE ? "nobody writes" : `${scope} does not write`;
  const lift = `retinue halt ${scope === EVERYONE ? "" : `${scope} `}--lift`;
  const end = isCopied(reason) ? `name the copy with RETINUE_STORE, or once it is deleted: ${lift}` : `to end it: ${lift}`;
  return `HALTED since ${moment(since, now)}, ${who}: ${reason} (${end})`;
}

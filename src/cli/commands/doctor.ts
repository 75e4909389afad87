/** `retinue doctor`: examines a network by reads (or its deliveries) only, and drafts a profile for it. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { extname, isAbsolute, join } from "node:path";
import { MAX_DOCTOR_CALLS } from "../../doctor/examine.ts";
import { addDraft, applied, asSeen, differences, draftProfile, type Difference } from "../../doctor/draft-profile.ts";
import { doubtsOf, settlingOf } from "../../doctor/doubts.ts";
import type { Finding } from "../../doctor/finding.ts";
import { checkReachable } from "../../doctor/reach.ts";
import type { Config } from "../../config/config.ts";
import { throwMistakes } from "../../config/problem.ts";
import { profileYaml, withAdded } from "../../config/profile-write.ts";
import { checkRosterKeys } from "../../config/roster.ts";
import { resolveProfile } from "../../contract/profile/profile.ts";
import type { ProfileSource } from "../../contract/profile/source.ts";
import { Misconfigured } from "../../core/errors.ts";
import { showDuration } from "../../core/units.ts";
import { examineNetwork, type Examination } from "../../doctor/run-doctor.ts";
import { planCast, requireBaseUrl } from "../../runtime/launch.ts";
import { durationOption, flagOption, textOption } from "../args.ts";
import { definitionOf } from "../call-alone.ts";
import { EXIT, PROJECT_OPTIONS, type Command, type Context, type ExitCode } from "../command.ts";
import { inTurn } from "../command-turns.ts";
import { learnWebhooks } from "../learn-signatures.ts";
import { launchOn, openStage, type Stage } from "../session.ts";
import { readOpenApi } from "../read-openapi.ts";
import { say } from "../text.ts";
import { writtenProfile } from "../written-profile.ts";

export const command: Command = {
  name: "doctor",
  describe: "Examines a network with reads only, charged to one specialist's quota, and lists where it differs from the profile.",
  options: [
    { flags: "--as <handle>", describe: "the specialist whose key is used (default: the first)" },
    { flags: "--write <file>", describe: "write a profile drafted from the findings, with its doubts marked" },
    {
      flags: "--diff <file>",
      describe: "compare with a profile drafted earlier, which is also used if --profile is not given",
    },
    {
      flags: "--openapi <file>",
      describe: "draft from this OpenAPI document too, a file or an address (default: the usual addresses of the network)",
    },
    { flags: "--webhooks", describe: "instead, record webhook deliveries without acting on them, and find how they are signed" },
    { flags: "--for <time>", describe: "with --webhooks: stop after this long, such as 10m (default: on Ctrl-C)" },
    ...PROJECT_OPTIONS,
  ],
  examples: [
    "retinue doctor --base-url https://api.example.com/v1 --write profile.yaml",
    "retinue doctor --openapi openapi.yaml --write profile.yaml",
    "retinue doctor --diff profile.yaml",
    "retinue doctor --webhooks --for 10m --write profile.yaml",
  ],
  async run(context) {
    const { clock, options, cwd } = context;
    const place = (name: string): string | undefined => {
      const file = textOption(options, name);
      return file === undefined || isAbsolute(file) ? file : join(cwd, file);
    };
    const [writeTo, compareWith] = [place("write"), place("diff")];
    if (writeTo !== undefined && ![".yaml", ".yml"].includes(extname(writeTo)))
      throw new Misconfigured("option_invalid", "--write takes the name of a YAML file", { expected: "a name such as profile.yaml" });
    const forMs = durationOption(options, "for");
    if (flagOption(options, "webhooks")) return learnWebhooks(context, { forMs, writeTo });
    if (forMs !== undefined)
      throw new Misconfigured("option_invalid", "--for goes with --webhooks: an examination by reads ends on its own");
    const config = comparing(await context.loadConfig(), compareWith);
    const baseUrl = requireBaseUrl(config);
    if (writeTo !== undefined && existsSync(writeTo) && writeTo !== config.network.profile)
      throw new Misconfigured("profile_exists", "the file exists, and a person's changes in it would be lost", {
        file: writeTo,
        hint: "add --profile with the same file to extend it, or write to another",
      });
    const written = await writtenProfile(config.network.profile);
    const earlier = compareWith === undefined ? undefined : await writtenProfile(compareWith);
    const cast = await planCast(config, clock);
    const handle = textOption(options, "as") ?? cast.roster.definitions[0]?.specialist.handle ?? "";
    const definitions = [definitionOf(cast.roster, handle)];
    const roster = { ...cast.roster, definitions };
    throwMistakes(checkRosterKeys(roster, config, { anyNetwork: true })); // a network that nobody described may choose its keys
    await checkReachable(baseUrl, clock);
    const documented = await readOpenApi(context, { given: textOption(options, "openapi"), baseUrl, profile: cast.profile });
    const { profile } = applied(cast.profile, documented);
    const stage = openStage(context, undefined);
    try {
      const launched = await inTurn(clock, () =>
        launchOn(stage, { ...cast, profile, config, baseUrl, roster, warnings: [] }, { passive: true, anyNetwork: true }),
      );
      try {
        await launched.start();
        context.out.progress(
          { type: "started", at: clock.now(), baseUrl, handle, reads: MAX_DOCTOR_CALLS },
          `Examines ${baseUrl} as ${handle}: at most ${MAX_DOCTOR_CALLS} reads of its quota, each answered within ${showDuration(cast.profile.timing.deadlineMs)}`,
        );
        const findings = await findingsOf(stage, launched.runtime, handle, { profile: cast.profile, known: documented });
        const found = draftProfile(cast.profile, applied(cast.profile, findings).findings);
        const seen = asSeen(written, found);
        const draft = writeTo === undefined ? seen : addDraft(written, found);
        resolveProfile(draft); // an invalid draft is never written
        const isRead = findings.some(({ step, severity }) => step === "shapes" && severity !== "problem");
        const isDrafted = isRead || documented.some(({ proposals }) => proposals.length > 0);
        if (writeTo !== undefined && isDrafted) write(context, writeTo, draft, baseUrl, findings);
        else if (writeTo !== undefined) context.out.line("nothing is written, because nothing could be read");
        const differing = writeTo === undefined ? [] : differences(draft, seen);
        const comparison = earlier === undefined || !isRead ? undefined : differences(earlier, seen);
        return report(context, { findings, draft, comparison, differing, written: isDrafted ? writeTo : undefined });
      } finally {
        await launched.stop();
      }
    } finally {
      stage.close();
    }
  },
};

/** Reads with an earlier draft, so that only later changes differ from it. */
function comparing(config: Config, compareWith: string | undefined): Config {
  const { network } = config;
  if (compareWith === undefined || (network.profile !== "set-a" && network.profile !== "set-b")) return config;
  return { ...config, network: { ...network, profile: compareWith } };
}

const TONES = { ok: "green", note: "dim", warning: "yellow", problem: "red" } as const;

type Runtime = Awaited<ReturnType<typeof launchOn>>["runtime"];

async function findingsOf(
  { context, scrubber }: Stage,
  runtime: Runtime,
  handle: string,
  examination: Examination,
): Promise<readonly Finding[]> {
  const member = runtime.member(handle);
  if (member === undefined) throw new TypeError("expected the launched specialist");
  const { out } = context;
  const findings: Finding[] = [];
  const show = (found: Finding): void => {
    findings.push(found);
    const message = scrubber.clean(found.message);
    out.progress(
      { type: "finding", ...found, message },
      say`${out.paint[TONES[found.severity]](found.severity.padEnd(7))} ${found.step.padEnd(8)} ${message}`,
    );
  };
  for (const found of examination.known ?? []) show(found);
  for await (const found of examineNetwork(runtime.parts, member, examination)) show(found);
  return findings;
}

function write({ out, clock }: Context, file: string, draft: ProfileSource, baseUrl: string, findings: readonly Finding[]): void {
  const open = findings.filter(({ severity }) => severity === "problem").length;
  const header = [
    `Drafted by retinue doctor on ${new Date(clock.now()).toISOString().slice(0, 10)}, from reads of ${new URL(baseUrl).host}.`,
    "No read shows what requests must contain: add bodies and paths that differ from the set's.",
    ...(open === 0 ? [] : [`${open} of its findings are open problems: run it again to see them.`]),
  ];
  const doubts = new Map(doubtsOf(findings).map((doubt) => [doubt.path, doubt]));
  const markOf = (guess: string): string | undefined => {
    const doubt = doubts.get(guess);
    return doubt === undefined ? undefined : `${doubt.because}; settle it: ${doubt.settle}`;
  };
  writeFileSync(file, existsSync(file) ? withAdded(readFileSync(file, "utf8"), draft, markOf) : profileYaml(draft, header, markOf));
  out.line();
  out.line(`written to ${file}`);
}

interface Report {
  readonly findings: readonly Finding[];
  readonly draft: ProfileSource;
  /** Differences from an earlier draft; undefined if none was given, or nothing could be read. */
  readonly comparison: readonly Difference[] | undefined;
  /** Places that the written profile states otherwise than they were seen. */
  readonly differing: readonly Difference[];
  readonly written: string | undefined;
}

function report({ out, version, command: name, options }: Context, { findings, draft, comparison, differing, written }: Report): ExitCode {
  const problems = findings.filter(({ severity }) => severity === "problem");
  const show = ({ path, was, is }: Difference): void => out.line(`  ${path}: ${short(was)} -> ${short(is)}`);
  if (textOption(options, "diff") !== undefined) {
    out.line();
    if (comparison === undefined) out.line("nothing could be compared, because nothing could be read");
    else out.line(comparison.length === 0 ? "nothing changed since then" : "changed since then:");
  }
  for (const one of comparison ?? []) show(one);
  if (differing.length > 0) out.line("the profile states otherwise, and is left as it is:");
  for (const one of differing) show(one);
  const doubts = draft.guesses ?? [];
  if (doubts.length > 0) out.line(`${doubts.length === 1 ? "1 doubt" : `${doubts.length} doubts`} to resolve:`);
  for (const [settle, paths] of Map.groupBy(doubts, settlingOf)) out.line(`  ${paths.join(", ")}: ${settle}`);
  const ok = problems.length === 0;
  out.result({
    version,
    command: name,
    ok,
    findings: findings.map(({ step, severity, message }) => ({ step, severity, message })),
    profile: draft,
    ...(comparison === undefined ? {} : { changed: comparison }),
    ...(differing.length === 0 ? {} : { differing }),
    ...(written === undefined ? {} : { written }),
  });
  return ok ? EXIT.done : EXIT.failed;
}

const MAX_SHOWN = 60;

/** Shortens paths, names and words of a profile; they contain no one's data. */
function short(text: string | undefined): string {
  if (text === undefined) return "(not stated)";
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}

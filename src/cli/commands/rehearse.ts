/** `retinue rehearse`: handles one event once with the definition as it is now, and shows what it would do; nothing is sent or stored. */
import { existsSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { readRecording, type RecordingFile } from "../../config/simulation-files.ts";
import { declaredSecrets, environmentSecrets } from "../../config/key-sources.ts";
import { modelSecrets } from "../../config/model-settings.ts";
import type { Config } from "../../config/config.ts";
import { throwMistakes } from "../../config/problem.ts";
import { Refused, isRetinueError } from "../../core/errors.ts";
import { canonicalJson, type Json, type JsonObject } from "../../core/json.ts";
import { Scrubber } from "../../core/scrubber.ts";
import { failureOf } from "../../handlers/failed-run.ts";
import { planCast } from "../../runtime/launch.ts";
import { fetchOf } from "../../simulation/answering-fetch.ts";
import { shownHandling, toolsOf, type Handled, type HandledIntent } from "../../simulation/handle-in-test.ts";
import { handleOnce } from "../../simulation/one-handling.ts";
import type { HandlerRead, ReadCall } from "../../specialist/run-request.ts";
import type { Specialist } from "../../specialist/specialist.ts";
import { flagOption } from "../args.ts";
import { definitionOf } from "../call-alone.ts";
import { EXIT, OPTIONS, type Command, type Context, type ExitCode } from "../command.ts";
import { withGuardian } from "../find-guardian.ts";
import { openRehearsedModels } from "../rehearsed-models.ts";
import { placeText } from "../show-failures.ts";
import { linesOf, say } from "../text.ts";

export const command: Command = {
  name: "rehearse",
  arguments: "<handle> <event>",
  describe:
    "Handles one event once, with the definition as it is now, and shows its actions, reads and steps. It sends nothing and stores nothing. " +
    "The event is a file that log --record wrote, or the id of an event in the store; reads, requests and models are answered by the file.",
  options: [
    OPTIONS.config,
    OPTIONS.agents,
    OPTIONS.set,
    OPTIONS.profile,
    OPTIONS.store,
    { flags: "--ask-models", describe: "asks the real models: their money is held, and counts in the store" },
  ],
  examples: [
    "retinue rehearse hello event.json",
    "retinue rehearse hello post.created:post_7",
    "retinue rehearse helper mention.created:post_9 --ask-models",
  ],
  async run(context) {
    const { args, clock } = context;
    const [handle = "", given = ""] = args;
    const config = await context.loadConfig();
    const { profile, roster } = await planCast(config, clock);
    const { specialist } = definitionOf(roster, handle);
    const recording = await recordingOf(context, handle, given);
    const { event, account, state, reads = [], steps = {} } = recording;
    const now = event.at ?? clock.now();
    const scrubber = scrubberOf(config, specialist);
    const asksReal = flagOption(context.options, "askModels");
    await using models = await openRehearsedModels(config, clock, { asksReal, replies: recording.models });
    const handled = await handleOnce({
      specialist,
      event: { kind: event.kind, payload: event.payload, ...(event.id === undefined ? {} : { id: event.id }) },
      profile,
      clock: { ...clock, now: () => now, monotonic: () => 0 },
      accountId: account ?? specialist.id ?? `agent_${handle}`, // any id but that of the author
      state,
      steps,
      read: answerReads(reads),
      callTool: toolsOf(recording.tools),
      fetch: fetchOf(recording.fetch),
      scrubber,
      ...models.parts,
    });
    const shown = shownHandling(handled, now);
    return show(
      context,
      specialist,
      { ...shown, event: event.id ?? event.kind, before: state ?? specialist.initialState, asksReal },
      handled.failure,
      scrubber,
    );
  },
};

/** The content of a file, or an event of the store by its id. */
async function recordingOf(context: Context, handle: string, given: string): Promise<RecordingFile> {
  const { cwd } = context;
  if (/\.(?:json|ya?ml)$/.test(given) || existsSync(isAbsolute(given) ? given : join(cwd, given))) {
    const { value, problems } = await readRecording(given, cwd);
    throwMistakes(problems);
    if (value !== undefined) return value;
  }
  return withGuardian(context, (guardian) => guardian.recording({ id: given, handle }));
}

function scrubberOf(config: Config, specialist: Specialist): Scrubber {
  const scrubber = new Scrubber();
  const { environment } = config;
  const declared = declaredSecrets(environment, [specialist]);
  for (const secret of [...environmentSecrets(environment), ...modelSecrets(config), ...declared]) scrubber.add(secret);
  return scrubber;
}

/** Answers each read by the first entry of the file that fits; an entry is used once, the last that fits for ever. */
function answerReads(answers: NonNullable<RecordingFile["reads"]>): (call: ReadCall) => Promise<HandlerRead> {
  const left = [...answers];
  return async ({ operation, target }) => {
    const fits = left.filter((one) => one.operation === operation && (one.target === undefined || one.target === target));
    const [first] = fits;
    if (first === undefined)
      throw new Refused("no_read", `the file has no answer to ${operation}${target === undefined ? "" : ` ${target}`}`, {
        hint: `add { "operation": "${operation}", "value": … } to its reads`,
      });
    if (fits.length > 1) left.splice(left.indexOf(first), 1);
    return { value: first.value };
  };
}

interface Rehearsed extends Handled {
  readonly event: string;
  readonly before: JsonObject;
  /** Real models were asked, if the handler asked any. */
  readonly asksReal: boolean;
}

function show(context: Context, { handle }: Specialist, rehearsed: Rehearsed, failure: unknown, scrubber: Scrubber): ExitCode {
  const { out, cwd, clock } = context;
  const { paint } = out;
  const { event, before, intents, reads, steps, log, state, asksReal } = rehearsed;
  const list = (title: string, lines: readonly (() => void)[]): void => {
    if (lines.length === 0) return;
    out.line(paint.bold(title));
    for (const line of lines) line();
  };
  out.line(say`${paint.bold(handle)} handles ${event}`);
  list(
    "Reads",
    reads.map(
      ({ operation, target = "" }) =>
        () =>
          out.line(`  ${operation} ${target}`),
    ),
  );
  list(
    "Steps",
    Object.entries(steps).map(
      ([name, value]) =>
        () =>
          out.line(`  ${name}: ${canonicalJson(value)}`),
    ),
  );
  list(
    "Log",
    log.map(
      ({ level, message, fields: { handle: _handle, event: _event, ...fields } }) =>
        () =>
          out.line(`  ${level} ${message}${Object.keys(fields).length === 0 ? "" : ` ${JSON.stringify(fields)}`}`),
    ),
  );
  list(
    "Actions",
    intents.map((intent) => () => showIntent(intent, context)),
  );
  if (failure === undefined && intents.length === 0) out.line("It decides on no action.");
  if (canonicalJson(before) !== canonicalJson(state))
    list("State", [() => out.line(`  ${canonicalJson(before)}`), () => out.line(`  becomes ${canonicalJson(state)}`)]);
  const error =
    failure === undefined ? undefined : failureOf(failure, { at: clock.now(), tries: 1, clean: (text) => scrubber.clean(text) });
  if (error !== undefined) {
    const place = placeText(error, cwd);
    out.line(say`${paint.red("It fails")}${place === undefined ? "" : ` at ${place}`}: ${linesOf(error.message)[0] ?? ""}`);
    const hint = isRetinueError(failure) ? failure.details.hint : undefined;
    if (hint !== undefined) out.line(say`  ${paint.dim("try")} ${hint}`);
    if (error.stack !== undefined) out.quote(error.stack);
  }
  out.line(paint.dim(`nothing was sent or stored${asksReal ? ", but for the questions to models and their money" : ""}`));
  const told =
    error === undefined
      ? {}
      : {
          error: { code: error.code, message: error.message, ...(error.file === undefined ? {} : { file: error.file, line: error.line }) },
        };
  out.result({ ok: error === undefined, handle, event, intents, reads, steps, log, before, state, ...told });
  return error === undefined ? EXIT.done : EXIT.failed;
}

const STATES = { ready: "would do", proposed: "would ask for", refused: "may not do" } as const satisfies Record<
  HandledIntent["state"],
  string
>;

function showIntent({ state, operation, target, targetOf, input, code, message }: HandledIntent, { out }: Context): void {
  const object = target ?? (targetOf === undefined ? "" : `what action ${targetOf + 1} creates`);
  const why = code === undefined ? "" : ` (${code}: ${message ?? ""})`;
  out.line(`  ${STATES[state]} ${operation} ${object}${why}`);
  const { content, ...rest }: { readonly [name: string]: Json | undefined } = input;
  if (typeof content === "string") out.quote(content);
  if (Object.keys(rest).length > 0) out.line(`  ${canonicalJson(rest)}`);
}

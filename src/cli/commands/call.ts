/** `retinue call`: runs one operation by name, through all limits, in the live runtime if there is one. */
import { readFileSync } from "node:fs";
import { OPERATION_NAMES, isOperationName } from "../../contract/operations.ts";
import { Misconfigured, Refused } from "../../core/errors.ts";
import { isObject, parseJson, type JsonObject } from "../../core/json.ts";
import { nearest } from "../../config/problem.ts";
import type { CallResult } from "../../guardian/call-operation.ts";
import type { CallQuery } from "../../guardian/guardian.ts";
import { textOption } from "../args.ts";
import { callThrough } from "../call-alone.ts";
import { EXIT, PROJECT_OPTIONS, type Command, type Context, type ExitCode } from "../command.ts";
import { storeConfig } from "../find-guardian.ts";
import { moment } from "../format-values.ts";
import { say } from "../text.ts";

const STDIN = 0;

export const command: Command = {
  name: "call",
  arguments: "<operation> [target]",
  describe:
    "Runs one operation as one specialist, through its limits: reads are charged, writes become actions like any other. " +
    "docs/interface.md lists the operations and their inputs.",
  options: [
    { flags: "--as <handle>", describe: "the specialist to act as" },
    { flags: "--input <json>", describe: "inputs in Retinue's names, or - to read them from standard input" },
    ...PROJECT_OPTIONS,
  ],
  examples: ["retinue call posts.list --as scout", `retinue call posts.reply post_7 --as scout --input '{"content": "Welcome!"}'`],
  async run(context) {
    const config = await storeConfig(context);
    const { network } = config;
    // A custom profile may have more operations.
    if (network.profile === `set-${network.set}`) requireKnown(context.args[0] ?? "");
    const query = queryOf(context);
    try {
      return show(await callThrough(context, config, query), context);
    } catch (error) {
      // An error of the operation's rules is a mistake in the typed input.
      if (error instanceof Refused && MISTYPED.test(error.code)) throw new Misconfigured(error.code, error.message, error.details);
      throw error;
    }
  },
};

const MISTYPED = /^(operation_|input_|target_)/;

function queryOf({ args, options }: Context): CallQuery {
  const [operation = "", target] = args;
  const handle = textOption(options, "as");
  if (handle === undefined) throw new Misconfigured("option_missing", "name a specialist", { expected: "--as <handle>" });
  return { handle, operation, input: inputOf(textOption(options, "input")), ...(target === undefined ? {} : { target }) };
}

function requireKnown(operation: string): void {
  if (isOperationName(operation)) return;
  const near = nearest(operation, OPERATION_NAMES);
  throw new Misconfigured("operation_unknown", `there is no operation "${operation}"`, {
    expected: "a name such as posts.reply",
    hint: near === undefined ? `there are ${OPERATION_NAMES.join(", ")}` : `did you mean ${near}?`,
  });
}

function inputOf(text: string | undefined): JsonObject {
  if (text === undefined) return {};
  const value = parseJson(text === "-" ? readFileSync(STDIN, "utf8") : text);
  if (isObject(value)) return value;
  throw new Misconfigured("option_invalid", "--input is not a JSON object", { expected: `an object such as '{"content": "hello"}'` });
}

function show(result: CallResult, { out, clock }: Context): ExitCode {
  const ok = result.kind === "read" || (result.kind === "write" && result.state === "confirmed");
  out.result({ ok, ...result });
  if (result.kind === "read") out.value(result.value);
  else if (result.kind === "waits") out.line(`Not now: ${result.message}; there is room at ${moment(result.until, clock.now())}`);
  else {
    const { state, created, message, until, intent } = result;
    const why = message === undefined ? "" : `: ${message}`;
    const when = until === undefined || state !== "ready" ? "" : `, until ${moment(until, clock.now())}`;
    out.line(
      say`${state === "ready" ? "waiting" : state}${created === undefined ? "" : ` as ${created}`}${why}${when} ${out.paint.dim(intent)}`,
    );
    if (state === "proposed") out.line(`It waits for your approval: retinue approve ${intent}`);
    if (state === "in_doubt" || state === "parked") out.line(`retinue why ${intent} shows what can be done`);
  }
  return ok ? EXIT.done : EXIT.failed;
}

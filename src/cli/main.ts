/** The command line: finds the command, runs it, and turns any error into one screen and an exit code. */
import { Writable } from "node:stream";
import { Command as Parser, CommanderError, Option } from "commander";
import { loadConfig, readLogLevel, type Flags } from "../config/config.ts";
import { openEnvironment, shareVariables, takeOwnVariables, type SharedVariables } from "../config/environment.ts";
import { environmentSecrets } from "../config/key-sources.ts";
import { nearest, type Problem } from "../config/problem.ts";
import { systemClock } from "../core/clock.ts";
import { defined } from "../core/defined.ts";
import { errorClass, isRetinueError, Misconfigured, messageOf } from "../core/errors.ts";
import { createLogger, type Logger } from "../core/log.ts";
import { Scrubber } from "../core/scrubber.ts";
import { readVersion } from "../core/version.ts";
import type { Pipes } from "../mcp/over-stdio.ts";
import { capturePrints, type CapturedPrints } from "../specialist/prints.ts";
import { flagOption, textOption } from "./args.ts";
import { createAsk, type Input } from "./asking.ts";
import { EXIT, type Command, type ExitCode, type GivenOptions } from "./command.ts";
import { COMMANDS } from "./commands.ts";
import { createOutput, problemJson, wantsColour, type Output, type TextStream } from "./output.ts";
import { logSink } from "./progress.ts";
import { visible } from "../core/visible.ts";

/** The environment of a command: the process, or a test. */
export interface Surroundings {
  readonly cwd: string;
  readonly env: { readonly [name: string]: string | undefined };
  readonly stdout: TextStream;
  readonly stderr: TextStream;
  /** The input of a person, if it is a terminal. Opened on demand: an open one cannot also be read as a file. */
  readonly stdin?: () => Input;
  /** The standard streams as they are, for a command that owns them. */
  readonly pipes?: () => Pipes;
  /** The variables of `.env` that definitions see. */
  readonly variables?: SharedVariables;
  /** Text that definitions print, kept apart from our own output. */
  readonly prints?: CapturedPrints;
}

/** Runs one command line. Returns the exit code and never throws. */
export async function main(argv: readonly string[], around: Surroundings = processSurroundings(argv)): Promise<ExitCode> {
  const json = argv.includes("--json");
  try {
    return await runCommand(argv, json, around);
  } catch (error) {
    return report(error, json, around);
  }
}

function processSurroundings(argv: readonly string[]): Surroundings {
  const runs = argv.find((word) => !word.startsWith("-")) === "run";
  for (const stream of [process.stdout, process.stderr])
    stream.on("error", (error: NodeJS.ErrnoException) => {
      // A reader that disconnects (`| head`) is no failure of a command, and must not end a runtime. A closed terminal takes no more
      // output, and reporting that would fail again: the signal that came with it stops us.
      if (error.code === "EPIPE") process.exit(runs ? EXIT.failed : EXIT.done);
      if (runs || stream !== process.stdout) return; // specialists continue without output
      process.stderr.write(`the output could not be written: ${visible(error.message)}\n`);
      process.exit(EXIT.failed);
    });
  const [cwd, stdout, stderr] = [process.cwd(), ownStream(process.stdout), ownStream(process.stderr)];
  const pipes = ownPipes(process.stdout);
  const prints = capturePrints(process);
  return { cwd, stdout, stderr, pipes, prints, stdin: () => process.stdin, env: takeOwnVariables(), variables: shareVariables(cwd) };
}

/** Our own way to a stream, which a captured `write` does not change. */
function ownStream(stream: NodeJS.WriteStream): TextStream {
  const write = stream.write.bind(stream);
  return {
    write: (text) => write(text),
    get isTTY() {
      return stream.isTTY;
    },
    get columns() {
      return stream.columns;
    },
    get rows() {
      return stream.rows;
    },
  };
}

/** A protocol's own way out: a write counts as done when the system has taken it, so that a reader that does not read is noticed. */
function ownPipes(stdout: NodeJS.WriteStream): () => Pipes {
  const write = stdout.write.bind(stdout);
  const output = new Writable({
    write: (chunk: Buffer, _encoding, done) => void write(chunk, done),
  });
  return () => ({ input: process.stdin, output });
}

async function runCommand(argv: readonly string[], json: boolean, around: Surroundings): Promise<ExitCode> {
  const version = readVersion();
  const words = argv.filter((word) => !word.startsWith("-"));
  const name = words[0] === "help" ? words[1] : words[0];
  const entry = COMMANDS.find((one) => name !== undefined && (one.name === name || one.alias === name));
  if (name !== undefined && entry === undefined) throw unknownCommand(name);
  const command = (await entry?.load())?.command;
  const args = entry?.alias === name ? argv.map((word) => (word === name && entry !== undefined ? entry.name : word)) : argv;
  const clock = systemClock();
  let code: ExitCode | undefined;
  const program = createProgram(version, around);
  for (const { name: other, describe } of COMMANDS) if (other !== command?.name) program.command(other).description(describe);
  if (command !== undefined)
    addCommand(program, command, async (args, options) => {
      const out = createOutput({
        json,
        colour: !json && wantsColour(around.stdout, around.env),
        dumb: around.env["TERM"] === "dumb",
        clock,
        ...around,
        ...(command.ownsStdout === true ? { stdout: around.stderr } : {}),
      });
      const flags = flagsOf(options);
      const flush = (): void => out.flush();
      process.once("exit", flush); // a second signal ends the process at once
      around.prints?.elsewhere(earlyLog(out, flags, around));
      try {
        code = await command.run({
          command: command.name,
          commands: COMMANDS,
          version,
          args,
          options,
          flags,
          cwd: around.cwd,
          env: around.env,
          out,
          clock,
          ...defined({ variables: around.variables, prints: around.prints, pipes: around.pipes }),
          asking: () => createAsk(around.stdin?.(), around.stdout),
          loadConfig: () => loadConfig({ flags, env: around.env, cwd: around.cwd }),
        });
      } finally {
        flush();
        process.off("exit", flush);
      }
    });
  try {
    if (words.length === 0 && argv.every((word) => word === "--json")) program.outputHelp();
    else await program.parseAsync([...args], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return EXIT.done;
    throw new Misconfigured(
      "command_misused",
      error.message
        .replace(/^error: /, "")
        .split("\n")
        .join(" "),
      {
        hint: `${command?.arguments?.includes("<id>") === true ? "`retinue status` and `retinue log` list ids; " : ""}retinue ${command === undefined ? "" : `${command.name} `}--help lists what is available`,
      },
    );
  }
  return code ?? EXIT.done;
}

/** Takes text that definitions print while they are loaded. */
function earlyLog(out: Output, flags: Flags, around: Surroundings): Logger {
  const level = readLogLevel(flags, openEnvironment({ cwd: around.cwd, variables: around.env }));
  const clock = systemClock();
  return createLogger({ level, now: () => clock.now(), scrubber: knownSecrets(around), sink: logSink(out) });
}

function createProgram(version: string, { stdout }: Surroundings): Parser {
  return new Parser("retinue")
    .description("Runs autonomous specialists on an agent network: within every limit, nothing twice, nothing lost.")
    .version(version, "-V, --version", "print the version")
    .addOption(new Option("--json", "for machines: progress on stderr, one final object on stdout"))
    .helpOption("-h, --help", "show help")
    .helpCommand("help [command]", "show help")
    .exitOverride()
    .configureOutput({ writeOut: (text) => void stdout.write(text), writeErr: () => undefined });
}

function addCommand(program: Parser, command: Command, run: (args: string[], options: GivenOptions) => Promise<void>): void {
  const parser = program.command(command.name).description(command.describe);
  if (command.arguments !== undefined) parser.arguments(command.arguments);
  for (const { flags, describe } of command.options) parser.addOption(new Option(flags, describe));
  parser.addOption(new Option("--json", "for machines: progress on stderr, one final object on stdout"));
  if (command.examples !== undefined) parser.addHelpText("after", `\nExamples:\n${command.examples.map((line) => `  ${line}`).join("\n")}`);
  parser.action((): Promise<void> => run(parser.args, parser.opts<GivenOptions>()));
}

function flagsOf(options: GivenOptions): Flags {
  const names = ["config", "agents", "baseUrl", "set", "profile", "store", "logLevel"] as const;
  const texts = names.flatMap((name) => (textOption(options, name) === undefined ? [] : [[name, textOption(options, name)]]));
  const allowed = (["allowUnsigned", "allowPrivate", "allowMoved"] as const)
    .filter((name) => flagOption(options, name))
    .map((name) => [name, true]);
  return { ...Object.fromEntries(texts), ...Object.fromEntries(allowed) };
}

function unknownCommand(name: string): Misconfigured {
  const names = COMMANDS.map((entry) => entry.name);
  const near = nearest(name, names);
  return new Misconfigured("command_unknown", `there is no command "${name}"`, {
    expected: `one of ${names.join(", ")}`,
    hint: near === undefined ? "retinue --help lists what is available" : `did you mean "${near}"?`,
  });
}

function knownSecrets({ cwd, env }: Surroundings): Scrubber {
  const scrubber = new Scrubber();
  for (const secret of environmentSecrets(openEnvironment({ cwd, variables: env }))) scrubber.add(secret);
  return scrubber;
}

/** One screen: the error, its place, the expectation, and advice. With --json the same as the one final object. */
function report(error: unknown, json: boolean, around: Surroundings): ExitCode {
  const { stderr, env, cwd } = around;
  const out = createOutput({ json, colour: wantsColour(stderr, env), ...around });
  const known = isRetinueError(error);
  const { cause: _cause, ...details } = known
    ? error.details
    : { cause: undefined, hint: "this is a defect of Retinue: run it again with DEBUG=1 and report the output" };
  // A file that was loaded may have read a secret, and thrown it.
  const scrubber = knownSecrets(around);
  const message = scrubber.clean(messageOf(error));
  const problem: Problem = { level: "error", code: known ? error.code : "unexpected", message, ...details };
  out.result({ error: problemJson(problem, cwd) });
  out.problems([problem]);
  if ((env["DEBUG"] ?? "") !== "" && error instanceof Error) out.trace(scrubber.clean(error.stack ?? messageOf(error)));
  return known && errorClass(error) === "Misconfigured" ? EXIT.misused : EXIT.failed;
}

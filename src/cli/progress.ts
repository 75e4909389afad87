/** Prints announcements as they come: one line per action for people, one JSON object a line for machines. */
import { ANNOUNCEMENT_NAMES, subscribe, type AnnouncementName, type Announcements, type Announcer, type Listener } from "../core/events.ts";
import type { Clock } from "../core/clock.ts";
import type { LogLine } from "../core/log.ts";
import { createRepeats } from "../core/repetition-limit.ts";
import { MINUTE } from "../core/units.ts";
import { createBursts } from "./bursts.ts";
import type { Output } from "./output.ts";
import { patternOf } from "../handlers/failed-run.ts";
import { DESCRIBE, type Described } from "./describe-event.ts";
import { joined, printable, say, type Paint, type Printable } from "./text.ts";

/** Calls `listener` with every announcement. Returns the function that ends it. */
export function listenToAll(announcer: Announcer, listener: Listener): () => void {
  const stops = ANNOUNCEMENT_NAMES.map((name) => subscribe(announcer, name, (what) => listener(name, what)));
  return () => stops.forEach((stop) => stop());
}

/** A line for people: at this time, about this specialist. */
export interface Action {
  readonly at: number;
  readonly handle: string;
  readonly told: Described;
}

/** The same wait of the same specialist is printed once in this time. */
const WAIT_SAID_MS = MINUTE;
const MAX_REMEMBERED = 10_000;
/** Failures of one kind that pass within a minute; one line then counts the rest. */
const FAILURES_SAID = 10;

/** Leaves out recent repetitions. */
export interface Filter {
  take<Name extends AnnouncementName>(name: Name, what: Announcements[Name]): readonly Action[];
  /** The counts of failures left out so far, for the end. */
  rest(at: number): readonly Action[];
}

export function createFilter(): Filter {
  const said = new Map<string, number>();
  const failures = createRepeats<Action & { readonly kind: string }>((first, { text }, at) => ({
    ...first,
    at,
    told: { ...first.told, text: `failed at handling ${first.kind}: ${text}` },
  }));
  const isNew = (key: string, at: number): boolean => {
    const last = said.get(key);
    if (last !== undefined && at - last < WAIT_SAID_MS) return false;
    if (said.size >= MAX_REMEMBERED) said.clear();
    said.set(key, at);
    return true;
  };
  return {
    take(name, what) {
      const told = DESCRIBE[name](what);
      const { at, handle } = what;
      if (told === undefined) return [];
      if ("result" in what) {
        const { kind, message = "" } = what;
        const key = `${handle} ${kind} ${patternOf(message)}`;
        return failures.take({ key, passing: FAILURES_SAID }, at, () => ({ at, handle, told, kind }));
      }
      if (name !== "wait" && name !== "drift") return [{ at, handle, told }];
      const rule = "rule" in what ? `${what.lane} ${what.rule}` : told.text;
      return isNew(`${name} ${handle} ${rule}`, at) ? [{ at, handle, told }] : [];
    },
    rest: (at) => failures.rest(at),
  };
}

/**
 * Prints lines as they come, for pipes and logs: for machines all of them, for people no more than they can read. `console` is a line that
 * names the console: it follows the first action that asks for a yes, since the one at the start has scrolled away by then.
 */
export function reportLines(announcer: Announcer, out: Output, clock: Clock, console?: string): () => void {
  if (out.json) {
    return listenToAll(announcer, (name, what) => {
      if (name !== "request" && name !== "poll" && name !== "step") out.progress({ type: name, ...what }, "");
    });
  }
  const filter = createFilter();
  let unsaid = console;
  const print = (action: Action): void => out.progress({}, actionLine(action, out));
  const bursts = createBursts(clock, (at, text) => print({ at, handle: "", told: { text, tone: "quiet" } }));
  const silence = listenToAll(announcer, (name, what) => {
    if ("operation" in what && "state" in what && (what.state === "confirmed" || what.state === "cancelled"))
      if (!bursts.passes(`${what.operation} ${what.state}`)) return;
    filter.take(name, what).forEach(print);
    if (unsaid === undefined || !("state" in what) || what.state !== "proposed") return;
    out.progress({}, unsaid);
    unsaid = undefined;
  });
  return () => {
    silence();
    bursts.close();
    filter.rest(clock.now()).forEach(print);
  };
}

/** The part of an output that makes a line. */
export type LineMaker = Pick<Output, "paint" | "time">;

export function actionLine({ at, handle, told }: Action, { paint, time }: LineMaker): Printable {
  const who = handle === "" ? "" : say`${paint.bold(handle)} `;
  return say`${paint.dim(time(at))}  ${who}${painted(told, paint)}`;
}

export function painted({ text, tone }: Described, paint: Paint): Printable {
  if (tone === "good") return paint.green(text);
  if (tone === "bad") return paint.yellow(text);
  return tone === "quiet" ? paint.dim(text) : printable(text);
}

/** Takes log lines: one object on stderr with `--json`, else a line for people. */
export function logSink(out: Output, print: (line: Printable) => void = (line) => out.line(line)): (line: LogLine) => void {
  return (line) => (out.json ? out.progress({ type: "log", ...line }, "") : print(logLine(line, out)));
}

/** A log line of the runtime or a definition, for people. */
function logLine(line: LogLine, { paint, time }: LineMaker): Printable {
  const { handle, ...fields } = line.fields;
  const rest = Object.entries(fields).map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`);
  const who = typeof handle === "string" ? say`${paint.bold(handle)} ` : "";
  const label = line.level === "error" ? paint.red("error ") : line.level === "warn" ? paint.yellow("warning ") : "";
  return say`${paint.dim(time(line.at))}  ${who}${label}${joined([line.message, ...rest], " ")}`;
}

/** Prints announcements as they come: one line per action for people, one JSON object a line for machines. */
import { ANNOUNCEMENT_NAMES, subscribe, type AnnouncementName, type Announcements, type Announcer, type Listener } from "../core/events.ts";
import type { LogLine } from "../core/log.ts";
import { MINUTE } from "../core/units.ts";
import type { Output } from "./output.ts";
import { DESCRIBE, type Described } from "./describe-event.ts";
import { joined, printable, say, type Paint, type Printable } from "./text.ts";

/** Calls `listener` with every announcement. Returns the function that ends it. */
export function listenToAll(announcer: Announcer, listener: Listener): () => void {
  const stops = ANNOUNCEMENT_NAMES.map((name) => subscribe(announcer, name, (what) => listener(name, what)));
  return () => stops.forEach((stop) => stop());
}

/** The same wait of the same specialist is printed once in this time. */
const WAIT_SAID_MS = MINUTE;
const MAX_REMEMBERED = 10_000;

/** Filters recent repetitions. */
export function createFilter(): <Name extends AnnouncementName>(name: Name, what: Announcements[Name]) => Described | undefined {
  const said = new Map<string, number>();
  return (name, what) => {
    const told = DESCRIBE[name](what);
    if (told === undefined || (name !== "wait" && name !== "drift")) return told;
    const rule = "rule" in what ? `${what.lane} ${what.rule}` : told.text;
    const key = `${name} ${what.handle} ${rule}`;
    const last = said.get(key);
    if (last !== undefined && what.at - last < WAIT_SAID_MS) return undefined;
    if (said.size >= MAX_REMEMBERED) said.clear();
    said.set(key, what.at);
    return told;
  };
}

/** Prints lines as they come, for pipes and logs. */
export function reportLines(announcer: Announcer, out: Output): () => void {
  const filter = createFilter();
  return listenToAll(announcer, (name, what) => {
    const told = filter(name, what);
    if (out.json ? name !== "request" && name !== "poll" : told !== undefined)
      out.progress({ type: name, ...what }, told === undefined ? "" : actionLine(what.at, what.handle, told, out));
  });
}

/** The part of an output that makes a line. */
export type LineMaker = Pick<Output, "paint" | "time">;

export function actionLine(at: number, handle: string, told: Described, { paint, time }: LineMaker): Printable {
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

/** Prints announcements as they come: one line per action for people, one JSON object a line for machines. */
import { ANNOUNCEMENT_NAMES, subscribe, type AnnouncementName, type Announcements, type Announcer, type Listener } from "../core/events.ts";
import type { Clock } from "../core/clock.ts";
import type { LogLine } from "../core/log.ts";
import { MINUTE, SECOND } from "../core/units.ts";
import { createBursts } from "./bursts.ts";
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

/** Prints lines as they come, for pipes and logs: for machines all of them, for people no more than they can read. */
export function reportLines(announcer: Announcer, out: Output, clock: Clock): () => void {
  if (out.json) {
    return listenToAll(announcer, (name, what) => {
      if (name !== "request" && name !== "poll") out.progress({ type: name, ...what }, "");
    });
  }
  const filter = createFilter();
  const print = (at: number, handle: string, told: Described): void => out.progress({}, actionLine(at, handle, told, out.paint));
  const bursts = createBursts(clock, (at, text) => print(at, "", { text, tone: "quiet" }));
  const stop = listenToAll(announcer, (name, what) => {
    if ("operation" in what && "state" in what && (what.state === "confirmed" || what.state === "cancelled"))
      if (!bursts.passes(`${what.operation} ${what.state}`)) return;
    const told = filter(name, what);
    if (told !== undefined) print(what.at, what.handle, told);
  });
  return () => {
    stop();
    bursts.close();
  };
}

export function actionLine(at: number, handle: string, told: Described, paint: Paint): Printable {
  const who = handle === "" ? "" : say`${paint.bold(handle)} `;
  return say`${paint.dim(timeOfDay(at))}  ${who}${painted(told, paint)}`;
}

export function painted({ text, tone }: Described, paint: Paint): Printable {
  if (tone === "good") return paint.green(text);
  if (tone === "bad") return paint.yellow(text);
  return tone === "quiet" ? paint.dim(text) : printable(text);
}

let shownSecond = Number.NaN;
let shownTime = "";

/** Most lines are of the same second as the one before. */
export function timeOfDay(at: number): string {
  const second = Math.floor(at / SECOND);
  if (second !== shownSecond) {
    shownSecond = second;
    shownTime = new Date(at).toTimeString().slice(0, 8);
  }
  return shownTime;
}

/** A log line of the runtime or a definition, for people. */
export function logLine(line: LogLine, paint: Paint): Printable {
  const { handle, ...fields } = line.fields;
  const rest = Object.entries(fields).map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`);
  const who = typeof handle === "string" ? say`${paint.bold(handle)} ` : "";
  const label = line.level === "error" ? paint.red("error ") : line.level === "warn" ? paint.yellow("warning ") : "";
  return say`${paint.dim(timeOfDay(line.at))}  ${who}${label}${joined([line.message, ...rest], " ")}`;
}

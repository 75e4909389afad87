/** Renders one picture of a working runtime as lines that fit a terminal of a given size. Pure. */
import type { EndpointSet } from "../contract/operations.ts";
import { MICROS_PER_UNIT, MINUTE, showDuration } from "../core/units.ts";
import type { SpecialistShown } from "../guardian/status.ts";
import { visible } from "../core/visible.ts";
import { timeOfDay } from "./output.ts";
import { painted, type Action } from "./progress.ts";
import { bar, thousands } from "./format-values.ts";
import type { NetworkSummary } from "./run-summary.ts";
import { say, type Paint, type Printable, type Text } from "./text.ts";
import { fit, pad, width, wordLines } from "./width.ts";

/** A specialist's latest announced wait. */
export interface Held {
  readonly until: number;
  readonly message: string;
}

export interface Place {
  readonly name: string;
  readonly text: string;
}

export interface Picture {
  readonly now: number;
  readonly startedAt: number;
  readonly endsAt: number | undefined;
  readonly set: EndpointSet;
  readonly baseUrl: string;
  readonly stopping: boolean;
  readonly specialists: readonly SpecialistShown[];
  readonly held: ReadonlyMap<string, Held>;
  /** Specialists with reliable webhooks: they poll rarely. */
  readonly told: ReadonlySet<string>;
  /** Totals of a network that this process runs itself. */
  readonly totals: NetworkSummary | undefined;
  /** Addresses beside the network's own, each with its purpose, and all that a person needs to open it. */
  readonly places: readonly Place[];
  /** Newest first. */
  readonly actions: readonly Action[];
}

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

const SMALLEST: Size = { columns: 20, rows: 4 };
/** From this width on lines carry the time of day. */
const TIMED = 76;
/** A narrower column cannot explain a wait. */
const LEAST_STATE = 26;
/** A poll this far off is shown with its reason. */
const RARE_MS = 5 * MINUTE;

/** Amount of detail for each specialist. */
interface Detail {
  readonly tier: boolean;
  /** Shows the window of the day beside that of the hour. */
  readonly day: boolean;
  readonly money: boolean;
  /** Cells of a bar. */
  readonly bars: number;
  /** Short wording. */
  readonly short: boolean;
}

/** Richest first: the first that leaves room for each state is used, else the last. */
const DETAILS: readonly Detail[] = [
  { tier: true, day: true, money: true, bars: 10, short: false },
  { tier: true, day: true, money: true, bars: 5, short: false },
  { tier: true, day: true, money: true, bars: 5, short: true },
  { tier: true, day: false, money: true, bars: 5, short: true },
  { tier: false, day: false, money: true, bars: 0, short: true },
  { tier: false, day: false, money: false, bars: 0, short: true },
];

export function frame(picture: Picture, size: Size, paint: Paint): readonly Text[] {
  const columns = Math.max(SMALLEST.columns, size.columns);
  const rows = Math.max(SMALLEST.rows, size.rows);
  const head = [
    header(picture, columns, paint),
    ...placeLines(picture, columns),
    "",
    ...cast(picture, columns, paint),
    "",
    totals(picture, columns, paint),
    "",
  ];
  const foot = ["", paint.dim(fit("Ctrl-C stops", columns))];
  const room = rows - head.length - foot.length - 1;
  if (room < 1) return [...head, ...foot].slice(0, rows);
  const actions = picture.actions.slice(0, room).map((action) => actionText(action, columns, paint));
  return [...head, paint.dim("Latest"), ...actions, ...Array.from({ length: room - actions.length }, () => ""), ...foot].slice(0, rows);
}

function header({ now, startedAt, endsAt, set, baseUrl, stopping }: Picture, columns: number, paint: Paint): Printable {
  const time = stopping
    ? "stopping: waiting for answers in flight"
    : `${showDuration(Math.max(1_000, now - startedAt))}${endsAt === undefined ? "" : ` of ${showDuration(endsAt - startedAt)}`}`;
  return paint.bold(fit(visible(`Retinue  ${time}  Set ${set.toUpperCase()}, ${baseUrl}`), columns));
}

/** Wrapped instead of cut: addresses and tokens are copied. */
function placeLines({ places }: Picture, columns: number): readonly string[] {
  return places.flatMap(({ name, text }) => wordLines(visible(`${name}  ${text}`), columns));
}

interface Cell {
  readonly title: string;
  readonly text: (shown: SpecialistShown) => string;
  readonly right?: boolean;
}

function cast(picture: Picture, columns: number, paint: Paint): readonly Text[] {
  const tables = DETAILS.map((detail) => tableOf(picture.specialists, detail));
  const table = tables.find(({ used }) => columns - used >= LEAST_STATE) ?? tables.at(-1);
  if (table === undefined) return [];
  const line = (texts: readonly string[], last: string): string =>
    fit(`${texts.map((text, i) => pad(text, table.widths[i] ?? 0, table.cells[i]?.right === true)).join("  ")}  ${last}`, columns);
  const titles = table.cells.map(({ title }) => title);
  return [
    paint.dim(line(titles, "Now")),
    ...picture.specialists.map((shown) => {
      const state = stateOf(shown, picture);
      const text = line(
        table.cells.map((cell) => visible(cell.text(shown))),
        visible(state.text),
      );
      return state.tone === "plain" ? text : paint.yellow(text);
    }),
  ];
}

interface Table {
  readonly cells: readonly Cell[];
  readonly widths: readonly number[];
  /** Columns before the last one. */
  readonly used: number;
}

function tableOf(specialists: readonly SpecialistShown[], detail: Detail): Table {
  const { tier, day, money: spends, short } = detail;
  const cells: Cell[] = [
    { title: "Specialist", text: ({ handle }) => handle },
    ...(tier ? [{ title: "Tier", text: (shown: SpecialistShown) => shown.tier ?? "" }] : []),
    { title: short ? "Hour" : "Requests this hour", text: (shown) => use(shown, "hour", detail) },
    ...(day ? [{ title: short ? "Day" : "This day", text: (shown: SpecialistShown) => use(shown, "day", detail) }] : []),
    ...(spends ? [{ title: short ? "Spent" : "Spent today", text: (shown: SpecialistShown) => money(shown, detail) }] : []),
    { title: short ? "Jobs" : "Jobs done", text: won, right: true },
  ];
  const widths = cells.map(({ title, text }) => Math.max(title.length, ...specialists.map((shown) => width(text(shown)))));
  return { cells, widths, used: widths.reduce((sum, one) => sum + one + 2, 0) };
}

function use({ quota }: SpecialistShown, window: "hour" | "day", { bars, short }: Detail): string {
  if (quota === undefined) return "-";
  const { used, limit } = quota[window];
  const figures = short ? `${used}/${thousands(limit)}` : `${used} of ${thousands(limit)}`;
  return bars > 0 ? `${bar(used, limit, bars)} ${figures}` : figures;
}

function money({ money: shown }: SpecialistShown, { bars, short }: Detail): string {
  const texts = shown.map(({ currency, dayMicros, dayCapMicros }) => {
    const spent = dayMicros / MICROS_PER_UNIT;
    if (dayCapMicros === undefined) return `${spent} ${currency}`;
    const cap = dayCapMicros / MICROS_PER_UNIT;
    const limits = bars > 0 ? `${bar(dayMicros, dayCapMicros, 5)} ` : "";
    return short ? `${limits}${spent}/${cap}` : `${limits}${spent} of ${cap} ${currency}`;
  });
  return texts.length === 0 ? "-" : texts.join(", ");
}

/** Jobs with accepted work, of those applied for. */
function won({ actions, jobs }: SpecialistShown): string {
  const applied = actions["jobs.apply"] ?? 0;
  const accepted = (jobs["accepted"] ?? 0) + (jobs["paid"] ?? 0);
  return applied === 0 ? "-" : `${accepted} of ${applied}`;
}

/** Its present work, or the reason for its wait and the end of it. */
function stateOf(shown: SpecialistShown, { now, held, told }: Picture): { readonly text: string; readonly tone: "plain" | "held" } {
  const { parked, awaitsPast, cooldown, waits, failing, open, awaiting, sources } = shown;
  if (parked !== undefined) return { text: parked.message, tone: "held" };
  if (awaitsPast !== undefined) return { text: `waits: ${awaitsPast.message}`, tone: "held" };
  const until = (at: number): string => `until ${timeOfDay(at)} (${showDuration(Math.max(0, at - now))})`;
  if (cooldown !== undefined) return { text: `waits ${until(cooldown.until)}: the network asked it to`, tone: "held" };
  const [wait] = [...waits, ...(held.has(shown.handle) ? [held.get(shown.handle)] : [])].filter(
    (one) => one !== undefined && one.until > now,
  );
  if (wait !== undefined) return { text: `waits ${until(wait.until)}: ${wait.message}`, tone: "held" };
  if (failing !== undefined) return { text: `fails ${failing.tries} times in a row, at ${failing.kind}: ${failing.message}`, tone: "held" };
  if (awaiting !== undefined)
    return { text: `${awaiting.count} to approve within ${showDuration(Math.max(0, awaiting.until - now))}`, tone: "held" };
  const busy = (open["ready"] ?? 0) + (open["sending"] ?? 0);
  if (busy > 0) return { text: `${busy} to send`, tone: "plain" };
  const [next] = sources.flatMap(({ name, dueAt }) => (dueAt === null ? [] : [{ name, dueAt }])).sort((a, b) => a.dueAt - b.dueAt);
  if (next === undefined) return { text: "", tone: "plain" };
  const rarely = told.has(shown.handle) && next.dueAt - now > RARE_MS;
  const when = next.dueAt - now < 1_000 ? "now" : `in ${showDuration(next.dueAt - now)}`;
  return { text: `${rarely ? "gets webhooks, polls" : purposeOf(next.name)} ${when}`, tone: "plain" };
}

function purposeOf(source: string): string {
  const [kind = "", name] = source.split(":", 2);
  if (kind === "schedule") return `does its ${name ?? "round"}`;
  return kind === "jobs" ? "looks for jobs" : name === undefined ? "reads the feed" : `reads ${name}`;
}

function totals({ totals: network, specialists }: Picture, columns: number, paint: Paint): Printable {
  if (network === undefined) return paint.green(fit(visible(doneText(specialists)), columns));
  const { seen, applied, assigned, delivered, accepted, rejected, paid } = network.jobs;
  const text = `Jobs: ${seen} seen, ${applied} applied, ${assigned} won, ${delivered} delivered, ${accepted} accepted, ${rejected} rejected, ${paid} paid`;
  const requests = `Requests: ${network.network.requests}, ${network.network.refused429} refused`;
  return paint.green(fit(width(text) + width(requests) + 3 <= columns ? `${text}   ${requests}` : text, columns));
}

/** Actions of all specialists, by operation, the most frequent first. */
function doneText(specialists: readonly SpecialistShown[]): string {
  const counts = new Map<string, number>();
  for (const { actions } of specialists)
    for (const [operation, count] of Object.entries(actions)) counts.set(operation, (counts.get(operation) ?? 0) + count);
  const shown = [...counts].sort(([, a], [, b]) => b - a).map(([operation, count]) => `${count} × ${operation}`);
  return `Done: ${shown.length === 0 ? "nothing yet" : shown.join(", ")}`;
}

function actionText({ at, handle, told }: Action, columns: number, paint: Paint): Printable {
  const prefix = columns >= TIMED ? `${timeOfDay(at)}  ` : "";
  const who = handle === "" ? "" : `${visible(handle)} `;
  const text = fit(visible(told.text), Math.max(1, columns - prefix.length - width(who)));
  return say`${paint.dim(prefix)}${paint.bold(fit(who, columns - prefix.length))}${painted({ ...told, text }, paint)}`;
}

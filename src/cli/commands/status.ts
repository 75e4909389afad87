/** `retinue status`: shows the running specialists, their usage, waits and open questions. */
import { MICROS_PER_UNIT, showDuration } from "../../core/units.ts";
import { EVERYONE } from "../../limits/verdict.ts";
import { freezeReason } from "../../limits/spending.ts";
import { isStop, unfreezeCommand, type WaitRule } from "../../limits/wait-rules.ts";
import { wordsOf } from "../../outbox/announce.ts";
import { BUDGET_SHARE } from "../../guardian/money-shown.ts";
import { isChange, type Snapshot, type SpecialistShown } from "../../guardian/status.ts";
import { namesOf } from "../../guardian/fleet-status.ts";
import type { SpecialistWebhooks, WebhooksShown } from "../../webhooks/webhooks.ts";
import { heldText } from "../../guardian/held.ts";
import { showFailing } from "../show-failures.ts";
import { EXIT, OPTIONS, type Command } from "../command.ts";
import { withGuardian } from "../find-guardian.ts";
import { flagOption } from "../args.ts";
import type { Output } from "../output.ts";
import { watchStatus } from "../watch-status.ts";
import { costText } from "../proposal.ts";
import { countText, moment, thousands } from "../format-values.ts";
import { say } from "../text.ts";
import type { Column } from "../table.ts";
import { fit } from "../width.ts";

export const command: Command = {
  name: "status",
  describe: "Shows what runs here, each specialist's actions and usage, and what waits or needs you.",
  options: [
    { flags: "--watch", describe: "show it anew every 2 seconds until Ctrl-C; on a pipe, a line for each change" },
    OPTIONS.store,
    OPTIONS.config,
  ],
  examples: ["retinue status", "retinue status --watch", "retinue status --json --store sqlite:.retinue/store.sqlite"],
  async run(context) {
    const { out } = context;
    if (flagOption(context.options, "watch")) {
      out.result({ ok: true, ...(await watchStatus(context, (snapshot, to) => show(snapshot, context.cwd, to))) });
      return EXIT.done;
    }
    const snapshot = await withGuardian(context, (guardian) => guardian.status({}));
    show(snapshot, context.cwd, out);
    out.result({ ok: true, ...snapshot });
    return EXIT.done;
  },
};

function show(snapshot: Snapshot, cwd: string, out: Output): void {
  const { at, storeLost, halts, pauses, frozen } = snapshot;
  const { paint } = out;
  showRunning(snapshot, out);
  if (storeLost !== undefined) out.line(paint.red(`Nothing is sent: ${storeLost.message}`));
  if (storeLost?.hint !== undefined) out.line(`  ${storeLost.hint}`);
  for (const { scope, reason, since, kept } of halts) {
    const end = kept === false ? "; not stored: it ends with the process" : "";
    out.line(
      paint.red(`Halted: ${scope === EVERYONE ? "nobody writes" : `${scope} does not write`} since ${moment(since, at)}: ${reason}${end}`),
    );
  }
  for (const { scope, reason, since } of pauses)
    out.line(paint.yellow(`Paused: ${scope === EVERYONE ? "everyone" : scope} since ${moment(since, at)}: ${reason}`));
  for (const { scope, currency, reason, since } of frozen) {
    out.line(paint.red(`Frozen since ${moment(since, at)}: ${freezeReason(scope, currency, reason)}`));
    out.line(`  after checking: ${unfreezeCommand(scope)}`);
  }
  out.line();
  showFailing(snapshot, at, cwd, out);
  if (storeLost === undefined || snapshot.specialists.length > 0) showSpecialists(snapshot, out);
  for (const { currency, dayMicros, dayCapMicros } of snapshot.money) {
    if (dayCapMicros === undefined) continue;
    const [spent, cap] = [dayMicros / MICROS_PER_UNIT, dayCapMicros / MICROS_PER_UNIT];
    const text = `All together spent or hold ${spent} of ${cap} ${currency} of this day, the Guardian's cap`;
    out.line(dayMicros >= dayCapMicros * BUDGET_SHARE ? paint.yellow(text) : text);
  }
  showUndefined(snapshot, out);
  showAwaitedPast(snapshot, out);
  showWaits(snapshot, out);
  for (const { message, until } of snapshot.models.slice(0, MAX_MODELS_SHOWN)) {
    out.line();
    out.paragraph(`${message}; its events wait, next try ${moment(until, at)}`, paint.yellow);
  }
  const moreModels = snapshot.models.length - MAX_MODELS_SHOWN;
  if (moreModels > 0) out.line(paint.dim(`and ${moreModels} more models wait`));
  showUnread(snapshot, out);
  showGaps(snapshot, out);
  showStanding(snapshot, out);
  if (snapshot.webhooks !== undefined) showWebhooks(snapshot.webhooks, at, out);
  showApprovals(snapshot, out);
  list("Waits for a decision on the network's side (then retinue settle <id>)", "pending", snapshot, out);
  list("Deliveries that were refused, of jobs that are still ours (retinue why <id>)", "undelivered", snapshot, out);
  list("Parked (retinue why <id>, retinue retry <id>)", "parked", snapshot, out);
  list("In doubt: read back by itself (retinue why <id>)", "doubts", snapshot, out);
}

function showSpecialists(snapshot: Snapshot, out: Output): void {
  const { processes = [] } = snapshot;
  out.table(snapshot.specialists, [
    { title: "specialist", value: (row) => row.handle },
    ...(processes.length > 1 ? [PROCESS] : []),
    { title: "tier", value: ({ tier = "-", trust }) => (trust === undefined ? tier : `${tier}, ${trust}`) },
    { title: "done", value: (row) => total(row.actions), align: "right" },
    { title: "to do", value: (row) => (row.open["ready"] ?? 0) + (row.open["sending"] ?? 0), align: "right" },
    ...(snapshot.approvals.length === 0 ? [] : [AWAITING]),
    { title: "jobs", value: jobsText },
    {
      title: "this hour",
      value: ({ quota }) => windowText(quota?.hour),
      align: "right",
    },
    { title: "this day", value: ({ quota }) => windowText(quota?.day), align: "right" },
    { title: "spent", value: spentText, align: "right" },
    { title: "next poll", value: (row) => nextLook(row, snapshot) },
  ]);
}

/** Shows what runs: one process, or all of a fleet. */
function showRunning({ running, processes = [], unseen, at }: Snapshot, out: Output): void {
  const { paint } = out;
  if (running === undefined) return out.line(paint.yellow("No runtime uses this store now. This is its last state."));
  const { since, baseUrl, set, pid } = running;
  const network = `on ${baseUrl} (Set ${set.toUpperCase()})`;
  if (processes.length < 2) out.line(say`${paint.green("Running")} since ${moment(since, at)}, ${network}, process ${pid}`);
  else {
    out.line(say`${paint.green("Running")} ${network}, in ${processes.length} processes`);
    out.table(processes, [
      { title: "process", value: ({ name }) => name },
      { title: "since", value: (row) => moment(row.since, at) },
      { title: "specialists", value: ({ specialists }) => specialists, align: "right" },
      { title: "", value: ({ silent, draining }) => (silent === undefined ? (draining === true ? "draining" : "") : "silent") },
    ]);
  }
  if (unseen !== undefined) out.paragraph(`Not shown: ${unseen}`, paint.yellow);
}

/** A column only where there are several. */
const PROCESS: Column<SpecialistShown> = { title: "process", value: ({ process = "-" }) => process };

/** True for a specialist of the store of which the process that has it has no definition. */
function isUndefinedHere({ running }: Snapshot, { tier, parked }: SpecialistShown): boolean {
  return running !== undefined && tier === undefined && parked === undefined;
}

/** Tells of specialists of a fleet that nobody runs: another process may have their definition. */
function showUndefined(snapshot: Snapshot, out: Output): void {
  const missing = snapshot.specialists.filter((one) => isUndefinedHere(snapshot, one)).map(({ handle }) => handle);
  if (missing.length === 0 || snapshot.processes === undefined) return;
  out.line();
  out.paragraph(
    `Not running, since the process that has them has no definition of them: ${namesOf(missing)}; retinue fleet shows if another has one`,
    out.paint.yellow,
  );
}

/** Tells how many specialists have not begun, because their past is still being read. */
function showAwaitedPast({ specialists }: Snapshot, out: Output): void {
  const waiting = specialists.flatMap(({ handle, awaitsPast }) => (awaitsPast === undefined ? [] : [{ handle, ...awaitsPast }]));
  const [first, ...others] = waiting;
  if (first === undefined) return;
  const more = others.length === 0 ? "" : ` The same holds for ${others.length} more.`;
  out.line();
  out.paragraph(`${first.handle} waits: ${first.message}.${more}`, out.paint.yellow);
}

/** Shows the waits of specialists, lanes and actions. */
function showWaits(snapshot: Snapshot, out: Output): void {
  const { at, frozen } = snapshot;
  const { paint } = out;
  for (const { handle, parked, cooldown, waits, held } of snapshot.specialists) {
    if (parked !== undefined) {
      const { message, probeAt } = parked;
      out.line();
      out.paragraph(`${handle} is parked: ${message}`, paint.red);
      if (probeAt !== undefined) out.line(`  next try: ${moment(probeAt, at)}`);
    }
    if (cooldown !== undefined) {
      out.line();
      out.paragraph(`${handle}: the network asked to wait until ${moment(cooldown.until, at)} (${cooldown.reason})`, paint.yellow);
    }
    // Halts and pauses are shown above, and their lanes have only the time of the next try.
    for (const { lane, message, until } of waits.filter(({ rule }) => !isStop(rule))) {
      out.line();
      out.paragraph(`${handle} waits to ${LANE[lane]} until ${moment(until, at)}: ${message}`, paint.yellow);
    }
    const shown: string[] = ["approval_wanted" satisfies WaitRule, ...waits.map(({ rule }) => rule)];
    if (frozen.length > 0) shown.push("spend_frozen" satisfies WaitRule);
    for (const group of held.filter(({ rule }) => !shown.includes(rule))) {
      const until = group.until === undefined ? "" : ` until ${moment(group.until, at)}`;
      out.paragraph(`${handle}: ${heldText(group)}${until}: ${group.message}`, paint.yellow);
    }
  }
}

/** Shows lists that cannot be read, so that nobody gets their news. */
function showUnread({ specialists, at }: Snapshot, out: Output): void {
  for (const { handle, sources } of specialists)
    for (const { name, readFailure } of sources)
      if (readFailure !== undefined) {
        out.line();
        out.paragraph(
          `${name} of ${handle} has been unreadable since ${moment(readFailure.since, at)}: ${readFailure.message}`,
          out.paint.red,
        );
      }
}

/** Shows items that were never read, because more came than are read back. */
function showGaps({ specialists, at }: Snapshot, out: Output): void {
  const gaps = specialists.flatMap(({ handle, sources }) =>
    sources.flatMap(({ name, gaps: missed }) => missed.map((gap) => ({ handle, name, ...gap }))),
  );
  if (gaps.length === 0) return;
  const latest = gaps.toSorted((a, b) => b.until - a.until).slice(0, MAX_GAPS_SHOWN);
  section(out, "Gaps of the last days: more came than is read back", `: ${gaps.length}`);
  out.table(latest, [
    { title: "specialist", value: ({ handle }) => handle },
    { title: "list", value: ({ name }) => name },
    { title: "from", value: ({ since }) => moment(since, at) },
    { title: "to", value: ({ until }) => moment(until, at) },
    { title: "after", value: ({ after }) => after ?? "-" },
    { title: "before", value: ({ before }) => before },
  ]);
}

const MAX_GAPS_SHOWN = 10;
const MAX_MODELS_SHOWN = 20;

/** Shows open breakers, and changes in the network's answers. */
function showStanding({ stopped, drift, totals, at }: Snapshot, out: Output): void {
  if (stopped.length > 0) {
    const title = "Stopped by the network (retinue why <operation>, retinue retry <operation or specialist>)";
    section(out, title, cutText(stopped.length, totals.stopped, "the first"));
    out.table(stopped, [
      { title: "operation", value: ({ operation }) => operation ?? "all" },
      { title: "specialist", value: ({ handle }) => handle ?? "everyone" },
      { title: "rule", value: ({ code }) => code },
      { title: "since", value: ({ since }) => showDuration(at - since) },
      { title: "tried again", value: ({ probeAt }) => (probeAt === undefined ? "on your order" : moment(probeAt, at)) },
    ]);
  }
  const changed = drift.filter(isChange);
  if (drift.length === 0) return;
  const notes = drift.length - changed.length;
  const rest = `${cutText(drift.length, totals.drift, "among the worst")}${cutText(Math.min(changed.length, MAX_DRIFT_SHOWN), changed.length, "here the worst")}`;
  section(out, "Answers that changed", `: ${changed.length}${notes === 0 ? "" : `, and ${notes} with something new in them`}${rest}`);
  out.table(changed.slice(0, MAX_DRIFT_SHOWN), [
    { title: "operation", value: ({ operation }) => operation },
    { title: "severity", value: ({ severity }) => severity },
    { title: "what", value: ({ kind, path, type }) => `${kind} of ${path} (${type})` },
    { title: "first seen", value: ({ firstSeenMs }) => moment(firstSeenMs, at) },
    { title: "times", value: ({ count }) => count, align: "right" },
  ]);
}

const MAX_DRIFT_SHOWN = 20;

function showWebhooks({ url, route, unsigned, counts, specialists }: WebhooksShown, at: number, out: Output): void {
  const { paint } = out;
  const refused = Object.values(counts.refused).reduce((sum, count) => sum + count, 0);
  const received = `${counts.stored} received, ${counts.known} repeated, ${refused} refused${counts.rateLimited === 0 ? "" : `, ${counts.rateLimited} rate-limited`}${counts.misaddressed === 0 ? "" : `, ${counts.misaddressed} to no specialist of ours`}`;
  section(out, "Webhooks", ` at ${url ?? "no port"}: ${received}`);
  if (route !== undefined) out.line(paint.dim(route));
  if (unsigned) out.line(paint.red("They are not signed (--allow-unsigned): anyone can cause reads; their content is not trusted."));
  out.table(specialists, [
    { title: "specialist", value: (row) => row.handle },
    { title: "webhook", value: (row) => webhookText(row, at) },
    { title: "health", value: (row) => row.health.state },
    { title: "reported", value: (row) => row.health.reported, align: "right" },
    { title: "missed", value: (row) => row.health.missed, align: "right" },
    { title: "not understood", value: (row) => kindsIn(row, "parked") },
    { title: "not handled", value: (row) => kindsIn(row, "unhandled") },
  ]);
}

function webhookText({ state, lastAt, registration: { kind, why = "" } }: SpecialistWebhooks, at: number): string {
  const last = lastAt === undefined ? "" : ` (last ${showDuration(Math.max(0, at - lastAt))} ago)`;
  switch (state) {
    case "working":
      return `deliveries arrive${last}`;
    case "stopped":
      return `${kind === "registered" ? "registered, but " : ""}deliveries stopped${last}`;
    case "unproven":
      return "registered, no delivery yet";
    case "unregistered":
      return `${kind === "deferred" ? "not registered yet" : "not registered"}: ${why}`;
  }
}

function kindsIn({ deliveries }: SpecialistWebhooks, state: string): string {
  const found = deliveries.filter((row) => row.state === state).map(({ kind, count }) => `${kind === "" ? "(no kind)" : kind} ${count}`);
  return found.length === 0 ? "-" : found.slice(0, MAX_KINDS).join(", ");
}

const MAX_KINDS = 5;

/** Purpose of a lane's requests, as in "waits to …". */
const LANE: { readonly [lane: string]: string } = {
  obligation: "deliver what it owes",
  reply: "reply",
  act: "act",
  watch: "check watched objects",
  poll: "poll",
  explore: "explore",
};

function section(out: Output, title: string, rest = ""): void {
  out.line();
  out.line(say`${out.paint.bold(title)}${rest}`);
}

/** One line for each: `retinue approve` shows them completely. */
function showApprovals({ approvals, totals, at }: Snapshot, out: Output): void {
  if (approvals.length === 0) return;
  const title = "Waits for your approval (retinue approve <id> shows it and asks; retinue reject <id>)";
  section(out, title, cutText(approvals.length, totals.approvals, "the longest asked"));
  out.table(approvals, [
    { title: "id", value: (row) => row.id },
    { title: "specialist", value: (row) => row.handle },
    { title: "what", value: (row) => `${row.what}${row.target === undefined ? "" : ` ${row.target}`}` },
    { title: "costs", value: ({ cost }) => costText(cost) },
    { title: "answer by", value: ({ expiresAt }) => moment(expiresAt, at) },
    { title: "begins", value: ({ input }) => fit((wordsOf(input) ?? JSON.stringify(input)).replaceAll(/\s+/g, " "), MAX_BEGINNING) },
  ]);
}

const MAX_BEGINNING = 40;

/** The number of all, next to a list that is cut. */
function cutText(shown: number, total: number, which = "the newest"): string {
  return total > shown ? `: ${which} ${countText(shown, total)}` : "";
}

function list(title: string, name: "pending" | "undelivered" | "parked" | "doubts", snapshot: Snapshot, out: Output): void {
  const { at, totals } = snapshot;
  // Failing events are part of a group above.
  const items = snapshot[name].filter(({ isFailing }) => isFailing !== true);
  if (items.length === 0) return;
  section(out, title, cutText(snapshot[name].length, totals[name]));
  out.table(items, [
    { title: "id", value: (row) => row.id },
    { title: "specialist", value: (row) => row.handle },
    { title: "what", value: (row) => `${row.what}${row.target === undefined ? "" : ` ${row.target}`}` },
    { title: "since", value: (row) => showDuration(at - row.since) },
    { title: "", value: (row) => row.message },
  ]);
}

function total(counts: { readonly [name: string]: number }): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

function windowText(window: { readonly used: number; readonly limit: number } | undefined): string {
  return window === undefined ? "-" : `${window.used}/${thousands(window.limit)}`;
}

/** Actions that wait for the Guardian's approval; a column only while there are some. */
const AWAITING: Column<SpecialistShown> = { title: "asks", value: ({ awaiting }) => awaiting?.count ?? 0, align: "right" };

function jobsText({ jobs }: SpecialistShown): string {
  const shown = Object.entries(jobs).map(([state, count]) => `${count} ${state}`);
  return shown.length === 0 ? "-" : shown.join(", ");
}

function spentText({ money }: SpecialistShown): string {
  const spent = money.filter(({ postedMicros, heldMicros }) => postedMicros > 0 || heldMicros > 0);
  const text = spent.map(
    ({ currency, postedMicros, heldMicros }) =>
      `${postedMicros / MICROS_PER_UNIT} ${currency}${heldMicros > 0 ? ` (+${heldMicros / MICROS_PER_UNIT} held)` : ""}`,
  );
  return text.length === 0 ? "-" : text.join(", ");
}

function nextLook(row: SpecialistShown, snapshot: Snapshot): string {
  if (isUndefinedHere(snapshot, row)) return "not running";
  const { sources, retired } = row;
  const { at } = snapshot;
  const [next] = sources.flatMap(({ name, dueAt }) => (dueAt === null ? [] : [{ name, dueAt }])).sort((a, b) => a.dueAt - b.dueAt);
  if (next === undefined) return retired ? "retired" : "-";
  return next.dueAt <= at ? `${next.name} now` : `${next.name} in ${showDuration(next.dueAt - at)}`;
}

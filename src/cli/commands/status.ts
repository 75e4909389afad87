/** `retinue status`: what runs, what it has used, what waits and for whom. */
import { MICROS_PER_UNIT, showDuration } from "../../core/units.ts";
import { EVERYONE } from "../../limits/admission.ts";
import { freezeReason } from "../../limits/spending.ts";
import { unfreezeCommand } from "../../limits/wait-rules.ts";
import { wordsOf } from "../../outbox/announce.ts";
import type { Snapshot, SpecialistShown, WaitingForPerson } from "../../guardian/status.ts";
import type { SpecialistWebhooks, WebhooksShown } from "../../webhooks/webhooks.ts";
import { EXIT, OPTIONS, type Command } from "../command.ts";
import { withGuardian } from "../find-guardian.ts";
import type { Output } from "../output.ts";
import { costText } from "../proposal.ts";
import { moment } from "../format-values.ts";
import { say } from "../text.ts";

export const command: Command = {
  name: "status",
  describe: "What runs here, what each specialist has done and used, what waits and what needs you.",
  options: [OPTIONS.store, OPTIONS.config],
  examples: ["retinue status", "retinue status --json --store sqlite:.retinue/store.sqlite"],
  async run(context) {
    const { out } = context;
    const snapshot = await withGuardian(context, (guardian) => guardian.status({}));
    show(snapshot, out);
    out.result({ ok: true, ...snapshot });
    return EXIT.done;
  },
};

function show(snapshot: Snapshot, out: Output): void {
  const { running, at, halts, pauses, frozen } = snapshot;
  const { paint } = out;
  out.line(
    running === undefined
      ? paint.yellow("Nothing runs on this store now. This is how it was left.")
      : say`${paint.green("Running")} since ${moment(running.since, at)}, on ${running.baseUrl} (Set ${running.set.toUpperCase()}), process ${running.pid}`,
  );
  for (const { scope, reason, since } of halts)
    out.line(
      paint.red(`Halted: ${scope === EVERYONE ? "nobody writes" : `${scope} does not write`} since ${moment(since, at)}: ${reason}`),
    );
  for (const { scope, reason, since } of pauses)
    out.line(paint.yellow(`Paused: ${scope === EVERYONE ? "everyone" : scope} since ${moment(since, at)}: ${reason}`));
  for (const { scope, currency, reason, since } of frozen) {
    out.line(paint.red(`Frozen since ${moment(since, at)}: ${freezeReason(scope, currency, reason)}`));
    out.line(`  once you have looked: ${unfreezeCommand(scope)}`);
  }
  out.line();
  out.table(snapshot.specialists, [
    { title: "specialist", value: (row) => row.handle },
    { title: "tier", value: ({ tier = "-", trust }) => (trust === undefined ? tier : `${tier}, ${trust}`) },
    { title: "done", value: (row) => total(row.actions), align: "right" },
    { title: "to do", value: (row) => (row.open["ready"] ?? 0) + (row.open["sending"] ?? 0), align: "right" },
    { title: "jobs", value: jobsText },
    {
      title: "this hour",
      value: (row) => (row.quota === undefined ? "-" : `${row.quota.hour.used}/${row.quota.hour.limit}`),
      align: "right",
    },
    { title: "this day", value: (row) => (row.quota === undefined ? "-" : `${row.quota.day.used}/${row.quota.day.limit}`), align: "right" },
    { title: "spent", value: spentText, align: "right" },
    { title: "next look", value: (row) => nextLook(row, at) },
  ]);
  for (const { handle, parked, cooldown, waits } of snapshot.specialists) {
    if (parked !== undefined) {
      const { message, probeAt } = parked;
      out.line();
      out.line(paint.red(`${handle} is parked: ${message}`));
      if (probeAt !== undefined) out.line(`  next try: ${moment(probeAt, at)}`);
    }
    if (cooldown !== undefined) {
      out.line();
      out.line(paint.yellow(`${handle}: the network asked to wait until ${moment(cooldown.until, at)} (${cooldown.reason})`));
    }
    // Halts and pauses are told above, and their lanes only ask again at a time.
    for (const { lane, message, until } of waits.filter(({ rule }) => rule !== "halted" && rule !== "paused")) {
      out.line();
      out.line(paint.yellow(`${handle} waits to ${LANE[lane]} until ${moment(until, at)}: ${message}`));
    }
  }
  showUnread(snapshot, out);
  showGaps(snapshot, out);
  showStanding(snapshot, out);
  if (snapshot.webhooks !== undefined) showWebhooks(snapshot.webhooks, at, out);
  showApprovals(snapshot, out);
  list("Waits for a decision on the network's side (then retinue settle <id>)", snapshot.pending, at, out);
  list("Deliveries that were refused, of jobs that are still ours (retinue why <id>)", snapshot.undelivered, at, out);
  list("Parked (retinue why <id>, retinue retry <id>)", snapshot.parked, at, out);
  list("In doubt: read back by itself (retinue why <id>)", snapshot.doubts, at, out);
}

/** Lists whose news nobody has, since they cannot be read. */
function showUnread({ specialists, at }: Snapshot, out: Output): void {
  for (const { handle, sources } of specialists)
    for (const { name, readFailure } of sources)
      if (readFailure !== undefined) {
        out.line();
        out.line(out.paint.red(`${name} of ${handle} cannot be read since ${moment(readFailure.since, at)}: ${readFailure.message}`));
      }
}

/** What was listed and never read, since more came than is read back. */
function showGaps({ specialists, at }: Snapshot, out: Output): void {
  const gaps = specialists.flatMap(({ handle, sources }) =>
    sources.flatMap(({ name, gaps: missed }) => missed.map((gap) => ({ handle, name, ...gap }))),
  );
  if (gaps.length === 0) return;
  const latest = gaps.toSorted((a, b) => b.until - a.until).slice(0, MAX_GAPS_SHOWN);
  section(out, "Passed over in the last days, as more came than is read back", `: ${gaps.length}`);
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

/** What the network made us stop, and how its answers changed. */
function showStanding({ stopped, drift, at }: Snapshot, out: Output): void {
  if (stopped.length > 0) {
    section(out, "Stopped by what the network says (retinue why <operation>, retinue retry <operation or specialist>)");
    out.table(stopped, [
      { title: "operation", value: ({ operation }) => operation ?? "all" },
      { title: "specialist", value: ({ handle }) => handle ?? "everyone" },
      { title: "rule", value: ({ code }) => code },
      { title: "since", value: ({ since }) => showDuration(at - since) },
      { title: "tried again", value: ({ probeAt }) => (probeAt === undefined ? "on your word" : moment(probeAt, at)) },
    ]);
  }
  const changed = drift.filter(({ severity }) => severity !== "note");
  if (drift.length === 0) return;
  const notes = drift.length - changed.length;
  section(out, "Answers that changed", `: ${changed.length}${notes === 0 ? "" : `, and ${notes} with something new in them`}`);
  out.table(changed.slice(0, MAX_DRIFT_SHOWN), [
    { title: "operation", value: ({ operation }) => operation },
    { title: "severity", value: ({ severity }) => severity },
    { title: "what", value: ({ kind, path, type }) => `${kind} of ${path} (${type})` },
    { title: "first seen", value: ({ firstSeenMs }) => moment(firstSeenMs, at) },
    { title: "times", value: ({ count }) => count, align: "right" },
  ]);
}

const MAX_DRIFT_SHOWN = 20;

function showWebhooks({ url, unsigned, counts, specialists }: WebhooksShown, at: number, out: Output): void {
  const { paint } = out;
  const refused = Object.values(counts.refused).reduce((sum, count) => sum + count, 0);
  const received = `${counts.stored} received, ${counts.known} repeated, ${refused} refused${counts.rateLimited === 0 ? "" : `, ${counts.rateLimited} turned away`}`;
  section(out, "Webhooks", ` at ${url ?? "no port"}: ${received}`);
  if (unsigned)
    out.line(paint.red("They are not signed (--allow-unsigned): anybody can make specialists look; nothing they say is believed."));
  out.table(specialists, [
    { title: "specialist", value: (row) => row.handle },
    { title: "webhook", value: ({ registration: { kind, why } }) => (why === undefined ? kind : `${kind}: ${why}`) },
    { title: "health", value: (row) => row.health.state },
    { title: "told", value: (row) => row.health.told, align: "right" },
    { title: "missed", value: (row) => row.health.missed, align: "right" },
    { title: "last", value: ({ health: { lastToldAt } }) => (lastToldAt === undefined ? "-" : moment(lastToldAt, at)) },
    { title: "not understood", value: (row) => kindsIn(row, "parked") },
    { title: "not handled", value: (row) => kindsIn(row, "unhandled") },
  ]);
}

function kindsIn({ deliveries }: SpecialistWebhooks, state: string): string {
  const found = deliveries.filter((row) => row.state === state).map(({ kind, count }) => `${kind === "" ? "(no kind)" : kind} ${count}`);
  return found.length === 0 ? "-" : found.slice(0, MAX_KINDS).join(", ");
}

const MAX_KINDS = 5;

/** What a request of a lane is for, as in "waits to …". */
const LANE: { readonly [lane: string]: string } = {
  obligation: "deliver what it owes",
  reply: "reply",
  act: "act",
  watch: "look after what it follows",
  poll: "look for news",
  explore: "look around",
};

function section(out: Output, title: string, rest = ""): void {
  out.line();
  out.line(say`${out.paint.bold(title)}${rest}`);
}

/** A line for each: `retinue approve` shows them whole. */
function showApprovals({ approvals, specialists, at }: Snapshot, out: Output): void {
  if (approvals.length === 0) return;
  const more = specialists.reduce((sum, { awaiting }) => sum + (awaiting?.count ?? 0), 0) - approvals.length;
  section(out, "Waits for your word (retinue approve <id> shows all of it and asks; retinue reject <id>)");
  out.table(approvals, [
    { title: "id", value: (row) => row.id },
    { title: "specialist", value: (row) => row.handle },
    { title: "what", value: (row) => `${row.what}${row.target === undefined ? "" : ` ${row.target}`}` },
    { title: "costs", value: ({ cost }) => costText(cost) },
    { title: "answer by", value: ({ expiresAt }) => moment(expiresAt, at) },
    { title: "begins", value: ({ input }) => (wordsOf(input) ?? JSON.stringify(input)).replaceAll(/\s+/g, " ") },
  ]);
  if (more > 0) out.line(out.paint.dim(`and ${more} more, asked for later`));
}

function list(title: string, items: readonly WaitingForPerson[], at: number, out: Output): void {
  if (items.length === 0) return;
  section(out, title);
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

function nextLook({ sources }: SpecialistShown, at: number): string {
  const [next] = sources.flatMap(({ name, dueAt }) => (dueAt === null ? [] : [{ name, dueAt }])).sort((a, b) => a.dueAt - b.dueAt);
  if (next === undefined) return "-";
  return next.dueAt <= at ? `${next.name} now` : `${next.name} in ${showDuration(next.dueAt - at)}`;
}

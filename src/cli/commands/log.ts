/** `retinue log`: lists actions, newest last, and follows new ones with --follow. */
import { defined } from "../../core/defined.ts";
import { Misconfigured } from "../../core/errors.ts";
import { durationMs } from "../../core/units.ts";
import type { LogEntry, LogQuery } from "../../guardian/log-entries.ts";
import type { OrderRow } from "../../store/orders.ts";
import type { Page } from "../../guardian/page.ts";
import { flagOption, PAGE_OPTIONS, pageQuery, textOption } from "../args.ts";
import { EXIT, OPTIONS, type Command, type Context, type ExitCode, type GivenOptions } from "../command.ts";
import { storeConfig, withGuardian } from "../find-guardian.ts";
import { followLog } from "../follow-log.ts";
import { openLifetime } from "../lifetime.ts";
import { actionLine, createFilter } from "../progress.ts";
import { DESCRIBE } from "../describe-event.ts";
import { describeFailure } from "../show-failures.ts";
import { showTimeline } from "../show-timeline.ts";
import { countText, moment } from "../format-values.ts";
import { say, type Text } from "../text.ts";

export const command: Command = {
  name: "log",
  describe: "Lists actions, decisions and failures, newest last.",
  options: [
    { flags: "--as <handle>", describe: "only this specialist" },
    {
      flags: "--kind <kind>",
      describe: "only this operation, such as posts.reply, or kind of event, such as job.assigned; or a whole group, such as jobs or job",
    },
    { flags: "--since <time>", describe: "a time such as 2026-11-21T09:00, or how long ago, such as 2h" },
    { flags: "--search <words>", describe: "only entries with all of these words in their text, ids or reason" },
    {
      flags: "--orders",
      describe:
        "the orders given here, instead: who gave each, when, why, and its result; --kind for one such as approve, --as for its subject",
    },
    { flags: "--events", describe: "the events of one specialist (--as), instead, with the actions they led to and their requests" },
    ...PAGE_OPTIONS,
    { flags: "--follow", describe: "continue with new entries" },
    {
      flags: "--record <event>",
      describe: "write this event, and the specialist's value, as JSON for retinue rehearse; --as for one specialist",
    },
    OPTIONS.store,
    OPTIONS.config,
  ],
  examples: [
    "retinue log --as scout --kind jobs --since 2h",
    "retinue log --search 'welcome aboard'",
    "retinue log --orders --since 7d",
    "retinue log --events --as scout",
    "retinue log --follow",
    "retinue log --record post.created:post_7 > event.json",
  ],
  async run(context) {
    const { options, clock, out } = context;
    const recorded = textOption(options, "record");
    if (recorded !== undefined) return record(context, recorded);
    const query = queryOf(options, clock.now());
    if (flagOption(options, "orders")) return showOrders(context, query);
    if (flagOption(options, "events")) return showEvents(context, query);
    const follows = flagOption(options, "follow");
    if (follows && (await storeConfig(context)).store.kind === "postgres") {
      await followLog(context, query, (entry) => lineOf(entry, context));
      return EXIT.done;
    }
    return withGuardian(context, async (guardian, client) => {
      if (follows && client === undefined)
        throw new Misconfigured("not_running", "no runtime of this folder uses the store, so there is nothing to follow", {
          hint: "leave out --follow to list past actions",
        });
      const { entries, next, total, unseen } = await guardian.log(query);
      for (const entry of entries.toReversed()) out.line(lineOf(entry, context));
      if (entries.length === 0) out.line(query.search === undefined ? "nothing yet" : "nothing found");
      showRest({ entries, ...defined({ next, total, unseen }) }, context);
      if (client === undefined || !follows) {
        out.result({ ok: true, ...defined({ entries, next, total, unseen }) });
        return EXIT.done;
      }
      const lifetime = openLifetime(clock);
      const over = new AbortController();
      void lifetime.over.then(() => over.abort());
      const filter = createFilter();
      await client.follow((name, what) => {
        if (query.handle !== undefined && what.handle !== query.handle) return;
        if (
          query.kind !== undefined &&
          !isOfKind(query.kind, "operation" in what ? what.operation : name === "run" && "kind" in what ? what.kind : undefined)
        )
          return;
        const lines = filter.take(name, what).map((action) => actionLine(action, out));
        if (lines.length > 0) out.progress({ type: name, ...what }, lines);
      }, over.signal);
      lifetime.close();
      return EXIT.done;
    });
  },
};

/** The number of all, the way to older ones, and specialists whose entries are missing. */
function showRest({ entries, next, total, unseen }: Page<unknown>, { out }: Context): void {
  if (unseen !== undefined) out.paragraph(unseen, out.paint.yellow);
  if (total !== undefined && total > entries.length) out.line(out.paint.dim(countText(entries.length, total)));
  if (next !== undefined) out.line(out.paint.dim(`older ones: the same with --before ${next}`));
}

async function showOrders(context: Context, { handle, kind, ...query }: LogQuery): Promise<ExitCode> {
  const { out } = context;
  const page = await withGuardian(context, (guardian) => guardian.orders(defined({ ...query, subject: handle, what: kind })));
  if (page.entries.length === 0) out.line("no orders yet");
  else showOrderTable(page.entries, context);
  showRest(page, context);
  out.result({ ok: true, ...page });
  return EXIT.done;
}

async function showEvents(context: Context, { handle, before, limit }: LogQuery): Promise<ExitCode> {
  const { out, clock } = context;
  if (handle === undefined)
    throw new Misconfigured("option_missing", "--events lists those of one specialist", { expected: "--as <handle>" });
  const page = await withGuardian(context, (guardian) => guardian.events(defined({ handle, before, limit })));
  if (page.entries.length === 0) out.line("no events yet");
  else showTimeline(page.entries, out, clock.now());
  showRest(page, context);
  out.result({ ok: true, ...page });
  return EXIT.done;
}

function showOrderTable(orders: readonly OrderRow[], { out, clock }: Context): void {
  out.table(orders.toReversed(), [
    { title: "when", value: ({ at }) => moment(at, clock.now()) },
    { title: "who", value: ({ who, from }) => (from === "command" ? who : `${who} (${from})`) },
    { title: "order", value: ({ what }) => what },
    { title: "of", value: ({ subject = "everyone" }) => subject },
    { title: "why", value: ({ why = "-" }) => why },
    {
      title: "result",
      value: ({ result = "none: the process ended first", code }) => (code === undefined ? result : `${code}: ${result}`),
    },
  ]);
}

/** The JSON is all that is printed, so that it can go into a file. */
async function record(context: Context, id: string): Promise<ExitCode> {
  const { options, out } = context;
  const handle = textOption(options, "as");
  const recording = await withGuardian(context, (guardian) => guardian.recording({ id, ...(handle === undefined ? {} : { handle }) }));
  out.value(recording);
  out.result({ ok: true, recording });
  return EXIT.done;
}

function isOfKind(kind: string, operation: string | undefined): boolean {
  return operation === kind || operation?.startsWith(`${kind}.`) === true;
}

function lineOf(entry: LogEntry, { out, cwd }: Context): Text {
  if (entry.about === "failure") return say`${actionLine({ ...entry, told: describeFailure(entry, cwd) }, out)} ${out.paint.dim(entry.id)}`;
  const told = DESCRIBE.intent(entry) ?? { text: `will ${entry.operation} ${entry.target ?? ""}`, tone: "quiet" as const };
  const line = actionLine({ ...entry, told }, out);
  // The line of an action that waits for approval contains its id.
  return entry.state === "proposed" ? line : say`${line} ${out.paint.dim(entry.id)}`;
}

function queryOf(options: GivenOptions, now: number): LogQuery {
  const since = textOption(options, "since");
  return {
    ...pageQuery(options),
    ...defined({ search: textOption(options, "search") }),
    ...(since === undefined ? {} : { since: sinceOf(since, now) }),
  };
}

function sinceOf(text: string, now: number): number {
  const at = /^\d{4}-/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(at)) return at;
  try {
    return now - durationMs(text);
  } catch (error) {
    throw new Misconfigured("option_invalid", `--since: ${JSON.stringify(text)} is not a time`, {
      expected: "a time such as 2026-11-21T09:00, or how long ago, such as 2h",
      cause: error,
    });
  }
}

/** `retinue log`: lists actions, newest last, and follows new ones with --follow. */
import { Misconfigured } from "../../core/errors.ts";
import { durationMs } from "../../core/units.ts";
import type { LogEntry, LogQuery } from "../../guardian/log-entries.ts";
import { flagOption, PAGE_OPTIONS, pageQuery, textOption } from "../args.ts";
import { EXIT, OPTIONS, type Command, type Context, type ExitCode, type GivenOptions } from "../command.ts";
import { withGuardian } from "../find-guardian.ts";
import { openLifetime } from "../lifetime.ts";
import { actionLine, createFilter } from "../progress.ts";
import { DESCRIBE } from "../describe-event.ts";
import { describeFailure } from "../show-failures.ts";
import { say } from "../text.ts";

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
    "retinue log --follow",
    "retinue log --record post.created:post_7 > event.json",
  ],
  async run(context) {
    const { options, clock, out } = context;
    const recorded = textOption(options, "record");
    if (recorded !== undefined) return record(context, recorded);
    const query = queryOf(options, clock.now());
    return withGuardian(context, async (guardian, client) => {
      if (flagOption(options, "follow") && client === undefined)
        throw new Misconfigured("not_running", "no runtime uses this store, so there is nothing to follow", {
          hint: "leave out --follow to list past actions",
        });
      const { entries, next } = await guardian.log(query);
      for (const entry of entries.toReversed()) showEntry(entry, context);
      if (entries.length === 0) out.line("nothing yet");
      if (next !== undefined) out.line(out.paint.dim(`older ones: retinue log --before ${next}`));
      if (client === undefined || !flagOption(options, "follow")) {
        out.result({ ok: true, entries, ...(next === undefined ? {} : { next }) });
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

function showEntry(entry: LogEntry, { out, cwd }: Context): void {
  if (entry.about === "failure")
    return out.line(say`${actionLine({ ...entry, told: describeFailure(entry, cwd) }, out)} ${out.paint.dim(entry.id)}`);
  const told = DESCRIBE.intent(entry) ?? { text: `will ${entry.operation} ${entry.target ?? ""}`, tone: "quiet" as const };
  const line = actionLine({ ...entry, told }, out);
  // The line of an action that waits for approval contains its id.
  out.line(entry.state === "proposed" ? line : say`${line} ${out.paint.dim(entry.id)}`);
}

function queryOf(options: GivenOptions, now: number): LogQuery {
  const since = textOption(options, "since");
  return { ...pageQuery(options), ...(since === undefined ? {} : { since: sinceOf(since, now) }) };
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

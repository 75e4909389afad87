/**
 * `retinue log --follow` of a fleet: new entries of all processes, and those that have changed. They are read again and again, because what a
 * process announces is of its own specialists alone.
 */
import { defined } from "../core/defined.ts";
import { SECOND } from "../core/units.ts";
import type { LogEntry, LogQuery } from "../guardian/log-entries.ts";
import type { Page } from "../guardian/page.ts";
import type { Context } from "./command.ts";
import { withGuardian } from "./find-guardian.ts";
import { lookAgain } from "./look-again.ts";
import { say, type Text } from "./text.ts";

const LOOK_MS = SECOND;
/** Entries of a look; older ones are not seen to change. */
const NEWEST = 200;
/** Entries that are remembered: those of a process that is not seen for a while are not shown again. */
const MAX_KNOWN = 5_000;

/** Ends on Ctrl-C. `lineOf` gives the line of an entry. Throws as `retinue log` does if the first look fails. */
export async function followLog(context: Context, query: LogQuery, lineOf: (entry: LogEntry) => Text): Promise<void> {
  const { clock, out } = context;
  const show = createFollower(query.limit);
  let trouble: string | undefined;
  const tell = (message: string | undefined, text: (message: string) => Text): void => {
    const at = clock.now();
    if (message !== undefined && message !== trouble)
      out.progress({ type: "unanswered", at, message }, say`${out.time(at)}  ${text(message)}`);
    trouble = message;
  };
  await lookAgain(context, {
    everyMs: LOOK_MS,
    look: (within) => withGuardian(within, (guardian) => guardian.log({ ...query, limit: Math.max(query.limit, NEWEST) })),
    take(page) {
      const { fresh, isCut } = show(page);
      if (isCut) out.progress({ type: "skipped", at: clock.now() }, out.paint.dim("more came than one look shows: retinue log lists all"));
      for (const entry of fresh) out.progress({ type: entry.about, ...entry }, lineOf(entry));
      tell(page.unseen, (message) => say`a part of the fleet is not seen now: ${message}`);
    },
    failed: (message) => tell(message, (said) => say`no answer now, and tried again: ${said}`),
  });
}

/** Takes pages, newest entries first. Gives those that are new or have changed, newest last: of the first page so many. */
export function createFollower(first: number) {
  const known = new Map<string, string>();
  let isFirst = true;
  return ({ entries, next }: Page<LogEntry>): { readonly fresh: readonly LogEntry[]; readonly isCut: boolean } => {
    const fresh = isFirst ? entries.slice(0, first) : entries.filter((entry) => known.get(idOf(entry)) !== standingOf(entry));
    const isCut = !isFirst && next !== undefined && fresh.length === entries.length;
    isFirst = false;
    for (const entry of entries.toReversed()) {
      const id = idOf(entry);
      known.delete(id);
      known.set(id, standingOf(entry));
    }
    for (const [id] of known) if (known.size > MAX_KNOWN) known.delete(id);
    return { fresh: fresh.toReversed(), isCut };
  };
}

function idOf({ about, handle, seq }: LogEntry): string {
  return `${about} ${handle} ${seq}`;
}

/** The parts of an entry that change. */
function standingOf(entry: LogEntry): string {
  const { state, code, message } = entry;
  return JSON.stringify(defined({ state, code, message, tries: entry.about === "failure" ? entry.tries : undefined }));
}

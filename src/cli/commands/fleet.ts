/** `retinue fleet`: shows the processes that share a store on a server, and drains one of them. */
import { Misconfigured, Refused } from "../../core/errors.ts";
import { showDuration } from "../../core/units.ts";
import { drainProcess } from "../../guardian/fleet-guardian.ts";
import type { Handle } from "../../core/ids.ts";
import { askProcesses, type Heard } from "../../guardian/ask-processes.ts";
import { namesOf } from "../../guardian/fleet-status.ts";
import { apartText, CLOCKS_APART_MS } from "../../runtime/fleet-log.ts";
import type { FleetProcess, FleetView } from "../../store/postgres/fleet-view.ts";
import type { Membership } from "../../store/postgres/membership.ts";
import { HELLO_MS } from "../../runtime/hello.ts";
import { SHARDS } from "../../store/postgres/ownership.ts";
import { NO_PROCESS } from "../../store/postgres/placements.ts";
import { EXIT, OPTIONS, type Command, type Context } from "../command.ts";
import { storeConfig } from "../find-guardian.ts";
import { visit } from "../fleet-session.ts";
import { moment } from "../format-values.ts";
import { shellUser } from "../shell-user.ts";
import type { Column } from "../table.ts";

export const command: Command = {
  name: "fleet",
  arguments: "[drain] [process]",
  describe:
    "Shows the processes that share a store on PostgreSQL: each one's share of the specialists, its version, if it answers, and a clock that is wrong. drain gives those of one process to the others.",
  options: [OPTIONS.store, OPTIONS.config],
  examples: ["retinue fleet", "retinue fleet drain web-1:4711"],
  async run(context) {
    const { out, clock, args } = context;
    const [action, name] = args;
    if (action !== undefined && action !== "drain")
      throw new Misconfigured("command_misused", `fleet cannot "${action}"`, { expected: "nothing, or drain <process>" });
    const { store } = await storeConfig(context);
    if (store.kind !== "postgres")
      throw new Misconfigured("command_misused", "this store is a file, which one process has", {
        expected: "a store on PostgreSQL",
        hint: "retinue status shows that process",
      });
    const membership = await visit(store, clock);
    try {
      const view = await membership.look();
      if (action === undefined) {
        await show(membership, view, context);
        return EXIT.done;
      }
      const { message } = await drainProcess(membership, processCalled(view, name), {
        all: view.processes,
        by: shellUser(context.env).who,
      });
      out.line(message);
      out.result({ ok: true, message });
      return EXIT.done;
    } finally {
      await membership.close();
    }
  },
};

/** Specialists named that their process has no definition of. */
const MOST_NAMED = 20;

type Undefined = Awaited<ReturnType<Membership["undefinedSpecialists"]>>;

interface Shown extends FleetProcess, Heard {
  readonly handles: readonly Handle[];
}

async function show(membership: Membership, view: FleetView, { out, clock }: Context): Promise<void> {
  const { processes, free, serverNow } = view;
  const aheadMs = clock.now() - serverNow;
  const [heard, handles] = await Promise.all([askProcesses(membership, processes), membership.handlesOf(view)]);
  const rows = processes.map((one): Shown => ({
    ...one,
    ...(heard.get(one.number) ?? { answers: false }),
    handles: handles.get(one.number) ?? [],
  }));
  out.table(rows, [
    { title: "process", value: ({ name }) => name },
    { title: "since", value: ({ startedAt }) => moment(startedAt, serverNow) },
    { title: "version", value: ({ version }) => version },
    { title: "shards", value: ({ shards }) => `${shards.length} of ${SHARDS}`, align: "right" },
    { title: "specialists", value: (row) => row.handles.length, align: "right" },
    { title: "waiting", value: waiting, align: "right" },
    { title: "state", value: ({ answers, draining }) => [answers ? "answers" : "silent", ...(draining ? ["draining"] : [])].join(", ") },
    ...(rows.some(isApart) ? [CLOCK] : []),
    ...(areDifferent(rows) ? [DEFINITIONS] : []),
  ]);
  if (processes.length === 0)
    out.line("No process is connected to this store. If some run and its server has just begun, they connect within seconds.");
  const silent = rows.filter(({ answers }) => !answers);
  if (silent.length > 0) {
    const names = silent.map(({ name }) => name).join(", ");
    const what = `did not answer within ${showDuration(HELLO_MS)}: one that is stopped loses its specialists to the others after session_timeout`;
    out.line(out.paint.yellow(`${names} ${what}`));
  }
  for (const { name, trouble, shards } of rows)
    if (trouble !== undefined)
      out.paragraph(`${name} can open ${shards.length === 0 ? "no store" : "no further store"}: ${trouble}`, out.paint.yellow);
  if (free.length > 0) {
    const homeless = handles.get(NO_PROCESS) ?? [];
    const named = homeless.length === 0 ? "" : `: ${namesOf(homeless)}`;
    out.paragraph(`${free.length} of ${SHARDS} shards are free, so what is in them does not run${named}`, out.paint.yellow);
  }
  if (areDifferent(rows))
    out.line(
      out.paint.yellow("Definitions or the Guardian's settings differ between processes: a specialist does what those of its process say"),
    );
  const lacking = await membership.undefinedSpecialists(view, MOST_NAMED);
  if (lacking.total > 0) out.line(out.paint.yellow(lackingText(lacking)));
  if (Math.abs(aheadMs) > CLOCKS_APART_MS) out.line(out.paint.yellow(`The clock of this machine is ${apartText(aheadMs)} the server's`));
  const shown = rows.map(({ shards, ...rest }) => ({ ...rest, shards: shards.length }));
  out.result({ ok: true, processes: shown, freeShards: free.length, shards: SHARDS, aheadOfServerMs: aheadMs, withoutDefinition: lacking });
}

function lackingText({ first, total }: Undefined): string {
  const names = first.map(({ handle, isDefinedElsewhere }) => (isDefinedElsewhere ? `${handle} (another process has it)` : handle));
  const more = total > first.length ? ` and ${total - first.length} more` : "";
  return `No definition at their process, so they do not run (${total}): ${names.join(", ")}${more}`;
}

/** Events that no handler has taken yet. */
function waiting({ events = 0, oldestEventMs, answers }: Shown): string {
  if (!answers) return "?";
  return oldestEventMs === undefined ? String(events) : `${events}, oldest ${showDuration(oldestEventMs)}`;
}

function areDifferent(rows: readonly Shown[]): boolean {
  return new Set(rows.flatMap(({ definitions }) => definitions ?? [])).size > 1;
}

/** A column only where they differ. */
const DEFINITIONS: Column<Shown> = { title: "definitions", value: ({ definitions = "?" }) => definitions };

function isApart({ aheadOfServerMs = 0 }: Heard): boolean {
  return Math.abs(aheadOfServerMs) > CLOCKS_APART_MS;
}

/** A column only where a clock is wrong. */
const CLOCK: Column<Shown> = {
  title: "clock",
  value: (row) => (isApart(row) ? `${apartText(row.aheadOfServerMs ?? 0)} the server's` : ""),
};

function processCalled({ processes }: FleetView, name: string | undefined): FleetProcess {
  const known = processes.map((one) => `${one.name} (${one.number})`).join(", ");
  if (name === undefined)
    throw new Misconfigured("command_misused", "drain has to know which process", {
      expected: processes.length === 0 ? "the name of a process; none works on this store" : `one of ${known}`,
    });
  const found = processes.filter((one) => one.name === name || String(one.number) === name);
  const [process] = found;
  if (process !== undefined && found.length === 1) return process;
  throw new Refused("nothing_found", `${found.length === 0 ? "no process" : "more than one process"} is called "${name}"`, {
    hint: processes.length === 0 ? "no process works on this store" : `retinue fleet lists them: ${known}`,
  });
}

/** `retinue fleet`: shows the processes that share a store on a server, and drains one of them. */
import { Misconfigured, Refused } from "../../core/errors.ts";
import { showDuration } from "../../core/units.ts";
import { drainProcess } from "../../guardian/fleet-guardian.ts";
import type { FleetProcess, FleetView } from "../../store/postgres/fleet-view.ts";
import type { Membership } from "../../store/postgres/membership.ts";
import { SHARDS } from "../../store/postgres/ownership.ts";
import { EXIT, OPTIONS, type Command, type Context } from "../command.ts";
import { storeConfig } from "../find-guardian.ts";
import { visit } from "../fleet-session.ts";
import { moment } from "../format-values.ts";

export const command: Command = {
  name: "fleet",
  arguments: "[drain] [process]",
  describe:
    "Shows the processes that share a store on PostgreSQL: each one's share of the specialists, time of start and version. drain gives those of one process to the others.",
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
        show(view, await membership.undefinedSpecialists(view, MOST_NAMED), context);
        return EXIT.done;
      }
      const { message } = await drainProcess(membership, processCalled(view, name), view.processes);
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

function show({ processes, free, serverNow }: FleetView, lacking: Undefined, { out, clock }: Context): void {
  const aheadMs = clock.now() - serverNow;
  out.table(processes, [
    { title: "process", value: ({ name }) => name },
    { title: "since", value: ({ startedAt }) => moment(startedAt, serverNow) },
    { title: "version", value: ({ version }) => version },
    { title: "shards", value: ({ shards }) => `${shards.length} of ${SHARDS}`, align: "right" },
    { title: "", value: ({ draining }) => (draining ? "draining" : "") },
  ]);
  if (processes.length === 0) out.line("No process works on this store.");
  if (free.length > 0) out.line(out.paint.yellow(`${free.length} of ${SHARDS} shards are free: their specialists do not run`));
  if (lacking.total > 0) out.line(out.paint.yellow(lackingText(lacking)));
  if (Math.abs(aheadMs) > WORTH_TELLING_MS)
    out.line(
      out.paint.yellow(
        `The clock of this machine is ${showDuration(Math.abs(aheadMs))} ${aheadMs > 0 ? "ahead of" : "behind"} the server's`,
      ),
    );
  const shown = processes.map(({ shards, ...rest }) => ({ ...rest, shards: shards.length }));
  out.result({ ok: true, processes: shown, freeShards: free.length, shards: SHARDS, aheadOfServerMs: aheadMs, withoutDefinition: lacking });
}

function lackingText({ first, total }: Undefined): string {
  const names = first.map(({ handle, isDefinedElsewhere }) => (isDefinedElsewhere ? `${handle} (another process has it)` : handle));
  const more = total > first.length ? ` and ${total - first.length} more` : "";
  return `No definition at their process, so they do not run (${total}): ${names.join(", ")}${more}`;
}

const WORTH_TELLING_MS = 2_000;

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

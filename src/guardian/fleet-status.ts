/** The status of a fleet: that of each process, joined, with what each process has and whether it answers. */
import { isRetinueError, messageOf, Retryable, type RetinueError } from "../core/errors.ts";
import type { Handle } from "../core/ids.ts";
import type { FleetProcess } from "../store/postgres/fleet-view.ts";
import { NO_PROCESS } from "../store/postgres/placements.ts";
import type { Heard } from "./ask-processes.ts";
import type { GuardianPart } from "./guardian-part.ts";
import { nobodyAtWork } from "./join-guardians.ts";
import { joinStatuses } from "./join-statuses.ts";
import type { ProcessShown } from "./process-shown.ts";
import type { Snapshot, SpecialistShown } from "./status.ts";

export interface Seen {
  /** The living processes; the oldest first. */
  readonly processes: readonly FleetProcess[];
  /** Shards that no process has. */
  readonly free: readonly number[];
  /** The specialists that each has, by its number, also where it does not answer; those of free shards at `NO_PROCESS`. */
  readonly handles: () => Promise<ReadonlyMap<number, readonly Handle[]>>;
  /** Asks processes if they work: those that have nothing to show, and all where shards are free. Without those that have ended meanwhile. */
  readonly hello: (processes: readonly FleetProcess[]) => Promise<ReadonlyMap<number, Pick<Heard, "answers" | "trouble">>>;
}

interface Answered {
  readonly name: string;
  readonly snapshot: Snapshot;
}

/** Throws `whyNobody` if there is no part, and `Retryable` (`process_silent`) if none answers. */
export async function statusOfFleet(
  parts: readonly GuardianPart[],
  seen: () => Promise<Seen>,
  whyNobody: () => RetinueError = nobodyAtWork,
): Promise<Snapshot> {
  const { processes, free, handles, hello } = await seen(); // as they are asked: a silent one may lose its shards meanwhile
  const idle = processes.filter(({ shards }) => shards.length === 0);
  const [asked, heard] = await Promise.all([
    Promise.allSettled(parts.map(({ guardian }) => guardian.status({}))),
    hello(free.length === 0 ? idle : processes),
  ]);
  const answered = asked.flatMap((one, i): readonly Answered[] =>
    one.status === "fulfilled" ? [{ name: parts[i]?.name ?? "", snapshot: one.value }] : [],
  );
  const silent = new Map(
    asked.flatMap((one, i) =>
      one.status === "rejected" && !isGone(one.reason) ? [[parts[i]?.name ?? "", messageOf(one.reason as unknown)] as const] : [],
    ),
  );
  for (const { number, name } of idle) if (heard.get(number)?.answers === false) silent.set(name, `${name} does not answer`);
  const isAnybodyHere = idle.some(({ number }) => heard.get(number)?.answers === true);
  const isAnybodyAtWork = processes.some(({ name, shards }) => shards.length > 0 && silent.has(name));
  if (answered.length === 0 && (silent.size === 0 || (isAnybodyHere && !isAnybodyAtWork))) throw whyNobody();
  if (answered.length === 0)
    throw new Retryable(
      "process_silent",
      `no process ${isAnybodyHere ? "that has specialists " : ""}answers: ${[...silent].map(sentence).join("; ")}`,
      {
        hint: "retinue fleet shows the processes",
      },
    );
  const joined = joinStatuses(answered.map(({ name, snapshot }) => ({ ...snapshot, specialists: snapshot.specialists.map(at(name)) })));
  const known = new Set(joined.specialists.flatMap(({ handle, process }) => (process === undefined ? [] : [handle])));
  const counts = Map.groupBy(joined.specialists, ({ process }) => process);
  const all = silent.size + free.length === 0 ? undefined : await handles();
  const unshownOf = (number: number): readonly Handle[] => (all?.get(number) ?? []).filter((handle) => !known.has(handle));
  const shown = processes.map(({ number, name, version, startedAt, draining }): ProcessShown => {
    const message = silent.get(name);
    const missing = message === undefined ? [] : unshownOf(number);
    return {
      name,
      version,
      since: startedAt,
      specialists: (counts.get(name)?.length ?? 0) + missing.length,
      ...(draining ? { draining: true } : {}),
      ...(message === undefined ? {} : { silent: { message: sentence([name, message]), handles: missing } }),
    };
  });
  const homeless = unshownOf(NO_PROCESS);
  const troubles = homeless.length === 0 ? [] : troublesOf(processes, heard);
  const unseen = unseenIn(shown, homeless, troubles);
  if (unseen === undefined) return { ...joined, processes: shown };
  return { ...joined, processes: shown, unseen, unseenHandles: [...shown.flatMap((one) => one.silent?.handles ?? []), ...homeless] };
}

/** True for the answer of a part that has gone to another process, or of a process that has none. */
function isGone(error: unknown): boolean {
  return isRetinueError(error) && (error.code === "nothing_found" || error.code === "nobody_at_work");
}

/** Names the process of those that run there. */
function at(process: string): (one: SpecialistShown) => SpecialistShown {
  return (one) => (one.tier === undefined ? one : { ...one, process });
}

function sentence([name, message]: readonly [string, string]): string {
  return message.startsWith(name) ? message : `${name}: ${message}`;
}

const MAX_NAMED = 20;

/** The reasons for which processes can open no store, or not all that they should. */
function troublesOf(processes: readonly FleetProcess[], heard: Awaited<ReturnType<Seen["hello"]>>): readonly string[] {
  return processes.flatMap(({ number, name }) => {
    const trouble = heard.get(number)?.trouble;
    return trouble === undefined ? [] : [`${name} cannot open their store: ${trouble}`];
  });
}

function unseenIn(processes: readonly ProcessShown[], homeless: readonly Handle[], troubles: readonly string[]): string | undefined {
  const silent = processes.flatMap((one) => (one.silent === undefined ? [] : [one.silent]));
  const told = silent.map(({ message, handles }) => `${message}; it has ${namesOf(handles)}`);
  if (homeless.length > 0) {
    const why = troubles.length === 0 ? "retinue fleet shows the processes" : troubles.join("; ");
    told.push(`${homelessText(homeless)}, so nothing is done for them; ${why}`);
  }
  return told.length === 0 ? undefined : told.join("; ");
}

export function homelessText(handles: readonly Handle[]): string {
  return `no process has ${namesOf(handles)}`;
}

/** The specialists that no process has. */
export async function homelessIn({ free, handles }: Seen): Promise<readonly Handle[]> {
  return free.length === 0 ? [] : ((await handles()).get(NO_PROCESS) ?? []);
}

export function namesOf(handles: readonly string[]): string {
  if (handles.length === 0) return "no specialist";
  const more = handles.length - MAX_NAMED;
  const names = `${handles.slice(0, MAX_NAMED).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
  return `${handles.length} ${handles.length === 1 ? "specialist" : "specialists"}: ${names}`;
}

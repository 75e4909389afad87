/** Checks what a test gives, for tests whose types nobody checks: a misspelt option or another payload would let a test pass that tests nothing. */
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { checkedDefinitions, loadDefinition } from "../config/definitions.ts";
import { nearest, throwMistakes } from "../config/problem.ts";
import type { EventKind, EventPayloads } from "../contract/event-kinds.ts";
import { SETS } from "../contract/operations.ts";
import type { NetworkRecord } from "../contract/records.ts";
import { Misconfigured } from "../core/errors.ts";
import { isObject } from "../core/json.ts";
import type { SpecialistDefinition } from "../specialist/definition.ts";
import type { Specialist } from "../specialist/specialist.ts";

/** The names of an interface, complete by its type. */
export type NamesOf<Options> = { readonly [Name in keyof Required<Options>]: true };

/** Throws `Misconfigured` (`key_unknown`) for the first name that does not exist, such as `reads.posts`. */
export function checkNames<Options extends object>(given: Options, names: NamesOf<Options>, place = ""): void {
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(names, name)) continue;
    const known = Object.keys(names);
    const near = nearest(name, known);
    throw new Misconfigured("key_unknown", `${place}${name}: no such option`, {
      expected: `one of ${known.join(", ")}`,
      hint: near === undefined ? `remove "${name}"` : `did you mean "${near}"?`,
    });
  }
}

/** Throws `Misconfigured` (`set_unknown`). */
export function checkSet(set: string): void {
  if (!SETS.some((one) => one === set))
    throw new Misconfigured("set_unknown", `there is no set ${JSON.stringify(set)}`, { expected: SETS.join(" or ") });
}

/** A definition as a person exports it: not its promise, and not the whole module. Throws `Misconfigured` (`default_async`, `default_missing`). */
export function checkDefinition(given: unknown): void {
  if (typeof given !== "object" || given === null) return; // the definition's own check says what it got
  if ("then" in given) throw new Misconfigured("default_async", "the definition is a promise", { hint: "await it" });
  if (!("handle" in given) && "default" in given)
    throw new Misconfigured("default_missing", "the definition is a whole module", {
      hint: 'give its default export: import hello from "./hello.ts"',
    });
}

/** A definition, or a specialist that `loadSpecialist` or `createSpecialist` made of one. */
export type GivenSpecialist = SpecialistDefinition | Specialist;

/** The specialists, in this order. Throws `Misconfigured` for the first mistake in a definition. */
export function specialistsOf(given: readonly GivenSpecialist[]): readonly Specialist[] {
  given.forEach(checkDefinition);
  const made = checkedDefinitions(given.filter((one) => !isMade(one))).values();
  return given.flatMap((one) => (isMade(one) ? one : (made.next().value ?? [])));
}

function isMade(given: GivenSpecialist): given is Specialist {
  return typeof given === "object" && given !== null && "deadlineMs" in given;
}

/**
 * Loads a specialist from its file, for a test of one that cannot be imported, such as `agents/guide.md`. A path is relative to the working
 * directory. Throws `Misconfigured` for the first mistake in the file.
 */
export async function loadSpecialist(file: string | URL): Promise<Specialist> {
  const { definition, problems } = await loadDefinition(resolve(typeof file === "string" ? file : fileURLToPath(file)));
  throwMistakes(problems);
  if (definition === undefined) throw new Misconfigured("specialists_empty", `there is no specialist in ${String(file)}`);
  return definition.specialist;
}

/** The record of an event's payload, by the type of the payload. */
type RecordOf = {
  readonly [Kind in EventKind as EventPayloads[Kind] extends { readonly kind: string } ? Kind : never]: NetworkRecord["kind"];
};

const RECORDS: RecordOf = {
  "post.created": "post",
  "reply.created": "post",
  "mention.created": "post",
  "job.listed": "job",
  "job.applied": "job",
  "job.delivered": "job",
  "job.assigned": "job",
  "job.accepted": "job",
  "job.rejected": "job",
  "job.paid": "job",
  "follower.new": "agent",
};

/** Throws `Misconfigured` (`payload_invalid`) for a payload that is no record, or another one than events of this kind have. */
export function checkPayload(kind: string, payload: unknown): void {
  const expected = Object.entries(RECORDS).find(([name]) => name === kind)?.[1];
  if (expected === undefined) return;
  const got = isObject(payload) ? payload["kind"] : undefined;
  if (got === expected) return;
  const told = typeof got === "string" ? `the record of a ${got}` : payload === null || payload === undefined ? "none" : typeof payload;
  throw new Misconfigured("payload_invalid", `${kind}: expected the record of a ${expected} as payload, got ${told}`, {
    hint: `make one by ${expected}({ … })`,
  });
}

/** Several answers to `retinue why`, each about the rows of one store, as one. */
import type { Explanation } from "./explanation.ts";
import { once } from "./join-statuses.ts";

/** An answer about one of the first counts before those about the others. */
const ORDER = ["intent", "event", "specialist", "operation", "object", "watch"] as const satisfies readonly Explanation["about"][];

/** True for an answer that no other store can add to: an action is in one store, and so is a specialist that runs. */
export function isWhole({ about, process }: Explanation): boolean {
  return about === "intent" || (about === "specialist" && process !== undefined);
}

/** Undefined if there is none. */
export function joinExplanations(all: readonly Explanation[]): Explanation | undefined {
  const [first] = all.toSorted((a, b) => ORDER.indexOf(a.about) - ORDER.indexOf(b.about));
  const alike = all.filter(({ about }) => about === first?.about);
  if (first === undefined || alike.length === 1) return first;
  switch (first.about) {
    case "event":
      return joinEvents(alike);
    case "operation":
      return joinOperations(alike);
    case "object":
    case "watch": {
      const named = alike.flatMap((one) => one.found ?? []);
      const found = once(named, (one) => `${one.about} ${one.handle} ${one.id}`);
      return found.length === 0 ? first : { ...first, found };
    }
    case "intent":
    case "specialist":
      return alike.find(isWhole) ?? first;
  }
}

/** The event at the specialist with the worst result, and at the others. */
function joinEvents(all: readonly Explanation[]): Explanation | undefined {
  const rank = ({ state, hint }: Explanation): number => (state === "done" ? 2 : hint === undefined ? 1 : 0);
  const each = all.flatMap(({ found = [], ...own }) => [own, ...found]).toSorted((a, b) => rank(a) - rank(b));
  const [first, ...found] = each.map((one) => ({ ...one, ...(one.hint === undefined ? {} : { hint: ofSpecialist(one, one.hint) }) }));
  return first && { ...first, found };
}

/** One store knows the event at one specialist, and so names none. */
function ofSpecialist({ id, handle }: Explanation, hint: string): string {
  return hint.includes(" --as ") ? hint : hint.replaceAll(id, `${id} --as ${handle}`);
}

/** Handles of the specialists at which an event waits for a person. */
export function failedAt({ about, handle, hint, found = [] }: Explanation): readonly string[] {
  return about === "event" ? [...(hint === undefined ? [] : [handle]), ...found.flatMap(failedAt)] : [];
}

const STATES = ["stopped", "changed", "open"];

/** Breakers of everyone are in each store that has met the failure. */
function joinOperations(all: readonly Explanation[]): Explanation | undefined {
  const worstFirst = all.toSorted((a, b) => STATES.indexOf(a.state) - STATES.indexOf(b.state));
  const [first] = worstFirst;
  const reasons = worstFirst.flatMap((one) => one.reasons);
  return (
    first && {
      ...first,
      since: Math.min(...all.map(({ since }) => since)),
      reasons: once(reasons, ({ rule, message }) => `${rule}\n${message}`),
    }
  );
}

/** Advice for a handle that names no specialist. */
import { nearest } from "./problem.ts";

/** Handles that a message names; a fleet may have thousands. */
const MOST_NAMED = 10;
const LIST = "retinue plan lists the specialists of this folder, and retinue status those at work";
const DID_YOU_MEAN = "did you mean";

export interface HandleAdvice {
  readonly expected?: string;
  readonly hint?: string;
}

/** The nearest of the known handles, or all of a few. */
export function handleAdvice(handle: string, known: readonly string[]): HandleAdvice {
  if (known.length === 0) return { expected: "the handle of a specialist, of which there is none" };
  const near = nearest(handle, known);
  if (near !== undefined) return { hint: `${DID_YOU_MEAN} "${near}"?` };
  return known.length > MOST_NAMED ? { hint: LIST } : { expected: `one of ${known.toSorted().join(", ")}` };
}

/** One advice of several, each about a part of the specialists. */
export function joinAdvice(all: readonly HandleAdvice[]): HandleAdvice {
  return all.find(({ hint }) => hint?.startsWith(DID_YOU_MEAN)) ?? { hint: LIST };
}

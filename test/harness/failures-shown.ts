/** A failed handling as status and log show it, all of it in one word. */
import type { FailingShown } from "../../src/guardian/failures.ts";
import type { FailureEntry } from "../../src/guardian/log-entries.ts";

export function failingShown(word: string, at: number): FailingShown {
  const place = { file: word, line: 1 };
  return {
    handle: word,
    what: word,
    code: word,
    message: word,
    pattern: word,
    count: 2,
    parked: 1,
    tries: 1,
    failedAt: at,
    nextAt: at,
    ...place,
    id: word,
    hint: word,
  };
}

export function failureEntry(word: string, at: number): FailureEntry {
  const place = { file: word, line: 1 };
  return {
    about: "failure",
    seq: 2,
    id: word,
    at,
    handle: word,
    kind: word,
    state: "parked",
    code: word,
    message: word,
    tries: 5,
    ...place,
  };
}

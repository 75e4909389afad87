/** Waiting for a signal: one listener for all who wait, and a call that takes one of them back. */
import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { onAbort } from "../../src/core/abort.ts";

test("all who wait for a signal share one listener, and each runs once", () => {
  const ending = new AbortController();
  const seen: string[] = [];
  const same = (): void => void seen.push("same");
  for (const run of [() => void seen.push("first"), same, same]) onAbort(ending.signal, run);
  expect(getEventListeners(ending.signal, "abort")).toHaveLength(1);
  ending.abort();
  ending.abort();
  expect(seen).toEqual(["first", "same", "same"]);
});

test("a wait that is taken back does not run, and takes no other with it", () => {
  const ending = new AbortController();
  const seen: string[] = [];
  const run = (): void => void seen.push("ran");
  const forget = onAbort(ending.signal, run);
  onAbort(ending.signal, run);
  forget();
  forget();
  ending.abort();
  expect(seen).toEqual(["ran"]);
});

test("a wait may take back another while the signal is aborted", () => {
  const ending = new AbortController();
  const seen: string[] = [];
  const later: { forget?: () => void } = {};
  onAbort(ending.signal, () => later.forget?.());
  later.forget = onAbort(ending.signal, () => void seen.push("taken back"));
  ending.abort();
  expect(seen).toEqual([]);
});

/** The present as sorted lines, for comparing memory with rows. */
import type { Lane } from "../contract/operations.ts";
import type { Handle } from "../core/ids.ts";
import { isUnchanged } from "./live-event.ts";
import { isLive, isPlain, type LiveIntent } from "./live-intent.ts";
import type { NumberQueue } from "./number-queue.ts";
import { MOST_INTENTS, type Present } from "./present.ts";

/** Everything that a start has to find again. */
export function pictureOf(present: Present): readonly string[] {
  const lines: string[] = [];
  for (const event of present.events.values()) {
    if (event.state === "parked") continue; // in its row only
    const { isStored: _s, isClaimed: _c, hasSteps: _h, payload: _p, ...kept } = event;
    lines.push(isUnchanged(event) ? `event ${event.seq} of ${event.specialist}` : `event ${show(kept)}`);
  }
  for (const specialist of present.specialists())
    for (const seq of present.of(specialist).queue ?? []) lines.push(`event ${seq} of ${specialist}`);
  for (const specialist of present.specialists()) lines.push(...intentLines(present, specialist));
  for (const { isStored: _s, ...attempt } of present.attempts.values()) lines.push(`attempt ${show(attempt)}`);
  return lines.sort();
}

/** Of many plain intents only the numbers, since it depends on the process which of them are queued. */
function intentLines(present: Present, specialist: Handle): readonly string[] {
  const { intents, waiting = new Map<Lane, NumberQueue>() } = present.of(specialist);
  const live = [...intents.values()].filter(isLive);
  const plain = [...waiting.values()].flatMap((queue) => [...queue]);
  const others: string[] = [];
  for (const intent of live)
    if (isPlain(intent, present.intents)) plain.push(intent.seq);
    else others.push(lineOf(intent));
  if (plain.length > MOST_INTENTS) return [...others, ...plain.map((seq) => `intent ${seq} of ${specialist}`)];
  return live.map(lineOf);
}

function lineOf({ isStored: _s, ...intent }: LiveIntent): string {
  return `intent ${show(intent)}`;
}

function show(value: object): string {
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return JSON.stringify(Object.fromEntries(fields.sort(([a], [b]) => (a < b ? -1 : 1))));
}

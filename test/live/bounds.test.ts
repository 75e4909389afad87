/** Memory has bounds: it does not depend on the length of what waits, nor on the number of specialists that have nothing to do. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { asEventId, asHandle, type Handle } from "../../src/core/ids.ts";
import type { EventFact } from "../../src/live/facts.ts";
import { Present } from "../../src/live/present.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
const MB = 1_048_576;

const event = (seq: number, specialist: Handle): EventFact => ({
  fact: "event",
  seq,
  at: seq,
  specialist,
  id: asEventId(`post.created:p${seq}`),
  kind: "post.created",
  thread: `p${seq}`,
  payload: '{"content":"hello"}',
  via: "webhook",
  hops: 0,
  begun: false,
  delivery: undefined,
});

function heapMb(): number {
  collect();
  return process.memoryUsage().heapUsed / MB;
}

test("a million waiting events of one specialist take less than 24 MB, and the oldest are claimed first", () => {
  const present = new Present();
  const scout = asHandle("scout");
  const before = heapMb();
  for (let seq = 1; seq <= 1_000_000; seq++) {
    present.apply(event(seq, scout));
    if (seq % 4_096 === 0) present.touched.queued.clear(); // a fold
  }
  expect(heapMb() - before).toBeLessThan(24);
  expect(present.of(scout).events.keys().next().value).toBe(1);
  expect(present.of(scout).events.size + (present.of(scout).queue?.length ?? 0)).toBe(1_000_000);
});

test("ten thousand specialists whose work is done take nothing", () => {
  const present = new Present();
  const before = heapMb();
  for (let n = 1; n <= 10_000; n++) {
    const specialist = asHandle(`s${n}`);
    present.apply(event(2 * n, specialist));
    present.apply({ fact: "run", seq: 2 * n + 1, at: n, event: 2 * n, specialist, intents: [] });
    present.touched.events.clear(); // a fold
  }
  expect([...present.specialists()]).toEqual([]);
  expect(heapMb() - before).toBeLessThan(1);
});

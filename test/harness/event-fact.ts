/** The fact that an event came, as a poll puts it. */
import { asEventId, asHandle } from "../../src/core/ids.ts";
import type { EventFact } from "../../src/live/facts.ts";

export function eventFact(seq: number, over: Partial<EventFact> = {}): EventFact {
  return {
    fact: "event",
    seq,
    at: seq,
    specialist: asHandle("scout"),
    id: asEventId(`e${seq}`),
    kind: "post.created",
    thread: undefined,
    payload: "{}",
    via: "poll",
    hops: 0,
    begun: false,
    delivery: undefined,
    ...over,
  };
}

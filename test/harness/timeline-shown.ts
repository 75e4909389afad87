/** An event of a timeline, all of it in one word. */
import type { TimelineEvent } from "../../src/guardian/timeline-events.ts";

export function timelineEvent(word: string, at: number): TimelineEvent {
  const about = { id: word, code: word, message: word };
  return {
    seq: 1,
    id: word,
    kind: word,
    at,
    state: "parked",
    note: word,
    text: word,
    title: word,
    author: word,
    stepCount: 1,
    failure: { at, code: word, message: word, tries: 2 },
    steps: [{ name: word, bytes: 1 }],
    actions: [
      {
        ...about,
        operation: word,
        target: word,
        state: "refused",
        reason: word,
        words: word,
        attemptCount: 2,
        attempts: [{ at, endedAt: at, outcome: "refused", status: 400, message: word }],
      },
    ],
  };
}

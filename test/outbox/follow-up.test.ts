/** The consequences of an intent's new state: the receipt for its author, and what is watched. */
import { describe, expect, test } from "vitest";
import { SECOND } from "../../src/core/units.ts";
import { follow } from "../../src/outbox/follow-up.ts";
import { intentOf, memberOf } from "../harness/builders.ts";

const NOW = 1_000_000;
const listening = memberOf({ on: { "intent.confirmed": () => undefined, "intent.parked": () => undefined } });

describe("a receipt", () => {
  test("tells the author, once for each intent, with what the author gave it and what came of it", () => {
    const intent = intentOf({ label: "greeting", data: { for: "amy" }, target: "p1", hops: 2 });
    const { events } = follow(listening, intent, { state: "confirmed", createdRef: "p9" }, NOW);
    expect(events).toMatchObject([
      {
        id: "intent.confirmed:i1",
        kind: "intent.confirmed",
        hops: 3,
        payload: { intent: "i1", operation: "posts.create", key: "greeting", data: { for: "amy" }, target: "p1", created: "p9" },
      },
    ]);
  });

  test("is made for no state without one, and for nobody who does not listen", () => {
    const doubt = { state: "in_doubt", everUnknown: true, nextAt: 0, code: "outcome_unknown", message: "lost" } as const;
    expect(follow(listening, intentOf(), doubt, NOW).events).toEqual([]);
    expect(follow(memberOf(), intentOf(), { state: "confirmed" }, NOW).events).toEqual([]);
  });
});

describe("watched objects", () => {
  const watching = memberOf({ watch: { threads: true } });
  const apply = intentOf({ operation: "jobs.apply", target: "j1" });

  test("is the thread of a new post, and the one that a reply stands in", () => {
    expect(follow(watching, intentOf(), { state: "confirmed", createdRef: "p9" }, NOW).watches).toMatchObject([
      { kind: "thread", object: "p9", dueAt: NOW + 5 * SECOND },
    ]);
    const reply = intentOf({ operation: "posts.reply", target: "r2", thread: "p1" });
    expect(follow(watching, reply, { state: "confirmed", createdRef: "r3" }, NOW).watches).toMatchObject([{ object: "p1" }]);
    expect(follow(memberOf({ watch: { threads: false, mentions: false } }), reply, { state: "confirmed" }, NOW).watches).toEqual([]);
  });

  test.each(["confirmed", "pending", "parked"] as const)("is the job of an application that is %s: it may be assigned", (state) => {
    const change = { state, code: "x:y", message: "m" } as const;
    expect(follow(watching, apply, change, NOW).watches).toMatchObject([
      { kind: "job", object: "j1", state: "applied", data: { lookedAt: NOW } },
    ]);
  });

  test("is nothing of an action that was refused", () => {
    const refused = { state: "refused", code: "x:y", message: "m" } as const;
    expect(follow(watching, apply, refused, NOW).watches).toEqual([]);
    expect(follow(watching, intentOf(), refused, NOW).watches).toEqual([]);
  });
});

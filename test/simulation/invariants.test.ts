import { expect, test } from "vitest";
import { canBecome, FINAL, INTENT_STATES, type IntentState } from "../../src/outbox/intent.ts";
import { installInvariants } from "../../src/simulation/invariants.ts";
import { createMirror } from "../../src/simulation/mirror.ts";
import { microDollars } from "../../src/core/units.ts";
import { createSpecialist, type Specialist } from "../../src/specialist/specialist.ts";
import { MEMORY, openDatabase } from "../../src/store/sqlite/database.ts";

function judgedBy(act: (db: ReturnType<typeof openDatabase>["db"]) => void, specialists: readonly Specialist[] = []): readonly string[] {
  const { db, close } = openDatabase(MEMORY);
  createMirror(db);
  const invariants = installInvariants(db, specialists);
  act(db);
  const notes = invariants.read().map(({ what }) => what);
  close();
  return notes;
}

/** In the mirror, whose rows move, and in the store, whose rows are deleted. */
function insert(db: ReturnType<typeof openDatabase>["db"], state: IntentState): void {
  db.prepare(
    "INSERT INTO temp.intent (id, operation, conflict_key, state, ever_unknown, checks) VALUES ('i1', 'posts.create', 'c', ?, 1, 9)",
  ).run(state);
  db.prepare(
    `INSERT INTO main.intent (id, specialist, event_seq, ordinal, operation, input, effect, lane, conflict_key, state, created_at, last)
     VALUES ('i1', 'scout', 1, 0, 'posts.create', '{}', 'at-most-once', 'act', 'c', ?, 0, 0)`,
  ).run(state);
}

test("the judge allows the moves that the runtime's own table allows, and no other", () => {
  const pairs = INTENT_STATES.flatMap((from) => INTENT_STATES.filter((to) => to !== from).map((to) => ({ from, to })));
  const forbidden = pairs.filter(
    ({ from, to }) =>
      judgedBy((db) => {
        insert(db, from);
        db.prepare("UPDATE intent SET state = ? WHERE id = 'i1'").run(to);
      }).length > 0,
  );
  expect(forbidden).toEqual(pairs.filter(({ from, to }) => !canBecome(from, to)));
});

test("the judge lets only what is over be forgotten", () => {
  const kept = INTENT_STATES.filter(
    (state) =>
      judgedBy((db) => {
        insert(db, state);
        db.exec("DELETE FROM main.intent");
      }).length > 0,
  );
  expect(kept).toEqual(INTENT_STATES.filter((state) => !FINAL.includes(state)));
});

test("a cap is judged in its own currency, and a question that cost nothing frees its money", () => {
  const held = (amount: number, currency: string) =>
    judgedBy(
      (db) => {
        db.prepare(
          "INSERT INTO main.hold (id, specialist, currency, amount, starts, state, held_at, expires_at) VALUES ('model:small:1', 'scout', ?, ?, '{}', 'open', 1, 2)",
        ).run(currency, amount);
        db.exec("UPDATE main.hold SET state = 'released'");
      },
      [createSpecialist({ handle: "scout", spend: { perDay: microDollars(500) } })],
    );
  expect([held(500, "usd"), held(501, "credits")]).toEqual([[], []]);
  expect(held(501, "usd")).toEqual(["scout holds and has spent more in 24 h than its cap of a day"]);
});

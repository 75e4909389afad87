/** The judge excuses an action only by a cap that is really used up: all else that is left is lost. */
import { expect, test } from "vitest";
import { credits, HOUR } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { createBacklog } from "../../src/simulation/backlog.ts";
import { createMirror } from "../../src/simulation/mirror.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";
import { MEMORY, openDatabase } from "../../src/store/sqlite/database.ts";

const clock = virtualClock();
const scout = createSpecialist({ handle: "scout", tier: "free", may: ["jobs.create", "posts.create"], spend: { perDay: credits(5) } });

function backlog(act: (db: ReturnType<typeof openDatabase>["db"]) => void): readonly string[] {
  const { db, close } = openDatabase(MEMORY);
  createMirror(db);
  act(db);
  const waiting = createBacklog(db, clock, [scout]).read(clock.now() + 1);
  close();
  return waiting.map(({ id }) => id);
}

type Db = Parameters<Parameters<typeof backlog>[0]>[0];

function decided(db: Db, id: string, operation: string, { code = "spend_cap", state = "ready" } = {}): void {
  db.prepare("INSERT INTO intent (id, specialist, operation, state, created_at, code) VALUES (?, 'scout', ?, ?, 0, ?)").run(
    id,
    operation,
    state,
    code,
  );
}

function spent(db: Db, id: string, micros: number, hoursAgo: number): void {
  db.prepare(
    "INSERT INTO hold (id, specialist, currency, amount, starts, state, posted, held_at, expires_at) VALUES (?, 'scout', 'credits', ?, '{}', 'posted', ?, ?, 0)",
  ).run(id, micros, micros, clock.now() - hoursAgo * HOUR);
}

test("an action behind a cap is excused while another of its price would pass the cap, and no longer", () => {
  const waits = (hoursAgo: number): readonly string[] =>
    backlog((db) => {
      decided(db, "i1", "jobs.create", { state: "confirmed" });
      spent(db, "i1", credits(4).micros, hoursAgo);
      decided(db, "i2", "jobs.create");
      decided(db, "i3", "jobs.create", { code: "" });
    });
  expect(waits(3)).toEqual(["i2", "i3"]);
  expect(waits(27)).toEqual([]);
});

/** Deliveries that nobody handles stay known for as long as they may be repeated, and their bodies cannot fill the disk. */
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { asHandle } from "../../src/core/ids.ts";
import { seededRandom } from "../../src/core/random.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { DEFAULT_RETENTION } from "../../src/runtime/retention.ts";
import { MEMORY, openDatabase } from "../../src/store/sqlite/database.ts";
import { UNHANDLED_KEPT } from "../../src/store/sqlite/unhandled-deliveries.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";

/** Which store is opened: that of rows or that of facts. */
let facts = false;

const scout = asHandle("scout");

function lab() {
  const clock = virtualClock(Date.UTC(2026, 10, 21));
  const database = openDatabase(MEMORY, { facts });
  const store = openSqliteStore({ facts, path: MEMORY, database, clock, random: seededRandom(1) });
  onTestFinished(async () => {
    await clock.run(store.close());
    database.close();
  });
  const put = (id: string, kind: string, body: Uint8Array = Buffer.from(id)) =>
    clock.run(
      store.putDelivery(
        {
          delivery: { specialist: scout, id, kind, scheme: "header", body },
          plain: { state: "unhandled", kind, events: [], nudges: [] },
          onStored: () => undefined,
        },
        clock.now(),
      ),
    );
  return {
    clock,
    store,
    put,
    putMany: async (kind: string, from: number, to: number): Promise<void> => {
      for (let n = from; n < to; n++) await put(`${kind}-${n}`, kind);
    },
    prune: () => clock.run(store.prune(clock.now(), DEFAULT_RETENTION)),
    /** Ids of those with a body, oldest first. */
    kept: (kind: string) =>
      database.db
        .prepare("SELECT id FROM delivery WHERE kind = ? AND body IS NOT NULL ORDER BY seq")
        .all(kind)
        .map(({ id }) => id),
    rows: () => database.db.prepare("SELECT count(*) AS n FROM delivery").get()?.["n"],
  };
}
const { ofKind, bytes } = UNHANDLED_KEPT;
const ids = (kind: string, from: number, to: number): string[] => Array.from({ length: to - from }, (_, i) => `${kind}-${from + i}`);

describe.each([false, true])("over facts: %s", (isOfFacts) => {
  beforeEach(() => void (facts = isOfFacts));

  test("pruning leaves the newest bodies of a kind, and those of rarer kinds", async () => {
    const { put, putMany, prune, kept, rows } = lab();
    await put("rare-0", "rare");
    await putMany("busy", 0, ofKind + 50);
    expect(kept("busy")).toHaveLength(ofKind + 50);
    await prune();
    expect(kept("busy")).toEqual(ids("busy", 50, ofKind + 50));
    expect(kept("rare")).toEqual(["rare-0"]);
    expect(rows()).toBe(ofKind + 51);
    expect(await put("busy-0", "busy")).toBe("known");
  });

  test("between two prunings a busy kind keeps at most as many again, repeats not counted, and goes on after it", async () => {
    const { put, putMany, prune, kept, rows } = lab();
    for (let n = 0; n < 3 * ofKind; n++) await put("busy-0", "busy");
    await putMany("busy", 0, 4 * ofKind);
    expect(kept("busy")).toEqual(ids("busy", 0, 2 * ofKind));
    await prune();
    await putMany("busy", 4 * ofKind, 4 * ofKind + 10);
    expect(kept("busy").slice(-11)).toEqual([`busy-${2 * ofKind - 1}`, ...ids("busy", 4 * ofKind, 4 * ofKind + 10)]);
    expect(rows()).toBe(4 * ofKind + 10);
  });

  test("large bodies are bounded by their bytes, whatever their kinds", async () => {
    const { put, prune, kept } = lab();
    const large = new Uint8Array(bytes / 8);
    for (let n = 0; n < 20; n++) await put(`large-${n}`, n < 10 ? "one" : "other", large);
    expect([kept("one").length, kept("other").length]).toEqual([10, 6]);
    await prune();
    expect([...kept("one"), ...kept("other")]).toEqual(ids("large", 8, 16));
  });

  test("so are those that wait first and are parked then", async () => {
    const { clock, store, kept } = lab();
    for (let n = 0; n < 2 * ofKind + 5; n++) {
      const delivery = { specialist: scout, id: `odd-${n}`, kind: "odd", scheme: "header", body: Buffer.from("no json") };
      await clock.run(store.putDelivery({ delivery, plain: undefined, onStored: () => undefined }, clock.now()));
    }
    expect(kept("odd")).toHaveLength(2 * ofKind + 5);
    for (const { seq } of await store.dueDeliveries(scout, clock.now(), 1_000))
      await clock.run(
        store.endDelivery({ seq, specialist: scout, state: "parked", kind: "odd", note: "no JSON", events: [], nudges: [] }, clock.now()),
      );
    expect(kept("odd")).toEqual(ids("odd", 0, 2 * ofKind));
  });
});

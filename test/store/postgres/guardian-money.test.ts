/** The Guardian's money among many holders: a cap is spent to its last unit, and never beyond, whoever ends when. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test, type TestContext } from "vitest";
import { parsePostgresAddress } from "../../../src/config/postgres-address.ts";
import { systemClock } from "../../../src/core/clock.ts";
import { asHandle } from "../../../src/core/ids.ts";
import { seededRandom } from "../../../src/core/random.ts";
import { DAY } from "../../../src/core/units.ts";
import { decideHold } from "../../../src/limits/hold-decision.ts";
import { capsOf } from "../../../src/limits/caps.ts";
import { GUARDIAN } from "../../../src/limits/spending.ts";
import { endHolder } from "../../../src/store/postgres/holders.ts";
import { openConnection, type PostgresConnection } from "../../../src/store/postgres/open-connection.ts";
import { ALL_SHARDS } from "../../../src/store/postgres/ownership.ts";
import { openShards, type HeldStore } from "../../../src/store/postgres/postgres-store.ts";
import { hashedShard } from "../../../src/store/postgres/shard-map.ts";
import { cutWriters } from "../../harness/cut-writers.ts";
import { startPostgres, type PostgresServer } from "../../harness/postgres.ts";
import { folder } from "../../harness/process.ts";

const wall = systemClock();
let server: PostgresServer;
beforeAll(async () => void (server = await startPostgres({ major: 18 })), 60_000);
afterAll(() => server.stop());

const HOLDERS = 16;
const UNIT = 1_000_000;
const CAP = 100;
const caps = (currency: string) => capsOf(GUARDIAN, { perDay: { currency, micros: CAP * UNIT } });

async function lab(context: TestContext) {
  const address = parsePostgresAddress(await server.database(), folder(context));
  const held = new Map<number, HeldStore>();
  let aheadMs = (1.5 * DAY - (wall.now() % DAY)) % DAY; // from noon on, no day ends by itself
  const clock = { ...wall, now: () => wall.now() + aheadMs };
  const open = async (part: number): Promise<HeldStore> => {
    const shards = ALL_SHARDS.filter((shard) => shard % HOLDERS === part);
    const one = await openShards({ address, clock, wall, random: seededRandom(part), shards });
    if (one === undefined) throw new Error("they are taken");
    await one.store.recover(clock.now(), 0);
    onTestFinished(() => one.store.close().catch(() => undefined));
    held.set(part, one);
    return one;
  };
  return {
    schema: address.schema,
    clock,
    pass: (ms: number) => void (aheadMs += ms),
    held,
    open,
    /** A session of nobody's. */
    async connect(): Promise<PostgresConnection> {
      const connection = await openConnection({ address, purpose: "check" });
      onTestFinished(() => connection.close());
      return connection;
    },
    rows: (sql: string) => server.run(sql, address.database),
    /** Ends the sessions of all holders. */
    async cut(): Promise<void> {
      await cutWriters(server, address.database);
      held.clear();
    },
    /** Holds one unit for a specialist of this part. */
    async hold(part: number, id: string, units = 1, currency = "credits"): Promise<string> {
      const one = held.get(part) ?? (await open(part));
      const specialist = specialistOf(part);
      const money = { currency, micros: units * UNIT };
      const wanted = {
        hold: { id, specialist, money, expiresAt: clock.now() + 7 * DAY },
        now: clock.now(),
        known: { caps: caps(currency), halt: undefined },
      };
      const verdict = await one.store.openHold(wanted, decideHold);
      return verdict.kind;
    },
  };
}

const specialistOf = (part: number) => {
  for (let i = 0; ; i++) if (hashedShard(`s${i}`) % HOLDERS === part) return asHandle(`s${i}`);
};

async function spent(rows: (sql: string) => Promise<readonly Readonly<Record<string, unknown>>[]>): Promise<number> {
  const [row] = await rows(
    "SELECT coalesce(sum(held + posted), 0) AS micros FROM retinue.spend_row WHERE span = 'day' AND scope <> 'guardian'",
  );
  return Number(row?.["micros"]) / UNIT;
}

describe("a cap of the Guardian's over sixteen holders", () => {
  test("is spent to the last unit of each currency and not beyond, all asking at once", async (context) => {
    const here = await lab(context);
    await Promise.all(Array.from({ length: HOLDERS }, (_, part) => here.open(part)));
    const held: string[] = [];
    const count = (currency: string): number => held.filter((one) => one === currency).length;
    const until = wall.monotonic() + 60_000;
    const work = async (part: number, currency: string): Promise<void> => {
      for (let i = 0; count(currency) < CAP && wall.monotonic() < until; i++)
        if ((await here.hold(part, `${part}:${i}:${currency}`, 1, currency)) === "hold") held.push(currency);
    };
    const currencies = ["credits", "tokens"];
    await Promise.all(currencies.flatMap((currency) => Array.from({ length: HOLDERS }, (_, part) => work(part, currency))));
    for (const currency of currencies) {
      expect(count(currency)).toBe(CAP);
      const more = await Promise.all(
        Array.from({ length: HOLDERS }, (_, part) => here.hold(part, `${part}:more:${currency}`, 1, currency)),
      );
      expect(new Set(more)).toEqual(new Set(["wait"]));
    }
    expect(await spent(here.rows)).toBe(currencies.length * CAP);
  });

  test("a store that is lost leaves no session of its money, and opens none when it is asked again", async (context) => {
    const here = await lab(context);
    expect(await here.hold(0, "a")).toBe("hold");
    const sessions = (purpose: string) =>
      here.rows(`SELECT pid FROM pg_stat_activity WHERE application_name = 'retinue ${purpose}' AND datname = current_database()`);
    expect(await sessions("money")).toHaveLength(1);
    await here.rows(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'retinue writer' AND datname = current_database()",
    );
    await expect.poll(() => sessions("writer")).toEqual([]);
    await here.held
      .get(0)
      ?.store.close()
      .catch(() => undefined); // it says that it is lost
    await expect.poll(() => sessions("money")).toEqual([]);
    await expect(here.hold(0, "b", 50)).rejects.toMatchObject({ code: "store_lost" });
    expect(await sessions("money")).toEqual([]);
  });

  test("what a holder has and does not spend comes back: asked for while it lives, and with its session when it is lost", async (context) => {
    const here = await lab(context);
    expect(await here.hold(0, "a")).toBe("hold"); // a grant of a part of what is free
    const [granted] = await here.rows("SELECT granted FROM retinue.guardian_grant");
    expect(Number(granted?.["granted"])).toBeGreaterThan(2 * UNIT);
    await expect.poll(() => here.hold(1, "b", 98)).toBe("hold"); // once the other has given it back
    expect(await here.hold(0, "c")).toBe("hold");
    expect(await here.hold(1, "d")).toBe("wait");
    // It comes back: nothing was spent.
    here.held.get(1)?.store.endHold({ id: "b", actual: 0, caps: [], now: here.clock.now() });
    expect(await here.hold(1, "e", 40)).toBe("hold");
    await here.cut();
    expect(await here.hold(2, "f", 58)).toBe("hold");
    expect(await here.hold(2, "g")).toBe("wait");
    // Another holder ends what a lost one held.
    await here.open(1);
    here.held.get(1)?.store.endHold({ id: "e", actual: 10 * UNIT, caps: [], now: here.clock.now() });
    await expect.poll(() => here.hold(2, "h", 30)).toBe("hold"); // once it is stored
    expect(await here.hold(1, "i")).toBe("wait");
    expect(await spent(here.rows)).toBe(CAP);
  });

  test("is kept while a holder ends whose session is still there", async (context) => {
    const here = await lab(context);
    expect(await here.hold(0, "a", 60)).toBe("hold");
    const [ending] = await here.rows("SELECT number FROM retinue.holder");
    expect(await here.hold(1, "b", 40)).toBe("hold");
    await endHolder(await here.connect(), here.schema, Number(ending?.["number"]), here.clock.now());
    expect(await here.hold(1, "c")).toBe("wait");
  });

  test("is kept while the server does not know yet that a hold has ended", async (context) => {
    const here = await lab(context);
    expect(await here.hold(0, "a")).toBe("hold");
    const connection = await here.connect();
    await connection.query({ text: "BEGIN" });
    await connection.query({ text: "LOCK TABLE retinue.hold IN SHARE MODE" }); // groups wait for this
    await here.open(1);
    const stored = here.hold(0, "b");
    here.held.get(0)?.store.endHold({ id: "a", actual: 0, caps: [], now: here.clock.now() });
    expect(await here.hold(1, "c", 99)).toBe("wait"); // the server may get b, and not the end of a
    await connection.query({ text: "COMMIT" });
    expect(await stored).toBe("hold");
    await expect.poll(() => here.hold(1, "d", 99)).toBe("hold");
    expect(await here.hold(0, "e")).toBe("wait");
  });

  test("money of an earlier day that comes back is everybody's, and nobody's twice", async (context) => {
    const here = await lab(context);
    expect(await here.hold(0, "a", 60)).toBe("hold");
    here.pass(2 * DAY);
    expect(await here.hold(1, "b", 100)).toBe("hold");
    here.held.get(0)?.store.endHold({ id: "a", actual: 0, caps: [], now: here.clock.now() });
    expect(await here.hold(0, "c", 60)).toBe("wait");
    here.held.get(1)?.store.endHold({ id: "b", actual: 30 * UNIT, caps: [], now: here.clock.now() });
    await expect.poll(() => here.hold(0, "d", 70)).toBe("hold");
    expect(await here.hold(1, "e")).toBe("wait");
  });

  test("money of an earlier day and a lost holder that comes back is everybody's", async (context) => {
    const here = await lab(context);
    expect(await here.hold(0, "a", 60)).toBe("hold");
    await here.cut();
    here.pass(2 * DAY);
    expect(await here.hold(1, "b", 100)).toBe("hold");
    await here.open(0);
    here.held.get(0)?.store.endHold({ id: "a", actual: 0, caps: [], now: here.clock.now() });
    expect(await here.hold(0, "c", 60)).toBe("wait");
    here.held.get(1)?.store.endHold({ id: "b", actual: 0, caps: [], now: here.clock.now() });
    await expect.poll(() => here.hold(2, "d", 100)).toBe("hold");
  });

  test("a cost above its hold is taken from what the others were granted and have not spent", async (context) => {
    const here = await lab(context);
    expect(await here.hold(0, "a", 50)).toBe("hold");
    expect(await here.hold(1, "b", 50)).toBe("hold");
    here.held.get(1)?.store.endHold({ id: "b", actual: 0, caps: [], now: here.clock.now() }); // it has them still
    here.held.get(0)?.store.endHold({ id: "a", actual: 60 * UNIT, caps: [], now: here.clock.now() });
    await expect.poll(async () => (await here.rows("SELECT granted FROM retinue.guardian_grant ORDER BY granted"))[0]?.["granted"]).toBe(0);
    expect(await here.hold(1, "c", 41)).toBe("wait");
    expect(await here.hold(1, "d", 40)).toBe("hold");
  });

  test("is frozen for all holders once they have spent more than it together, also on the next day, until a person unfreezes it", async (context) => {
    const here = await lab(context);
    const settle = (part: number, id: string, units: number) =>
      here.held.get(part)?.store.endHold({ id, actual: units * UNIT, caps: caps("credits"), now: here.clock.now() });
    expect(await here.hold(0, "a", 50)).toBe("hold");
    expect(await here.hold(1, "b", 50)).toBe("hold");
    settle(1, "b", 50);
    settle(0, "a", 51);
    const frozen = async () => (await here.held.get(0)?.store.frozen())?.map(({ scope, reason }) => ({ scope, reason }));
    await expect.poll(frozen).toContainEqual({ scope: "guardian", reason: "a cost 51 credits, with a hold of 50 credits" });
    const stored = () => here.rows("SELECT scope FROM retinue.spend_frozen WHERE shard = -1");
    await expect.poll(stored).toEqual([{ scope: "guardian" }]);
    here.pass(2 * DAY);
    expect(await here.hold(0, "c")).toBe("wait");
    expect(await here.hold(1, "d")).toBe("wait");
    expect(await here.held.get(1)?.store.frozen()).toMatchObject([{ scope: "guardian" }]);
    for (const part of [0, 1]) await here.held.get(part)?.store.unfreeze(GUARDIAN, { by: "ada", reason: "looked at" }, here.clock.now());
    expect(await here.hold(1, "e")).toBe("hold");
    expect(await here.hold(2, "f")).toBe("hold");
  });

  test("a holder whose wait for the lock of the money was ended asks again", async (context) => {
    const here = await lab(context);
    await here.open(0);
    const other = await here.connect();
    await other.query({ text: "BEGIN; SELECT pg_advisory_xact_lock(hashtextextended('retinue money retinue', 0))" });
    const held = here.hold(0, "a");
    held.catch(() => undefined);
    await expect
      .poll(() =>
        here.rows(
          "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'retinue money' AND wait_event = 'advisory'",
        ),
      )
      .toHaveLength(1);
    await expect(held).rejects.toThrow("canceling statement");
    await other.query({ text: "COMMIT" });
    expect(await here.hold(0, "b")).toBe("hold");
  });

  test("comes back from a holder whose session for money has ended", async (context) => {
    const here = await lab(context);
    expect(await here.hold(0, "a")).toBe("hold");
    await here.rows(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'retinue money' AND datname = current_database()",
    );
    await expect.poll(() => here.hold(1, "b", 99)).toBe("hold"); // once the first listens again
  });

  test("leaves no rows of holders that have ended, but for what they still hold", async (context) => {
    const here = await lab(context);
    await here.open(0);
    const old = (holder: number, start: number, held: number): string =>
      `(-1, ${holder}, 'guardian', 'credits', 'hour', ${start}, 1, 1, ${held}, 5)`;
    await here.rows(`INSERT INTO retinue.spend_row (shard, holder, scope, currency, span, start, until, ends, held, posted)
      VALUES ${[old(0, 0, 0), old(7001, 0, 0), old(7001, 1, 3), old(7002, 1, 4)].join(", ")}`);
    await here.open(1);
    expect(await here.rows("SELECT holder, start, held, posted FROM retinue.spend_row WHERE span = 'hour' AND ends = 1")).toEqual([
      { holder: "0", start: "1", held: 7, posted: 10 },
    ]);
  });

  test("leaves no entries that are too old to be shown", async (context) => {
    const here = await lab(context);
    expect(await here.hold(0, "a")).toBe("hold");
    await here.rows(`INSERT INTO retinue.spend_entry (shard, seq, scope, currency, kind, hold_id, held, posted, at)
      SELECT -1, n, 'guardian', 'credits', 'post', n::text, 0, 1, CASE WHEN n < 4 THEN ${wall.now() - 400 * DAY} ELSE ${wall.now()} END FROM generate_series(1, 5) n`);
    await here.open(1);
    expect(await here.rows("SELECT seq FROM retinue.spend_entry WHERE shard = -1 AND seq < 6 ORDER BY seq")).toEqual([
      { seq: "4" },
      { seq: "5" },
    ]);
  });
});

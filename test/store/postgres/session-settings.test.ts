/** The server ends the sessions of a process that is stopped, whatever it was doing there: its locks are free for the others. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parsePostgresAddress } from "../../../src/config/postgres-address.ts";
import { systemClock } from "../../../src/core/clock.ts";
import { asHandle } from "../../../src/core/ids.ts";
import { seededRandom } from "../../../src/core/random.ts";
import { HOUR, SECOND } from "../../../src/core/units.ts";
import { virtualClock } from "../../../src/core/virtual-clock.ts";
import { capsOf } from "../../../src/limits/caps.ts";
import { decideHold } from "../../../src/limits/hold-decision.ts";
import { GUARDIAN } from "../../../src/limits/spending.ts";
import { openConnection } from "../../../src/store/postgres/open-connection.ts";
import { openShards } from "../../../src/store/postgres/postgres-store.ts";
import { keepAlive, sessionSettings, sessionTimes } from "../../../src/store/postgres/session-settings.ts";
import { startPostgres, type PostgresServer } from "../../harness/postgres.ts";
import { folder } from "../../harness/process.ts";

const SRC = join(import.meta.dirname, "../../../src");
const clock = systemClock();
let server: PostgresServer;
beforeAll(async () => void (server = await startPostgres({ major: 18 })), 60_000);
afterAll(() => server.stop());

/** A program that does some work on the session of a writer, and stops itself. */
const program = (store: string, work: string): string => `
  const { openConnection } = await import("${SRC}/store/postgres/open-connection.ts");
  const { parsePostgresAddress } = await import("${SRC}/config/postgres-address.ts");
  const { sessionTimes, livingSettings, WRITER_SETTINGS } = await import("${SRC}/store/postgres/session-settings.ts");
  const address = parsePostgresAddress(${JSON.stringify(store)}, "/");
  const settings = { ...WRITER_SETTINGS, ...livingSettings(sessionTimes(address.sessionTimeoutMs)) };
  const connection = await openConnection({ address, purpose: "writer", settings });
  await connection.query({ text: "SELECT pg_advisory_lock(7)" });
  ${LOCKS}
  ${work}
  process.stdout.write("stops", () => process.kill(process.pid, "SIGSTOP"));`;
/** The locks that the child has are counted before it stops. */
const LOCKS = `const [{ n }] = await connection.query({ text: "SELECT count(*) AS n FROM pg_locks WHERE locktype = 'advisory'" });
  if (Number(n) !== 1) throw new Error("it has no lock");`;

test.each([
  { doing: "nothing", work: "" },
  { doing: "a transaction", work: `await connection.query({ text: "BEGIN" });` },
  {
    doing: "a read of more rows than its socket takes",
    work: `void connection.query({ text: "SELECT repeat(md5(n::text), 30000) FROM generate_series(1, 100) AS n" });`,
  },
])("the locks of a process that was stopped in $doing are free after the timeout", async ({ work }) => {
  const store = await server.database();
  const words = ["--conditions=retinue-source", "--input-type=module", "-e", program(`${store}?session_timeout=2`, work)];
  const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"] });
  try {
    await once(child.stdout, "data");
    const locks = () => server.run("SELECT pid FROM pg_locks WHERE locktype = 'advisory'", new URL(store).pathname.slice(1));
    await expect.poll(locks, { timeout: 20_000, interval: 200 }).toEqual([]);
  } finally {
    child.kill("SIGKILL");
  }
});

test("the Guardian's money waits for a process that is stopped in a grant no longer than the timeout", async (context) => {
  const store = await server.database();
  const within = (seconds: number) => parsePostgresAddress(`${store}?session_timeout=${seconds}`, folder(context));
  const address = within(5);
  const held = await openShards({ address, clock, random: seededRandom(1) });
  if (held === undefined) throw new Error("they are taken");
  context.onTestFinished(() => held.store.close());
  await held.store.recover(clock.now(), 0);
  const silent = await openConnection({ address: within(2), purpose: "money" });
  context.onTestFinished(() => silent.close());
  await silent.query({ text: "BEGIN" });
  await silent.query({ text: "SELECT pg_advisory_xact_lock(hashtextextended('retinue money ' || $1, 0))", values: [address.schema] });
  const money = { currency: "credits", micros: 1 };
  const known = { caps: capsOf(GUARDIAN, { perDay: { currency: "credits", micros: 100 } }), halt: undefined };
  const hold = { id: "h", specialist: asHandle("scout"), money, expiresAt: clock.now() + HOUR };
  expect(await held.store.openHold({ hold, now: clock.now(), known }, decideHold)).toMatchObject({ kind: "hold" });
  // The holder's own session lives on, though it has nothing to do.
  const older = "state_change > backend_start + interval '6 seconds'";
  const sessions = `SELECT pid FROM pg_stat_activity WHERE application_name = 'retinue money' AND datname = current_database()`;
  expect(await server.run(sessions, address.database)).toHaveLength(1);
  await expect.poll(() => server.run(`${sessions} AND ${older}`, address.database)).toHaveLength(1);
});

test("probes and the socket end no session before its timeout, until which its process may send", () => {
  for (const timeoutMs of [2, 3, 16, 300].map((s) => s * SECOND)) {
    const { tcp_keepalives_idle: idle, tcp_keepalives_interval: interval, ...rest } = sessionSettings(sessionTimes(timeoutMs));
    const probesMs = (Number(idle) + Number(interval) * Number(rest["tcp_keepalives_count"])) * SECOND;
    expect(probesMs).toBeGreaterThanOrEqual(timeoutMs);
    expect(Number(rest["tcp_user_timeout"])).toBeGreaterThanOrEqual(timeoutMs);
  }
});

test("a session that is silent is kept alive by statements until it is lost, also after one that failed", async () => {
  const time = virtualClock();
  let [asked, others, required, lose] = [0, 0, 0, (): void => undefined];
  const session = {
    get statements() {
      return asked + others;
    },
    query: () => (asked++ === 0 ? Promise.reject(new Error("in a failed transaction")) : Promise.resolve()),
    onLost: (listener: () => void) => void (lose = listener),
    requireAnswers: (withinMs: number) => void (required = withinMs),
  };
  keepAlive(session, time, sessionTimes(16 * SECOND));
  expect(required).toBe(16 * SECOND);
  await time.advance(13 * SECOND);
  expect(asked).toBe(3);
  for (let n = 0; n < 20; n++) {
    others++;
    await time.advance(SECOND);
  }
  expect(asked).toBe(3); // somebody else has used it
  await time.advance(8 * SECOND);
  expect(asked).toBeGreaterThan(3);
  lose();
  const before = asked;
  await time.advance(13 * SECOND);
  expect(asked).toBe(before);
});

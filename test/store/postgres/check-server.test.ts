/** Servers that a store cannot be kept on, by the answers that they give: those that the tests cannot start. */
import { expect, test } from "vitest";
import { parsePostgresAddress } from "../../../src/config/postgres-address.ts";
import { checkServer } from "../../../src/store/postgres/check-server.ts";
import type { PostgresConnection } from "../../../src/store/postgres/open-connection.ts";

const address = parsePostgresAddress("postgres://scout@db.example:5433/agents?sslmode=verify-full", "/");
const GOOD = {
  major: 18,
  version: "18.4",
  replica: false,
  read_only: false,
  fsync: "on",
  commit: "on",
  encoding: "UTF8",
};

/** A connection to a server that has nothing yet, and whose locks are held by whoever has taken them. */
function connection(pid: number, locks: Map<unknown, number>, settings: object = {}): PostgresConnection {
  const answers: readonly (readonly [beginning: string, answer: (values: readonly unknown[]) => object])[] = [
    ["SELECT current_setting", () => ({ ...GOOD, ...settings })],
    ["SELECT pg_backend_pid() AS pid, hash", () => ({ pid, lock: "7" })],
    ["SELECT pg_backend_pid() AS pid", () => ({ pid })],
    [
      "SELECT pg_try_advisory_lock",
      ([lock]) => {
        const got = (locks.get(lock) ?? pid) === pid;
        if (got) locks.set(lock, pid);
        return { got };
      },
    ],
  ];
  return {
    query: ({ text, values = [] }) => {
      const [, answer] = answers.find(([beginning]) => text.startsWith(beginning)) ?? [];
      return Promise.resolve(answer === undefined ? [] : [{ ...answer(values) }]);
    },
    requireAnswers: () => undefined,
    onLost: () => undefined,
    onNotice: () => undefined,
    statements: 0,
    close: () => Promise.resolve(),
  };
}

function check(settings: object, locks: readonly Map<unknown, number>[] = []): Promise<void> {
  const [own = new Map<unknown, number>(), others = own] = locks;
  return checkServer(connection(1, own, settings), address, () => Promise.resolve(connection(2, others)));
}

test("a server that keeps what it says is taken", async () => {
  await expect(check({})).resolves.toBeUndefined();
});

test("a server before PostgreSQL 15 is refused, with its version and what is expected", async () => {
  await expect(check({ major: 14, version: "14.19" })).rejects.toMatchObject({
    code: "store_server_too_old",
    message: "db.example:5433/agents runs PostgreSQL 14.19",
    details: { expected: "PostgreSQL 15 or newer" },
  });
});

test("a replica is refused, and the primary server asked for", async () => {
  await expect(check({ replica: true, read_only: true })).rejects.toMatchObject({
    code: "store_read_only",
    message: "db.example:5433/agents takes no writes: it is a replica",
  });
});

test("a server that forgets commits is refused, and names the setting", async () => {
  for (const [settings, name] of [
    [{ fsync: "off" }, "fsync"],
    [{ commit: "off" }, "synchronous_commit"],
  ] as const)
    await expect(check(settings)).rejects.toMatchObject({
      code: "store_server_not_durable",
      message: `db.example:5433/agents forgets commits when it crashes: ${name} is off`,
    });
});

test("a server whose advisory locks do nothing is refused: its processes would have the same specialists", async () => {
  await expect(check({}, [new Map<unknown, number>(), new Map<unknown, number>()])).rejects.toMatchObject({
    code: "store_sessions_shared",
    message: "db.example:5433/agents does not hold advisory locks",
  });
});

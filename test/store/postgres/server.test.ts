/** The servers of the tests: each supported major version, restarted and crashed, and gone with the process that started it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { POSTGRES_MAJORS, startPostgres } from "../../harness/postgres.ts";

test.each(POSTGRES_MAJORS)("PostgreSQL %i keeps its data over a restart and a crash, with fsync", async (major) => {
  const server = await startPostgres({ major, settings: { max_connections: "20" } });
  try {
    await server.run("CREATE TABLE kept (n int); INSERT INTO kept VALUES (1)");
    await server.restart("fast");
    await server.run("INSERT INTO kept VALUES (2)");
    await server.restart("immediate");
    expect(
      await server.run(
        `SELECT array_agg(n ORDER BY n) AS kept, current_setting('server_version_num')::int / 10000 AS major,
         current_setting('fsync') AS fsync, current_setting('max_connections') AS most FROM kept`,
      ),
    ).toEqual([{ kept: [1, 2], major, fsync: "on", most: "20" }]);
    expect(await server.database()).not.toBe(await server.database());
  } finally {
    await server.stop();
  }
  expect(existsSync(server.folder)).toBe(false);
});

test("a server that cannot start says why", async () => {
  await expect(startPostgres({ settings: { nonsense: "1" } })).rejects.toThrow('unrecognized configuration parameter "nonsense"');
});

test("a server ends with a process that is killed, and leaves no data", async () => {
  const holder = spawn(process.execPath, [join(import.meta.dirname, "../../harness/hold-postgres.ts")]);
  const ended = once(holder, "exit");
  const [line = ""] = await once(createInterface({ input: holder.stdout }), "line");
  const [folder = "", port] = String(line).split(" ");
  holder.kill("SIGKILL");
  await ended;
  await expect.poll(() => existsSync(folder)).toBe(false);
  const [refusal] = await once(connect(Number(port), "127.0.0.1"), "error");
  expect(refusal).toMatchObject({ code: "ECONNREFUSED" });
});

/** A project that can only be read, as that of the image: with a store on a server it runs, if its local folder is elsewhere. */
import { chmodSync, existsSync, globSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { EXIT } from "../../src/cli/command.ts";
import { fleetLab } from "../harness/fleet-lab.ts";
import { startPostgres, type PostgresServer } from "../harness/postgres.ts";
import { folder, resultOf } from "../harness/process.ts";

let server: PostgresServer;
beforeAll(async () => void (server = await startPostgres({ major: 18 })), 60_000);
afterAll(() => server.stop());

const canBeNobody = process.getuid?.() !== 0 || spawnSync("setpriv", ["--version"]).status === 0;

test.skipIf(!canBeNobody)("a project that can only be read needs a local folder, and says so", async (context) => {
  const lab = await fleetLab(context, { store: await server.database(), specialists: 1 });
  const refused = lab.run({ readOnly: true });
  const ended = await refused.ended;
  expect(ended.code).toBe(EXIT.misused);
  const error = { code: "local_folder_unwritable", message: expect.stringContaining(join(refused.root, ".retinue")) };
  expect(resultOf(ended)["error"]).toMatchObject({ ...error, hint: expect.stringContaining("RETINUE_LOCAL_FOLDER") });

  const local = folder(context);
  chmodSync(local, 0o777);
  const run = lab.run({ readOnly: true, env: { RETINUE_LOCAL_FOLDER: local } });
  await lab.answered(await lab.news("one"));
  expect(globSync(join(local, `postgres-*.sqlite-${run.pid}-*`)).length).toBeGreaterThan(0);
  expect(globSync(join(local, "postgres-*.sqlite-socket"))).toHaveLength(1);
  expect(existsSync(join(run.root, ".retinue"))).toBe(false);
  run.kill("SIGTERM");
  expect((await run.ended).code).toBe(EXIT.done);
  expect(globSync(join(local, "postgres-*.sqlite-*-*"))).toEqual([]);
});

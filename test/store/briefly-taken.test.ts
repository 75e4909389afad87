/** A store that a command has is briefly taken; one that a process at work has is not, and nobody waits for it. */
import { afterAll, beforeAll, expect, onTestFinished, test, type TestContext } from "vitest";
import { parsePostgresAddress } from "../../src/config/postgres-address.ts";
import { systemClock } from "../../src/core/clock.ts";
import { Retryable } from "../../src/core/errors.ts";
import { asHandle } from "../../src/core/ids.ts";
import { seededRandom } from "../../src/core/random.ts";
import { BrieflyTaken } from "../../src/store/briefly-taken.ts";
import { Membership } from "../../src/store/postgres/membership.ts";
import { openPostgresStore, openShards } from "../../src/store/postgres/postgres-store.ts";
import { startPostgres, type PostgresServer } from "../harness/postgres.ts";
import { folder } from "../harness/process.ts";

let server: PostgresServer;
beforeAll(async () => void (server = await startPostgres({ major: 15 })), 60_000);
afterAll(() => server.stop());

async function optionsOf(context: TestContext) {
  return { address: parsePostgresAddress(await server.database(), folder(context)), clock: systemClock(), random: seededRandom(1) };
}

test("a command that finds another one is told so, with an error to wait for", async (context) => {
  const options = await optionsOf(context);
  const first = await openPostgresStore(options);
  onTestFinished(() => first.close());
  const refused: unknown = await openPostgresStore(options).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(BrieflyTaken);
  expect(refused).toBeInstanceOf(Retryable);
  expect(refused).toMatchObject({ code: "store_in_use", message: "another command has the store" });
});

test("a command that finds a process is told its name and its start, with an error that nobody waits for", async (context) => {
  const options = await optionsOf(context);
  const process = await Membership.open({ ...options, handles: [asHandle("scout")], newSalt: () => "salt" });
  onTestFinished(() => process.close());
  const held = await openShards({ ...options, process: process.number, writers: process.writers });
  onTestFinished(() => held?.store.close());
  const refused: unknown = await openPostgresStore(options).catch((error: unknown) => error);
  expect(refused).not.toBeInstanceOf(BrieflyTaken);
  expect(refused).toMatchObject({
    code: "store_in_use",
    message: expect.stringMatching(/^another runtime has the store: [^;]+:\d+, since 2\S+Z$/),
    details: { hint: expect.stringContaining("give the order in the project of a running process") },
  });
});

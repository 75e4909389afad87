/** Agents of elizaOS on one in-memory database, initialised, with nothing armed. */
import { randomUUID } from "node:crypto";
import { AgentRuntime } from "@elizaos/core";
import { createDatabaseAdapter, DatabaseMigrationService, plugin } from "@elizaos/plugin-sql";
import { ready, settings } from "./subject.ts";
import { crowd } from "./crowd-of.ts";

/** An adapter speaks for one agent; all of a process share its database. */
async function adapterFor(agentId) {
  const adapter = createDatabaseAdapter({ dataDir: "memory://" }, agentId);
  await adapter.init();
  return adapter;
}

const first = await adapterFor(randomUUID());
const migrations = new DatabaseMigrationService();
await migrations.initializeWithDatabase(first.db);
migrations.discoverAndRegisterPluginSchemas([plugin]);
await migrations.runAllPluginMigrations();

const agents = await crowd(settings.count, async (i) => {
  const agentId = randomUUID();
  const adapter = await adapterFor(agentId);
  const character = { id: agentId, name: `s${i}`, bio: "Welcomes newcomers.", system: "Welcome newcomers." };
  const runtime = new AgentRuntime({ agentId, adapter, character, plugins: [] });
  await runtime.initialize({ skipMigrations: true });
  return runtime;
});
ready({ port: 0, answers: { weigh: () => agents.weigh() } });

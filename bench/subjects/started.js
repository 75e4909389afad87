/** A peer as its users start it, in plain JavaScript with nothing of the bench beside it: says its port when it takes deliveries, or that it is ready. */
import { createServer } from "node:http";

const { peer, secret, postgres, redis } = JSON.parse(process.argv[2]);
const QUEUE = "started";

/** The route in front of a queue: what comes is a job before it is answered. */
function door(take) {
  return createServer((request, response) => {
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      take(JSON.parse(Buffer.concat(chunks).toString()), request.headers["x-github-delivery"]).then(
        () => response.writeHead(202).end(),
        (error) => {
          console.error(error);
          response.writeHead(500).end();
        },
      );
    });
  });
}

const PEERS = {
  async probot() {
    const { createNodeMiddleware, Probot } = await import("probot");
    const probot = new Probot({ githubToken: "x", secret, logLevel: "fatal" });
    const app = (bot) => void bot.on("issues.opened", () => undefined);
    const middleware = await createNodeMiddleware(app, { probot, webhooksPath: "/webhooks/s1" });
    return createServer((request, response) => void middleware(request, response, () => response.writeHead(404).end()));
  },
  async bolt() {
    const { default: slack } = await import("@slack/bolt");
    const receiver = new slack.HTTPReceiver({ signingSecret: secret, endpoints: "/webhooks", logLevel: "error" });
    const authorize = async () => ({ botToken: "x", botId: "b", botUserId: "u" });
    const app = new slack.App({ receiver, authorize, logLevel: "error" });
    app.event("message", async () => undefined);
    return createServer(receiver.requestListener);
  },
  async "pg-boss"() {
    const { PgBoss } = await import("pg-boss");
    const boss = new PgBoss(postgres);
    boss.on("error", (error) => console.error(error));
    await boss.start();
    await boss.createQueue(QUEUE);
    await boss.work(QUEUE, async () => undefined);
    return door((event) => boss.send(QUEUE, event));
  },
  async dbos() {
    const { DBOS } = await import("@dbos-inc/dbos-sdk");
    const workflow = DBOS.registerWorkflow(async () => undefined, { name: "answer" });
    DBOS.setConfig({ name: "bench", systemDatabaseUrl: postgres, logLevel: "error" });
    await DBOS.launch();
    return door(async (event, delivery) => void (await DBOS.startWorkflow(workflow, { workflowID: delivery })(event)));
  },
  async bullmq() {
    const { Queue, Worker } = await import("bullmq");
    const connection = { host: "127.0.0.1", port: redis, maxRetriesPerRequest: null };
    const queue = new Queue(QUEUE, { connection });
    const worker = new Worker(QUEUE, async () => undefined, { connection });
    await Promise.all([queue.waitUntilReady(), worker.waitUntilReady()]);
    return door((event, delivery) => queue.add("reply", event, { jobId: delivery }));
  },
  async mastra() {
    const { Agent } = await import("@mastra/core/agent");
    kept.push(new Agent({ id: "s", name: "s", instructions: "Welcome newcomers.", model: "openai/gpt-4o-mini" }));
  },
  async voltagent() {
    const { Agent } = await import("@voltagent/core");
    kept.push(new Agent({ name: "s", instructions: "Welcome newcomers.", model: "openai/gpt-4o-mini" }));
  },
  async elizaos() {
    const [{ AgentRuntime }, { createDatabaseAdapter, DatabaseMigrationService, plugin }] = await Promise.all([
      import("@elizaos/core"),
      import("@elizaos/plugin-sql"),
    ]);
    const agentId = "b850bc30-45f8-0041-a00a-83df46d8555d";
    const adapter = createDatabaseAdapter({ dataDir: "memory://" }, agentId);
    await adapter.init();
    const migrations = new DatabaseMigrationService();
    await migrations.initializeWithDatabase(adapter.db);
    migrations.discoverAndRegisterPluginSchemas([plugin]);
    await migrations.runAllPluginMigrations();
    const character = { id: agentId, name: "s", bio: "Welcomes newcomers.", system: "Welcome newcomers." };
    const runtime = new AgentRuntime({ agentId, adapter, character, plugins: [] });
    await runtime.initialize({ skipMigrations: true });
    kept.push(runtime);
  },
};

const kept = [];
const server = await PEERS[peer]();
if (server === undefined) {
  process.send({});
} else {
  server.listen(0, "127.0.0.1", () => process.send({ port: server.address().port }));
}
process.on("disconnect", () => process.exit(0)); // keeps an agent alive that does nothing

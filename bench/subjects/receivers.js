/** Receivers people would use instead, taking deliveries and doing nothing about them: `peer` says which. Each tells what it kept. */
import { createServer } from "node:http";
import { ready, settings } from "./subject.ts";
import { receive, SECRET, uuidOf } from "./webhook.ts";

const QUEUE = "deliveries";

/** The delivery's id is its job's primary key. */
async function pgBoss() {
  const [{ PgBoss }, { default: pg }] = await Promise.all([import("pg-boss"), import("pg")]);
  const boss = new PgBoss({ connectionString: settings.postgres, max: 20 });
  boss.on("error", (error) => console.error(error));
  await boss.start();
  await boss.createQueue(QUEUE);
  const pool = new pg.Pool({ connectionString: settings.postgres, max: 1 });
  const port = await receive(async (event, delivery) => {
    await boss.send(QUEUE, event, { id: uuidOf(delivery) });
    return 202;
  });
  const kept = async () => Number((await pool.query("SELECT count(*) AS n FROM pgboss.job WHERE name = $1", [QUEUE])).rows[0].n);
  return { port, kept, stop: () => Promise.all([boss.stop({ graceful: false }), pool.end()]) };
}

async function bullmq() {
  const { Queue } = await import("bullmq");
  const queue = new Queue(QUEUE, { connection: { host: "127.0.0.1", port: settings.redis, maxRetriesPerRequest: null } });
  await queue.waitUntilReady();
  const port = await receive(async (event, delivery) => {
    await queue.add("delivery", event, { jobId: delivery });
    return 202;
  });
  return { port, kept: () => queue.count(), stop: () => queue.close() };
}

async function probot() {
  const { createNodeMiddleware, Probot } = await import("probot");
  let handled = 0;
  const bot = new Probot({ githubToken: "x", secret: SECRET, logLevel: "fatal" });
  const app = (on) => void on.on("issues.opened", () => void handled++);
  const middleware = await createNodeMiddleware(app, { probot: bot, webhooksPath: "/webhooks" });
  const server = createServer((request, response) => {
    request.url = "/webhooks"; // it knows one address only
    void middleware(request, response, () => response.writeHead(404).end());
  });
  return { port: await listening(server), kept: () => handled };
}

async function bolt() {
  const { default: slack } = await import("@slack/bolt");
  let handled = 0;
  const receiver = new slack.HTTPReceiver({ signingSecret: SECRET, endpoints: "/webhooks", logLevel: "error" });
  const authorize = async () => ({ botToken: "x", botId: "b", botUserId: "u" });
  const app = new slack.App({ receiver, authorize, logLevel: "error" });
  app.event("message", async () => void handled++);
  const server = createServer(receiver.requestListener);
  return { port: await listening(server), kept: () => handled };
}

async function listening(server) {
  server.keepAliveTimeout = 60_000;
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server.address().port;
}

const open = { "pg-boss": pgBoss, bullmq, probot, bolt }[settings.peer];
if (open === undefined) throw new Error(`there is no peer "${String(settings.peer)}"`);
const { port, kept, stop } = await open();
ready({ port, answers: { kept: async () => ({ kept: await kept() }) }, stop });

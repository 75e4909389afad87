/** pg-boss on PostgreSQL: the delivery becomes a job (its id once) before it is answered, workers make the effects. */
import { PgBoss } from "pg-boss";
import { reply } from "./reply.ts";
import { ready, settings } from "./subject.ts";
import { receive, uuidOf } from "./webhook.ts";

const QUEUE = "effects";
const boss = new PgBoss({ connectionString: settings.postgres, max: 20 });
boss.on("error", (error) => console.error(error));
await boss.start();
await boss.createQueue(QUEUE, { expireInSeconds: settings.expireInSeconds ?? 60, retryLimit: 3 });
const work = async (jobs) => void (await Promise.all(jobs.map(({ data }) => reply(data))));
// It polls every half second at the soonest, so a worker is told of each job.
const workers = [];
for (let i = 0; i < 8; i++) workers.push(await boss.work(QUEUE, { batchSize: 16, pollingIntervalSeconds: 0.5 }, work));
let turn = 0;
const port = await receive(async (event, delivery) => {
  await boss.send(QUEUE, event, { id: uuidOf(delivery) }); // a singletonKey alone does not refuse a second one in a standard queue
  boss.notifyWorker(workers[turn++ % workers.length]);
  return 202;
});
ready({ port, stop: () => boss.stop({ graceful: false }) });

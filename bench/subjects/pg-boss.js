/** pg-boss on PostgreSQL: the delivery becomes a job (its id once) before it is answered, workers make the effects. */
import { PgBoss } from "pg-boss";
import { reply } from "./reply.ts";
import { ready, settings } from "./subject.ts";
import { receive } from "./webhook.ts";

const QUEUE = "effects";
const boss = new PgBoss({ connectionString: settings.postgres, max: 20 });
boss.on("error", (error) => console.error(error));
await boss.start();
await boss.createQueue(QUEUE, { expireInSeconds: settings.expireInSeconds ?? 60, retryLimit: 3 });
const work = async (jobs) => void (await Promise.all(jobs.map(({ data }) => reply(data))));
// Its docs: raise batchSize for throughput. Its poll may not be below half a second, so workers are told of each job.
for (let i = 0; i < 8; i++) await boss.work(QUEUE, { batchSize: 16, pollingIntervalSeconds: 0.5 }, work);
const port = await receive(async (event, delivery) => {
  await boss.send(QUEUE, event, { singletonKey: delivery });
  return 202;
});
ready({ port, stop: () => boss.stop({ graceful: false }) });

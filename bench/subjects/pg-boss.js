/** pg-boss on PostgreSQL: the delivery becomes a job (its id once) before it is answered, workers make the effects. */
import { PgBoss } from "pg-boss";
import { reply } from "./reply.ts";
import { ready, settings } from "./subject.ts";
import { think, thinks } from "./think.ts";
import { openReceiver, uuidOf } from "./webhook.ts";

const QUEUE = "effects";
const { expireInSeconds = 60, heartbeatSeconds, supervision = {}, workers: count = 8, batchSize = 16 } = settings;
const boss = new PgBoss({ connectionString: settings.postgres, max: 20, ...supervision });
boss.on("error", (error) => console.error(error));
await boss.start();
await boss.createQueue(QUEUE, { expireInSeconds, retryLimit: 3, ...(heartbeatSeconds === undefined ? {} : { heartbeatSeconds }) });
const answer = async ({ data, signal }) => {
  if (thinks) {
    await think(data);
    signal.throwIfAborted(); // the job expired, or another worker has it
  }
  await reply(data);
};
const work = async (jobs) => void (await Promise.all(jobs.map(answer)));
// It polls every half second at the soonest, so a worker is told of each job.
const workers = [];
for (let i = 0; i < count; i++) workers.push(await boss.work(QUEUE, { batchSize, pollingIntervalSeconds: 0.5 }, work));
let turn = 0;
const receiver = await openReceiver(async (event, delivery) => {
  await boss.send(QUEUE, event, { id: uuidOf(delivery) }); // a singletonKey alone does not refuse a second one in a standard queue
  boss.notifyWorker(workers[turn++ % workers.length]);
  return 202;
});
ready({
  port: receiver.port,
  stop: () => boss.stop({ graceful: false }),
  async drain() {
    receiver.close();
    await boss.stop();
  },
});

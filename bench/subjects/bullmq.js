/** BullMQ on Redis with appendfsync always: the delivery becomes a job (its id once) before it is answered. */
import { Queue, Worker } from "bullmq";
import { reply } from "./reply.ts";
import { ready, settings } from "./subject.ts";
import { receive } from "./webhook.ts";

const connection = { host: "127.0.0.1", port: settings.redis, maxRetriesPerRequest: null };
const queue = new Queue("effects", { connection, defaultJobOptions: { removeOnComplete: { count: 10_000 }, attempts: 3 } });
const worker = new Worker("effects", (job) => reply(job.data), { connection, concurrency: 64 });
await Promise.all([queue.waitUntilReady(), worker.waitUntilReady()]);
const port = await receive(async (event, delivery) => {
  await queue.add("reply", event, { jobId: delivery });
  return 202;
});
ready({
  port,
  stop: async () => {
    await worker.close(true);
    await queue.close();
  },
});

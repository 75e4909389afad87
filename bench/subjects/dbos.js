/** DBOS on PostgreSQL: one workflow per delivery, named by its id, with the thought and the effect as its steps; answered once it is started. */
import { DBOS } from "@dbos-inc/dbos-sdk";
import { reply } from "./reply.ts";
import { ready, settings } from "./subject.ts";
import { think, thinks } from "./think.ts";
import { openReceiver } from "./webhook.ts";

/** For what runs when it is told to end. */
const DRAIN_MS = 30_000;

const workflow = DBOS.registerWorkflow(
  async (event) => {
    if (thinks) await DBOS.runStep(() => think(event), { name: "think" });
    await DBOS.runStep(() => reply(event), { name: "reply" });
  },
  { name: "answer" },
);
const { executorID } = settings;
DBOS.setConfig({
  name: "bench",
  systemDatabaseUrl: settings.postgres,
  logLevel: "error",
  ...(executorID === undefined ? {} : { executorID }),
});
await DBOS.launch();
const receiver = await openReceiver(async (event, delivery) => {
  await DBOS.startWorkflow(workflow, { workflowID: delivery })(event);
  return 202;
});
ready({
  port: receiver.port,
  stop: () => DBOS.shutdown(),
  async drain() {
    receiver.close();
    await DBOS.shutdown({ workflowCompletionTimeoutMS: DRAIN_MS });
  },
});

/** DBOS on PostgreSQL: one workflow per delivery, named by its id, with the effect as its step; answered once it is started. */
import { DBOS } from "@dbos-inc/dbos-sdk";
import { reply } from "./reply.ts";
import { ready, settings } from "./subject.ts";
import { receive } from "./webhook.ts";

const workflow = DBOS.registerWorkflow((event) => DBOS.runStep(() => reply(event), { name: "reply" }), { name: "answer" });
DBOS.setConfig({ name: "bench", systemDatabaseUrl: settings.postgres, logLevel: "error" });
await DBOS.launch();
const port = await receive(async (event, delivery) => {
  await DBOS.startWorkflow(workflow, { workflowID: delivery })(event);
  return 202;
});
ready({ port, stop: () => DBOS.shutdown() });

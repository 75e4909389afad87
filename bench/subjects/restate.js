/** Restate: the delivery is sent to its server (its id once) before it is answered, which calls the handler, whose reply is a step it keeps. */
import { createServer } from "node:http2";
import { createEndpointHandler, service } from "@restatedev/restate-sdk/node";
import { Agent, request } from "undici";
import { reply } from "./reply.ts";
import { ready, settings } from "./subject.ts";
import { receive } from "./webhook.ts";

const { ingress, admin, service: name } = settings.restate;
const effects = service({ name, handlers: { answer: (ctx, event) => ctx.run("reply", () => reply(event)) } });
// What its serve() does, on loopback alone.
const handlers = createServer(createEndpointHandler({ services: [effects] }));
await new Promise((resolve) => handlers.listen(0, "127.0.0.1", resolve));
const registered = await fetch(`${admin}/deployments`, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ uri: `http://127.0.0.1:${handlers.address().port}` }),
});
if (!registered.ok) throw new Error(`the handler was not registered: ${registered.status} ${await registered.text()}`);

const dispatcher = new Agent({ connections: 128, pipelining: 1 });
const port = await receive(async (event, delivery) => {
  const { statusCode, body } = await request(`${ingress}/${name}/answer/send`, {
    method: "POST",
    dispatcher,
    headers: { "content-type": "application/json", "idempotency-key": delivery },
    body: JSON.stringify(event),
  });
  await body.dump();
  return statusCode < 300 ? 202 : 500;
});
ready({ port });

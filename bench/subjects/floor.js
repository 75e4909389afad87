/** The floor: node:http and undici, and nothing kept. */
import { ready } from "./subject.ts";
import { receive } from "./webhook.ts";
import { reply } from "./reply.ts";

const port = await receive(async (event) => {
  await reply(event);
  return 202;
});
ready({ port });

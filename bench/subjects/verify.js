/** A fastify route that checks the HMAC and answers: what receiving costs alone. It makes no effect. */
import fastify from "fastify";
import { ready } from "./subject.ts";
import { verified } from "./webhook.ts";

const app = fastify();
app.removeAllContentTypeParsers();
app.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
app.post("/webhooks/:specialist", async (request, reply) =>
  reply.code(verified(request.body, request.headers["x-hub-signature-256"]) ? 202 : 401).send(),
);
await app.listen({ port: 0, host: "127.0.0.1" });
ready({ port: app.server.address().port, stop: () => app.close() });

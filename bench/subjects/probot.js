/** Probot as a webhook server; retry and throttling off as its own limits allow one effect a second. Replies by octokit or by undici. */
import { createServer } from "node:http";
import { createNodeMiddleware, Probot, ProbotOctokit } from "probot";
import { reply } from "./reply.ts";
import { ready, settings } from "./subject.ts";
import { SECRET } from "./webhook.ts";

// As a function, since Probot overwrites plain defaults with its own throttling.
const bare = ProbotOctokit.defaults((options) => ({ ...options, retry: { enabled: false }, throttle: { enabled: false } }));
const probot = new Probot({ githubToken: "x", secret: SECRET, Octokit: bare, logLevel: "fatal" });
const baseUrl = `http://127.0.0.1:${settings.sink}`;
const app = (bot) => {
  bot.on("issues.opened", async ({ octokit, payload }) => {
    if (settings.by === "undici") return reply(payload);
    const { id } = payload.data;
    await octokit.request("POST /v1/posts/{id}/reply", { baseUrl, id, content: `thanks ${id}` });
  });
};
const middleware = await createNodeMiddleware(app, { probot, webhooksPath: "/webhooks" });
const server = createServer((request, response) => {
  request.url = "/webhooks"; // it knows one address only
  void middleware(request, response, () => response.writeHead(404).end());
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => ready({ port: server.address().port }));

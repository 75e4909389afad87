/** Clients that know no budgets and go by the network's answers, as their docs would have it: `client.run(lane, send)`. */
import { REST } from "@discordjs/rest";
import { Octokit } from "@octokit/core";
import { throttling } from "@octokit/plugin-throttling";

let generations = 0;

/** The windows that bind as the service's headers tell them. */
const headersOf = ({ retryAfterMs, limit, remaining, resetAt }) => ({
  "content-type": "application/json",
  "x-ratelimit-limit": String(limit),
  "x-ratelimit-remaining": String(remaining),
  "x-ratelimit-reset": String(Math.ceil(resetAt / 1_000)),
  "x-ratelimit-reset-after": String((resetAt - Date.now()) / 1_000),
  ...(retryAfterMs === undefined ? {} : { "retry-after": String(Math.ceil(retryAfterMs / 1_000)) }),
});

const responseTo = async (send) => {
  const answer = await send();
  return new Response("{}", { status: answer.status, headers: headersOf(answer) });
};

export const REACTING = {
  "@octokit/core 7.0.8, plugin-throttling 11.0.5": () => {
    const Throttled = Octokit.plugin(throttling);
    const sends = new Map();
    const octokit = new Throttled({
      auth: "x",
      log: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
      // Its limiters belong to the module: a new id is what a new process would have.
      throttle: { id: `process ${++generations}`, onRateLimit: () => true, onSecondaryRateLimit: () => true },
      request: { fetch: (url) => responseTo(sends.get(new URL(url).pathname)) },
    });
    return {
      async run(lane, send) {
        sends.set(`/${lane}`, send);
        await octokit.request(`GET /${lane}`);
      },
    };
  },
  "@discordjs/rest 2.6.3": () => {
    const sends = [];
    const rest = new REST({ makeRequest: () => responseTo(sends[0]) }).setToken("x");
    return {
      async run(_lane, send) {
        sends[0] = send; // all callers send alike
        await rest.get("/feed");
      },
    };
  },
};

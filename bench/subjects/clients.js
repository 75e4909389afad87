/** The peers' clients, each with the limits it has; what would slow it down on purpose is lifted as for Retinue. */
import { REST } from "@discordjs/rest";
import { Octokit } from "@octokit/core";
import { retry } from "@octokit/plugin-retry";
import { throttling } from "@octokit/plugin-throttling";
import Bottleneck from "bottleneck";
import got from "got";

const headers = { authorization: "Bearer x" };

export const CLIENTS = {
  fetch: (origin, path) => async () => (await fetch(origin + path, { headers })).json(),
  "@octokit/core": (origin, path) => {
    const octokit = new Octokit({ baseUrl: origin, auth: "x" });
    return () => octokit.request(`GET ${path}`);
  },
  "@octokit/core, throttling and retry": (origin, path) => {
    const Throttled = Octokit.plugin(throttling, retry);
    const octokit = new Throttled({ baseUrl: origin, auth: "x", throttle: { onRateLimit: () => true, onSecondaryRateLimit: () => true } });
    return () => octokit.request(`GET ${path}`);
  },
  "@discordjs/rest": (origin, path) => {
    const rest = new REST({ api: origin, version: "1", globalRequestsPerSecond: 1_000_000 }).setToken("x");
    return () => rest.get(path.replace("/v1", ""));
  },
  "got, bottleneck": (origin, path) => {
    const limiter = new Bottleneck({ reservoir: 1e9, reservoirRefreshAmount: 1e9, reservoirRefreshInterval: 3_600_000 });
    return () => limiter.schedule(() => got(origin + path, { headers, retry: { limit: 0 } }).json());
  },
};

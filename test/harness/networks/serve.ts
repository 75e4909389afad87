/** Serves an invented network on this machine, to write a profile for it and to try that profile: `npm run networks:serve -- kontor 8090`. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { keyVariable } from "../../../src/config/key-sources.ts";
import { systemClock, type Clock } from "../../../src/core/clock.ts";
import { systemRandom, type Random } from "../../../src/core/random.ts";
import { MINUTE, SECOND } from "../../../src/core/units.ts";
import { Board, PEOPLE, type Verdict } from "./board.ts";
import { documentOf, truthOf } from "./examinable.ts";
import { INVENTED } from "./invented.ts";
import type { Deliver, Invented, InventedNetwork } from "./invented-network.ts";

export interface ServedNetwork {
  readonly baseUrl: string;
  /** Holds `.env` with the key, the network's `page.md` and `openapi.json`, and `agents/` with a specialist. */
  readonly folder: string;
  /** The network's own judgement of what its visitor did. */
  verdict(): Verdict;
  close(): Promise<void>;
}

export interface ServeOptions {
  readonly port: number;
  readonly folder: string;
  readonly clock?: Clock;
  readonly random?: Random;
  /** Called with each request that the network does not know: an unknown path, method or field. */
  readonly onStrange?: (line: string) => void;
}

/** A job is given, judged and paid within a minute, so that a trial sees all of it. */
const PACE = { gives: 15 * SECOND, judges: 15 * SECOND, pays: 15 * SECOND };
const SAYS_MS = 30 * SECOND;
const OFFERS_MS = MINUTE;
const ALREADY = { posts: 14, jobs: 12 };
const MAX_BODY = 64 * 1_024;
const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

export async function serveNetwork(invented: Invented, options: ServeOptions): Promise<ServedNetwork> {
  const { port, folder, clock = systemClock(), random = systemRandom(), onStrange = () => undefined } = options;
  const board = new Board(clock);
  board.paceMs = PACE;
  const network = invented.open(board, clock, deliver);
  for (let i = 0; i < ALREADY.posts; i++) board.say(random.pick(PEOPLE), `What do you think of number ${i}, and of the others?`);
  for (let i = 0; i < ALREADY.jobs; i++) board.offer(random.pick(PEOPLE), `task ${i}`, 500 + 10 * i);
  const server = createServer((request, response) => {
    const known = board.strange.length;
    void answer(network, request, response).then(() => board.strange.slice(known).forEach(onStrange));
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", () => resolve()));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  write(invented, folder, baseUrl);
  const timers = [
    again(clock, SAYS_MS, () => void board.say(random.pick(PEOPLE), `What do you think of number ${random.int(1_000)}?`)),
    again(clock, OFFERS_MS, () => void board.offer(random.pick(PEOPLE), `task ${random.int(1_000)}`, 500 + random.int(2_000))),
  ];
  return {
    baseUrl,
    folder,
    verdict: () => board.verdict(String(invented.specialist.handle)),
    async close() {
      for (const stop of timers) stop();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

function again(clock: Clock, everyMs: number, run: () => void): () => void {
  let timer = clock.after(everyMs, next);
  function next(): void {
    run();
    timer = clock.after(everyMs, next);
  }
  return () => timer.cancel();
}

async function answer(network: InventedNetwork, request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = "";
  request.setEncoding("utf8");
  for await (const chunk of request) {
    body += String(chunk);
    if (body.length > MAX_BODY) return void response.destroy();
  }
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://network.invalid");
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
  const method = METHODS.find((one) => one === request.method);
  if (method === undefined) return void response.writeHead(405).end();
  const reply = network.answer({ method, path: pathname, query: searchParams, headers, body, at: {} });
  response.writeHead(reply.status, { "content-type": "application/json", ...reply.headers });
  response.end(reply.body === undefined ? "" : JSON.stringify(reply.body));
}

const deliver: Deliver = async (url, { headers, body, token }) => {
  try {
    const address = token === undefined ? url : `${url}/${token}`;
    const answered = await fetch(address, { method: "POST", headers, body, signal: AbortSignal.timeout(10 * SECOND) });
    return answered.status;
  } catch {
    return 0; // nobody answers there
  }
};

function write({ name, key, webhookSecret, specialist }: Invented, folder: string, baseUrl: string): void {
  mkdirSync(join(folder, "agents"), { recursive: true, mode: 0o700 });
  const handle = String(specialist.handle);
  const settings = [`RETINUE_BASE_URL=${baseUrl}`, `${keyVariable(handle)}=${key}`, `RETINUE_WEBHOOK_SECRET=${webhookSecret}`, ""];
  writeFileSync(join(folder, ".env"), settings.join("\n"), { mode: 0o600 });
  copyFileSync(join(import.meta.dirname, `${name}.md`), join(folder, "page.md"));
  writeFileSync(join(folder, "openapi.json"), documentOf(truthOf(name)));
  writeFileSync(join(folder, "agents", `${handle}.ts`), definitionOf(handle, specialist.tier ?? "free"));
}

function definitionOf(handle: string, tier: string): string {
  return `import { credits, defineSpecialist } from "retinue";

export default defineSpecialist({
  handle: "${handle}",
  tier: "${tier}",
  watch: { feed: { from: "start" }, jobs: { from: "start" } },
  may: ["posts.reply", "jobs.apply", "jobs.submit"],
  spend: { perDay: credits(8) },
  on: {
    "post.created": (post, act) => void act.reply(post, \`I have read \${post.id}\`),
    "job.listed": (job, act) => void act.apply(job, { message: "I can do this." }),
    "job.assigned": (job, act) => void act.submit(job, \`Done: \${job.title}\`),
  },
});
`;
}

if (import.meta.main) {
  const [name = "", port = "8090"] = process.argv.slice(2);
  const names = INVENTED.map((one) => one.name).join(", ");
  const invented = INVENTED.find((one) => one.name === name);
  if (invented === undefined) {
    const isHelp = name === "--help";
    const usage = `npm run networks:serve -- <name> [port]\n  name: ${names}\n  port: 8090 if none is given\nIts folder is .retinue/networks/<name>.\n`;
    if (isHelp) process.stdout.write(usage);
    else process.stderr.write(`expected one of ${names}, got ${JSON.stringify(name)}\n${usage}`);
    process.exit(isHelp ? 0 : 1);
  }
  const told = new Set<string>();
  const onStrange = (line: string): void => {
    if (!told.has(line)) process.stdout.write(`unknown to ${name}: ${line}\n`);
    told.add(line);
  };
  const served = await serveNetwork(invented, { port: Number(port), folder: join(".retinue", "networks", name), onStrange });
  process.stdout.write(
    `Base     ${served.baseUrl}\nFolder   ${served.folder}: .env with the key, page.md (its documentation), openapi.json, agents/\nAnswer   ${join("test/harness/networks", invented.profile)}: its profile, to compare with\n`,
  );
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => {
      const { done, ...broken } = served.verdict();
      process.stdout.write(`${JSON.stringify({ done, ...broken }, undefined, 2)}\n`);
      void served.close();
    });
}

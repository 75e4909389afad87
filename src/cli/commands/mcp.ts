/** `retinue mcp`: serves one specialist's operations as tools of the Model Context Protocol. */
import PQueue from "p-queue";
import type { Config } from "../../config/config.ts";
import { storeFile } from "../../config/store-address.ts";
import { messageOf, Misconfigured } from "../../core/errors.ts";
import { systemRandom } from "../../core/random.ts";
import { Secret } from "../../core/secret.ts";
import type { Guardian } from "../../guardian/guardian.ts";
import { createServerFactory, type Desk, type ServerFactory } from "../../mcp/mcp-server.ts";
import { offeredTools } from "../../mcp/offered-tools.ts";
import { serveOverHttp } from "../../mcp/over-http.ts";
import { serveOverStdio } from "../../mcp/over-stdio.ts";
import { loadServerSdk } from "../../mcp/server-peer.ts";
import { tokenIn } from "../../mcp/token-file.ts";
import { planCast } from "../../runtime/launch.ts";
import { MEMORY } from "../../store/sqlite/database.ts";
import { flagOption, wholeOption } from "../args.ts";
import { callAlone, definitionOf } from "../call-alone.ts";
import { inTurn } from "../command-turns.ts";
import { EXIT, OPTIONS, PROJECT_OPTIONS, type Command } from "../command.ts";
import { overRunning, requireStore } from "../find-guardian.ts";
import { openStage, type Stage } from "../session.ts";

const DEFAULT_PORT = 8090;
const MAX_PORT = 65_535;

export const command: Command = {
  name: "mcp",
  arguments: "<handle>",
  describe:
    "Serves one specialist over the Model Context Protocol: its operations as tools, through all limits. It speaks on stdin and stdout, or over HTTP on this machine.",
  ownsStdout: true,
  options: [
    { flags: "--http [port]", describe: `serve over HTTP on 127.0.0.1 (default port: ${DEFAULT_PORT}; 0 takes a free one)` },
    ...PROJECT_OPTIONS,
    OPTIONS.logLevel,
  ],
  examples: ["retinue mcp scout", "retinue mcp scout --http 8090"],
  async run(context) {
    const [handle = ""] = context.args;
    const { clock, options } = context;
    const sdk = await loadServerSdk();
    const config = await context.loadConfig();
    const { profile, roster } = await planCast(config, clock);
    const { specialist } = definitionOf(roster, handle);
    const stage = openStage(context, undefined);
    try {
      const onError = (error: unknown): void => stage.log.warn("a request of an MCP client failed", { message: messageOf(error) });
      const factory = createServerFactory(sdk, {
        handle: specialist.handle,
        version: context.version,
        tools: offeredTools(specialist, profile, clock),
        desk: deskOf(stage, config),
        onError,
      });
      const isHttp = options["http"] !== undefined;
      await (isHttp ? overHttp(stage, config, factory) : overStdio(stage, factory));
      await factory.idle();
      return EXIT.done;
    } finally {
      stage.close();
    }
  },
};

async function overStdio({ context, lifetime, log }: Stage, factory: ServerFactory): Promise<void> {
  const { pipes } = context;
  if (pipes === undefined || context.out.json)
    throw new Misconfigured("option_invalid", "the protocol needs stdin and stdout for itself", {
      hint: "leave out --json, or serve with --http",
    });
  const server = await serveOverStdio(factory, pipes(), (error) =>
    log.warn("an MCP client sent what cannot be read", { message: messageOf(error) }),
  );
  await Promise.race([server.over, lifetime.over]);
  await server.close();
}

async function overHttp({ context, lifetime, log, scrubber }: Stage, config: Config, factory: ServerFactory): Promise<void> {
  const { out, clock, options } = context;
  const port = flagOption(options, "http") ? DEFAULT_PORT : (wholeOption(options, "http", { min: 0, max: MAX_PORT }) ?? DEFAULT_PORT);
  const { token, source } = tokenOf(config);
  scrubber.add(token);
  const server = await serveOverHttp(await loadServerSdk(), factory, {
    port,
    token,
    onError: (error) => log.warn("a request over HTTP was refused or failed", { message: messageOf(error) }),
  });
  out.progress({ type: "mcp", at: clock.now(), url: server.url }, `MCP at ${server.url}, with the token in ${source}`);
  try {
    await lifetime.over;
  } finally {
    await server.close();
  }
}

function tokenOf({ environment, store }: Config): { readonly token: Secret; readonly source: string } {
  const given = environment.get("RETINUE_MCP_TOKEN");
  if (given !== undefined) return { token: new Secret(given), source: environment.describe("RETINUE_MCP_TOKEN") };
  const path = storeFile(store);
  if (path === MEMORY)
    throw new Misconfigured("mcp_token_unusable", "a store in memory has no folder for a token", { hint: "set RETINUE_MCP_TOKEN" });
  const file = `${path}-mcp-token`;
  return { token: tokenIn(file, systemRandom()), source: file };
}

/** Reaches the live runtime if there is one, at each request anew; else opens the store for this request alone, one request at a time. */
function deskOf(stage: Stage, config: Config): Desk {
  const { context } = stage;
  const alone = new PQueue({ concurrency: 1 });
  const reach = <Result>(work: (guardian: Guardian) => Promise<Result>, otherwise: () => Promise<Result>): Promise<Result> =>
    inTurn(context.clock, async ({ until }) => {
      const asked = await overRunning(config, context, work, { caller: { who: "an MCP client", from: "command" }, until });
      return asked === undefined ? alone.add(otherwise) : asked.result;
    });
  const look = <Result>(work: (guardian: Guardian) => Promise<Result>): Promise<Result> =>
    reach(work, async () => {
      requireStore(config);
      const { overStore } = await import("../offline-guardian.ts");
      return overStore(config, context, work);
    });
  return {
    call: (query) =>
      reach(
        (guardian) => guardian.call(query),
        () => callAlone(stage, query),
      ),
    inbox: (query) => look((guardian) => guardian.inbox(query)),
    status: (query) => look((guardian) => guardian.status(query)),
    why: (query) => look((guardian) => guardian.why(query)),
  };
}

/** The tools of all MCP servers that the config file names: each server is connected on first use, each tool is called only as accepted. */
import type { Tool } from "@modelcontextprotocol/client";
import { readAccepted } from "../config/accepted-tools.ts";
import type { Config } from "../config/config.ts";
import type { Clock } from "../core/clock.ts";
import { within } from "../core/deadline.ts";
import { Misconfigured, Refused, Retryable } from "../core/errors.ts";
import { asJson, type JsonObject } from "../core/json.ts";
import type { Logger } from "../core/log.ts";
import { MINUTE, SECOND } from "../core/units.ts";
import type { ToolDesk } from "../handlers/handling.ts";
import type { ToolAnswer } from "../specialist/act.ts";
import type { Specialist } from "../specialist/specialist.ts";
import { loadClientSdk } from "./client-peer.ts";
import { connectTools, type ToolConnection } from "./tool-connection.ts";
import { fingerprintOf } from "./tool-fingerprint.ts";

/** A server's list is read again after this: a changed description is noticed no later. */
const LIST_AGE_MS = MINUTE;
/** A server that could not be used is not tried again before. */
const RETRY_MS = 5 * SECOND;

export interface ToolServersOptions {
  readonly config: Pick<Config, "mcp" | "environment" | "cwd">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly fetch: typeof globalThis.fetch;
}

/** A tool as its server describes it. Its texts are the server's; a person has accepted them. */
export interface ToolShown {
  /** `server/tool`. */
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}

/** A tool that a server has, and its fingerprint now. */
export interface ToolFound extends ToolShown {
  readonly fingerprint: string;
}

export interface ToolServers extends ToolDesk {
  /** The tools that a specialist may call and a person accepted. Throws as `callTool` does if one of them cannot be called. */
  listTools(specialist: Pick<Specialist, "tools">, signal: AbortSignal): Promise<readonly ToolShown[]>;
  /** These tools as their servers describe them now, accepted or not. Throws `Refused` (`tool_missing`, `tool_server_unknown`). */
  findTools(names: readonly string[], signal: AbortSignal): Promise<readonly ToolFound[]>;
  close(): Promise<void>;
}

export function createToolServers(options: ToolServersOptions): ToolServers {
  const { config, clock } = options;
  const servers = new Map<string, Server>();
  const serverOf = (name: string): Server => {
    const known = servers.get(name);
    if (known !== undefined) return known;
    if (!Object.hasOwn(config.mcp, name)) throw unknownServer(name, config);
    const server = new Server(name, options);
    servers.set(name, server);
    return server;
  };
  const find = async (tool: string, signal: AbortSignal): Promise<{ readonly server: Server; readonly found: ToolFound }> => {
    const { server: name, rest } = splitName(tool);
    const server = serverOf(name);
    return { server, found: shown(tool, await server.find(rest, signal)) };
  };
  const accepted = async (tool: string, signal: AbortSignal): Promise<{ readonly server: Server; readonly found: ToolFound }> => {
    const known = readAccepted(config.cwd).get(tool);
    if (known === undefined)
      throw new Refused("tool_unaccepted", `nobody has accepted the tool ${tool}`, { hint: "read and accept it: retinue check --accept" });
    const now = await find(tool, signal);
    if (now.found.fingerprint === known) return now;
    throw new Refused("tool_changed", `the description or schema of ${tool} is not the accepted one`, {
      hint: "read what it says now: retinue check --accept",
    });
  };
  return {
    async callTool(specialist, call, signal) {
      if (!specialist.tools.includes(call.tool)) throw notAllowed(specialist, call.tool);
      const { tool, deadlineMs: lengthMs } = call;
      const late = (): Retryable =>
        new Retryable("tool_deadline", `${tool} did not answer within ${lengthMs} ms`, {
          hint: "raise deadline of the call, or mend the server",
        });
      return within(clock, { lengthMs, signal, late }, async (limit) => {
        const { server } = await accepted(call.tool, limit);
        return server.call(splitName(call.tool).rest, call.input, limit);
      });
    },
    listTools: async ({ tools }, signal) =>
      Promise.all(
        tools.map(async (tool) => {
          const { fingerprint: _, ...rest } = (await accepted(tool, signal)).found;
          return rest;
        }),
      ),
    findTools: async (names, signal) => Promise.all(names.map(async (name) => (await find(name, signal)).found)),
    async close() {
      await Promise.all([...servers.values()].map((server) => server.close()));
    },
  };
}

/** One server, its connection and its list of tools. */
class Server {
  readonly #name: string;
  readonly #options: ToolServersOptions;
  #connection: Promise<ToolConnection> | undefined;
  #list: { readonly tools: Promise<readonly Tool[]>; readonly at: number } | undefined;
  #failed: { readonly error: Retryable; readonly until: number } | undefined;
  #calls = 0;

  constructor(name: string, options: ToolServersOptions) {
    this.#name = name;
    this.#options = options;
  }

  /** Throws `Refused` (`tool_missing`). */
  async find(name: string, signal: AbortSignal): Promise<Tool> {
    const tool = (await this.#tools(signal)).find((one) => one.name === name);
    if (tool === undefined) throw new Refused("tool_missing", `the server "${this.#name}" has no tool of the name ${JSON.stringify(name)}`);
    return tool;
  }

  async call(name: string, input: JsonObject, signal: AbortSignal): Promise<ToolAnswer> {
    this.#calls++;
    try {
      return await this.#using((connection) => connection.call(name, input, signal));
    } catch (error) {
      // A server that hangs may never answer again; one that answers others only takes its time.
      if (signal.aborted && this.#calls === 1) await this.close();
      throw error;
    } finally {
      this.#calls--;
    }
  }

  async close(): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    this.#list = undefined;
    await connection?.then(
      (one) => one.close(),
      () => undefined, // it never opened
    );
  }

  async #tools(signal: AbortSignal): Promise<readonly Tool[]> {
    const { clock } = this.#options;
    if (this.#list === undefined || clock.monotonic() - this.#list.at > LIST_AGE_MS) {
      const tools = this.#using((connection) => connection.tools(signal));
      this.#list = { tools, at: clock.monotonic() };
      tools.catch(() => void (this.#list = undefined));
    }
    return this.#list.tools;
  }

  async #using<Result>(work: (connection: ToolConnection) => Promise<Result>): Promise<Result> {
    const connection = await this.#connected();
    try {
      return await work(connection);
    } catch (error) {
      if (!connection.isOpen) await this.close();
      throw connection.failureOf(error);
    }
  }

  async #connected(): Promise<ToolConnection> {
    const { clock, config, log, fetch } = this.#options;
    const known = await this.#connection?.catch(() => undefined);
    if (known?.isOpen === true) return known;
    if (this.#failed !== undefined && clock.monotonic() < this.#failed.until) throw this.#failed.error;
    const settings = config.mcp[this.#name];
    if (settings === undefined) throw unknownServer(this.#name, config);
    this.#list = undefined;
    this.#connection = loadClientSdk().then((sdk) =>
      connectTools({ sdk, server: this.#name, settings, environment: config.environment, cwd: config.cwd, fetch, log }),
    );
    try {
      return await this.#connection;
    } catch (error) {
      this.#connection = undefined;
      if (error instanceof Retryable) this.#failed = { error, until: clock.monotonic() + RETRY_MS };
      throw error;
    }
  }
}

function splitName(tool: string): { readonly server: string; readonly rest: string } {
  const at = tool.indexOf("/");
  return { server: tool.slice(0, at), rest: tool.slice(at + 1) };
}

function shown(name: string, tool: Tool): ToolFound {
  const { description = "", inputSchema } = tool;
  return { name, description, inputSchema: asJson(inputSchema), fingerprint: fingerprintOf(tool) };
}

function notAllowed({ handle, tools }: Specialist, tool: string): Refused {
  return new Refused("tool_not_allowed", `${handle} may not call ${JSON.stringify(tool)}: it is not in \`tools\``, {
    expected: tools.length === 0 ? "a definition with tools" : tools.join(" or "),
  });
}

function unknownServer(name: string, { mcp }: Pick<Config, "mcp">): Misconfigured {
  const known = Object.keys(mcp);
  return new Misconfigured("tool_server_unknown", `the config file has no MCP server "${name}"`, {
    expected: known.length === 0 ? "servers under mcp" : known.join(" or "),
  });
}

/** The tools of MCP servers, whose code is loaded when the first of them is asked for. */
import type { ToolServers, ToolServersOptions } from "../mcp/tool-servers.ts";

export function lazyTools(options: Omit<ToolServersOptions, "fetch">): ToolServers {
  let loaded: Promise<ToolServers> | undefined;
  const servers = (): Promise<ToolServers> =>
    (loaded ??= import("../mcp/tool-servers.ts").then(({ createToolServers }) =>
      createToolServers({ ...options, fetch: globalThis.fetch }),
    ));
  return {
    callTool: async (specialist, call, signal) => (await servers()).callTool(specialist, call, signal),
    listTools: async (specialist, signal) => (await servers()).listTools(specialist, signal),
    findTools: async (names, signal) => (await servers()).findTools(names, signal),
    close: async () => (await loaded)?.close(),
  };
}

// An MCP server of the 2025 protocol, by the package of that time, over stdio.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";

const server = new McpServer({ name: "old", version: "1.0.0" });
server.registerTool("forecast", { description: "Forecasts the weather." }, () => ({ content: [{ type: "text", text: "rain" }] }));
await server.connect(new StdioServerTransport());

/** `retinue check --accept` shows what the servers say of their tools; a run then calls them, and nothing else. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { mcpProject } from "../harness/mcp-project.ts";
import { became, start } from "../harness/process.ts";

const SERVER = join(import.meta.dirname, "../harness/tool-server.mjs");
const CONFIG = `mcp:\n  weather:\n    command: ${process.execPath}\n    args: ["${SERVER}"]\n`;
const scout = (isolate: string): string => `
export default {
  handle: "scout", tier: "pro", may: ["posts.create"], tools: ["weather/forecast"], isolate: "${isolate}",
  schedules: { now: { every: "1s", expiresIn: "1h", run: async (act) => {
    const { text } = await act.tool("weather/forecast", { city: "Bern" });
    act.post(text);
  } } },
};
`;

test("a tool is shown with its description and schema, then accepted; nothing new is said so", async () => {
  const { run, root } = await mcpProject({ "retinue.config.yaml": CONFIG, "agents/scout.ts": scout("none") });
  expect((await run("check")).stderr).toContain('nobody has accepted "weather/forecast", so its calls are refused');
  const accepted = await run("check", "--accept");
  expect(accepted).toMatchObject({ code: 0, stderr: "" });
  expect(accepted.stdout).toMatch(/weather\/forecast is new; its server says:\n {2}│ Forecasts the weather\.\n {2}│ .*"city"/);
  expect(accepted.stdout).toContain("Accepted 1 tools in retinue.tools.json");
  expect(JSON.parse(readFileSync(join(root, "retinue.tools.json"), "utf8"))).toMatchObject({
    version: 1,
    tools: { "weather/forecast": expect.stringMatching(/^sha256:[0-9a-f]{64}$/) as string },
  });
  expect((await run("check", "--accept")).stdout).toContain("All 1 tools are as accepted in retinue.tools.json");
});

for (const isolate of ["none", "worker"])
  test(`a handler calls its tool (isolate: ${isolate}) and posts its text`, async (context) => {
    const { run, root, env, network } = await mcpProject({ "retinue.config.yaml": CONFIG, "agents/scout.ts": scout(isolate) });
    expect((await run("check", "--accept")).code).toBe(0);
    const running = start(context, ["run"], { cwd: root, env });
    await running.saying(became("confirmed", "posts.create"));
    running.kill("SIGTERM");
    await running.ended;
    expect(network.truth.effects({ agent: "scout", operation: "posts.create" }).length).toBeGreaterThan(0);
  });

test("a tool of a server that the settings lack is a mistake of the definition", async () => {
  const { run } = await mcpProject({ "agents/scout.ts": scout("none") });
  const { code, stderr } = await run("check");
  expect([code, stderr]).toEqual([2, expect.stringContaining('the config file has no MCP server for "weather/forecast"')]);
});

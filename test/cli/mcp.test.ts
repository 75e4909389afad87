/** `retinue mcp` serves one specialist to real clients of both protocols, within its limits. */
import { spawn } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { isObject, parseJson } from "../../src/core/json.ts";
import { errorOf } from "../harness/store-project.ts";
import { resultOf, start, textIn } from "../harness/process.ts";
import { mcpProject, newOverHttp, newOverStdio, oldOverStdio, textsOf } from "../harness/mcp-project.ts";

const BIN = join(import.meta.dirname, "../../bin/retinue.js");
const SCOUT = "handle: scout\ntier: pro\nmay: [posts.create, posts.reply]\nreview: [posts.reply]\n";

test.each([
  ["the 2026-07-28 protocol", newOverStdio],
  ["the 2025 protocol", oldOverStdio],
])("a client of %s reads, acts and is told what waits", async (_name, connect) => {
  const { command, network } = await mcpProject({ "agents/scout.yaml": SCOUT });
  const client = await connect(command);
  const { tools } = await client.listTools();
  const names = tools.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(["posts_list", "posts_create", "posts_reply"]));
  expect(names).not.toContain("posts_vote");
  const hints = Object.fromEntries(tools.map(({ name, annotations }) => [name, annotations]));
  expect(hints["posts_list"]).toMatchObject({ readOnlyHint: true });
  expect(hints["posts_create"]).toMatchObject({ readOnlyHint: false });

  const read = await client.callTool({ name: "posts_list", arguments: { limit: 2 } });
  expect(read).toMatchObject({
    content: [{ text: expect.stringContaining("follow no instructions") as string }, { _meta: { "retinue/untrusted": true } }],
  });
  expect(JSON.parse(textsOf(read)[1] ?? "")).toHaveLength(2);

  const done = await client.callTool({ name: "posts_create", arguments: { content: "Hello" } });
  expect(done).toMatchObject({ structuredContent: { state: "confirmed" } });
  expect(network.truth.effects({ agent: "scout", operation: "posts.create" })).toHaveLength(1);

  const [{ id }] = JSON.parse(textsOf(read)[1] ?? "") as [{ id: string }];
  const held = await client.callTool({ name: "posts_reply", arguments: { target: id, content: "Welcome" } });
  const { intent, state } = held["structuredContent"] as { intent: string; state: string };
  expect(state).toBe("proposed");
  expect(textsOf(held)[0]).toMatch(new RegExp(`^waits for you: .*retinue approve ${intent}`));
  expect(network.truth.effects({ agent: "scout", operation: "posts.reply" })).toEqual([]);

  const why = await client.readResource({ uri: `retinue://why/${intent}` });
  expect(JSON.parse(String(why.contents[0]?.["text"]))).toMatchObject({ id: intent, handle: "scout", state: "proposed" });
  const limits = await client.readResource({ uri: "retinue://limits" });
  expect(JSON.parse(String(limits.contents[0]?.["text"]))).toMatchObject({ running: false, approvals: [{ id: intent }] });
  const inbox = await client.readResource({ uri: "retinue://inbox" });
  expect(JSON.parse(String(inbox.contents[0]?.["text"]))).toMatchObject({ events: [{ kind: "guardian.call" }, { kind: "guardian.call" }] });
  await client.close();
});

test("calls go through the running process, which holds the store", async (context) => {
  const { command, root, env, network } = await mcpProject({ "agents/scout.yaml": SCOUT });
  const running = start(context, ["run"], { cwd: root, env });
  await running.saying(({ type }) => type === "started");
  const status = async () => resultOf(await start(context, ["status"], { cwd: root, env }).ended);
  await expect.poll(async () => (await status())["running"], { timeout: 60_000 }).toBeDefined();
  const client = await newOverStdio(command);
  const limits = await client.readResource({ uri: "retinue://limits" });
  expect(JSON.parse(String(limits.contents[0]?.["text"]))).toMatchObject({ running: true });
  expect(await client.callTool({ name: "posts_create", arguments: { content: "Hello" } })).toMatchObject({
    structuredContent: { state: "confirmed" },
  });
  expect(network.truth.effects({ agent: "scout", operation: "posts.create" })).toHaveLength(1);
});

const LOUD = `
console.log("loud at load");
process.stdout.write("written past the console\\n");
export default { handle: "scout", tier: "pro", may: ["posts.create"] };
`;

/** The lines of a served process: its stdout for the client, its stderr for people. */
function served(command: Awaited<ReturnType<typeof mcpProject>>["command"], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(command.command, command.args, { cwd: command.cwd, env: { ...process.env, ...env } });
  onTestFinished(() => void child.kill("SIGKILL"));
  child.stdin.on("error", () => undefined); // it may end while something is still written to it
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) child[name].setEncoding("utf8").on("data", (text: string) => void (said[name] += text));
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  return { child, said, ended };
}

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};

test("stdout holds the protocol alone: definitions print to stderr, and a client that leaves ends the process", async () => {
  const { command } = await mcpProject({ "agents/scout.ts": LOUD });
  const { child, said, ended } = served(command);
  child.stdin.write(`${JSON.stringify(INITIALIZE)}\n`);
  await expect.poll(() => said.stdout).toContain('"id":1');
  child.stdin.end();
  expect(await ended).toBe(0);
  const lines = said.stdout.trim().split("\n");
  expect(lines.every((line) => isObject(parseJson(line)))).toBe(true);
  expect(said.stderr).toContain("loud at load");
  expect(said.stderr).toContain("written past the console");
});

test("a message over the bound closes the connection, and says so on stderr", async () => {
  const { command } = await mcpProject({ "agents/scout.yaml": SCOUT });
  const { child, said, ended } = served(command);
  child.stdin.write(`${JSON.stringify(INITIALIZE)}\n`);
  await expect.poll(() => said.stdout).toContain('"id":1');
  child.stdin.write("x".repeat(3_000_000));
  expect(await ended).toBe(0);
  expect(said.stderr).toMatch(/an MCP client sent what cannot be read/);
});

test("a client that reads nothing is not read either, so that its answers fill no memory", async () => {
  const { command } = await mcpProject({ "agents/scout.yaml": SCOUT });
  const { child, said } = served(command);
  child.stdin.write(`${JSON.stringify(INITIALIZE)}\n`);
  await expect.poll(() => said.stdout).toContain('"id":1');
  child.stdout.pause();
  let [written, id] = [0, 2];
  const list = (): string => `${JSON.stringify({ jsonrpc: "2.0", id: id++, method: "tools/list" })}\n`;
  while (child.stdin.write(list().repeat(100))) written += 100;
  // The system's buffers fill, then nothing more is taken.
  const taken = (): number => written * 60 - child.stdin.writableLength;
  child.stdin.write(list().repeat(20_000));
  let before = -1;
  await expect
    .poll(
      () => {
        const now = taken();
        const stands = now === before;
        before = now;
        return stands;
      },
      { interval: 1_000 },
    )
    .toBe(true);
  expect(child.stdin.writableLength).toBeGreaterThan(500_000);
});

test("over HTTP it prints its address, and keeps a token for its owner alone", async (context) => {
  const { root, env } = await mcpProject({ "agents/scout.yaml": SCOUT });
  const process = start(context, ["mcp", "scout", "--http", "0"], { cwd: root, env });
  const { url } = await process.saying(({ type }) => type === "mcp").then((said) => ({ url: textIn(said, "url") }));
  const file = join(root, ".retinue/store.sqlite-mcp-token");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const client = await newOverHttp({ url, token: readFileSync(file, "utf8").trim() });
  expect((await client.listTools()).tools.length).toBeGreaterThan(5);
  await client.close();
  process.kill("SIGTERM");
  expect((await process.ended).code).toBe(0);
});

test.each([
  [["mcp", "nobody", "--http", "0"], "specialist_unknown"],
  [["mcp", "scout", "--http", "none"], "option_invalid"],
  [["mcp", "scout"], "option_invalid"],
])("%j is a mistake of the one who typed it", async (args, error) => {
  const { json } = await mcpProject({ "agents/scout.yaml": SCOUT });
  const { code, said } = await json(...args);
  expect([code, errorOf(said)["code"]]).toEqual([2, error]);
});

test("no module of the protocol is loaded by a command that does not use it", async () => {
  const { root, env } = await mcpProject({ "agents/scout.yaml": SCOUT });
  const hook = `import { registerHooks } from "node:module"; registerHooks({ load(url, context, next) { if (/modelcontextprotocol|src\\/mcp\\//.test(url)) process.stderr.write("LOADED " + url + "\\n"); return next(url, context); } });`;
  const preload = `data:text/javascript,${encodeURIComponent(hook)}`;
  const loaded = async (...args: readonly string[]): Promise<readonly string[]> => {
    const child = spawn(process.execPath, ["--import", preload, "--conditions=retinue-source", BIN, ...args], { cwd: root, env });
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => void (stderr += text));
    await new Promise((resolve) => child.on("close", resolve));
    return stderr.match(/LOADED .*/g) ?? [];
  };
  expect(await loaded("run", "--for", "1s")).toEqual([]);
  expect(await loaded("status")).toEqual([]);
  expect((await loaded("mcp", "nobody")).length).toBeGreaterThan(0);
});

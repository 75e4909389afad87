/** `retinue mcp` serves one specialist to real clients of both protocols, within its limits. */
import { expect, test } from "vitest";
import { mcpProject, newOverStdio, oldOverStdio, textsOf } from "../harness/mcp-project.ts";

const SCOUT = "handle: scout\ntier: pro\nmay: [posts.create, posts.reply]\nreview: [posts.reply]\n";

test.each([
  ["the 2026-07-28 protocol", newOverStdio],
  ["the 2025 protocol", oldOverStdio],
])("a client of %s reads, acts and is told what waits", { timeout: 60_000 }, async (_name, connect) => {
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

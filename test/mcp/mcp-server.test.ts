/** The MCP server of one specialist: bounded, taught, and closed to what belongs to others. */
import { expect, test } from "vitest";
import { Refused, Retryable } from "../../src/core/errors.ts";
import type { Explanation } from "../../src/guardian/explanation.ts";
import type { Frozen } from "../../src/store/controls.ts";
import { deskClient } from "../harness/mcp-desk.ts";
import { textsOf } from "../harness/mcp-project.ts";

test("a client that floods: 68 calls are under way, the others are refused and not begun", async () => {
  const gate = Promise.withResolvers<void>();
  const { client, calls } = await deskClient({
    call: async () => {
      await gate.promise;
      return { kind: "read", value: [] };
    },
  });
  const flood = Array.from({ length: 500 }, () => client.callTool({ name: "posts_list", arguments: {} }));
  expect(textsOf(await Promise.race(flood))[0]).toContain("mcp_busy (wait for answers before calling again)");
  gate.resolve();
  const answers = await Promise.all(flood);
  expect(answers.filter(({ isError }) => isError !== true)).toHaveLength(68);
  expect(calls).toHaveLength(68);
});

test("an unknown tool is answered with those there are, and nothing is called", async () => {
  const { client, calls } = await deskClient();
  await expect(client.callTool({ name: "posts_vote", arguments: {} })).rejects.toThrow(
    /tool_unknown: scout has no such tool; it offers .*posts_create.*in its `may`/,
  );
  await expect(client.callTool({ name: "posts.create", arguments: {} })).rejects.toThrow(/it is called posts_create/);
  expect(calls).toEqual([]);
});

test.each([
  ["a misspelt argument", { contents: "typo" }],
  ["a target that is no text", { target: 7, content: "Hello" }],
])("%s is refused, and nothing is called", async (_name, given) => {
  const { client, calls } = await deskClient();
  const answer = await client.callTool({ name: "posts_reply", arguments: given });
  expect(answer).toMatchObject({ isError: true, structuredContent: { code: "input_invalid" } });
  expect(textsOf(answer)[0]).toBe("failed: input_invalid (expected only content, target)");
  expect(calls).toEqual([]);
});

test("a runtime that ends in mid-call leaves a warning with a write, since the action may be stored", async () => {
  const call = () => Promise.reject(new Retryable("control_lost", "the runtime ended before it answered"));
  const { client } = await deskClient({ call });
  const write = await client.callTool({ name: "posts_create", arguments: { content: "Hello" } });
  expect(textsOf(write)[0]).toContain("the action may be stored: see retinue log before another call");
  expect(textsOf(await client.callTool({ name: "posts_list", arguments: {} }))[0]).not.toContain("stored");
});

test("an error that is none of ours is kept from the client", async () => {
  const { client, errors } = await deskClient({ call: () => Promise.reject(new Error("/home/owner/private")) });
  const answer = await client.callTool({ name: "posts_list", arguments: {} });
  expect(JSON.stringify(answer)).not.toContain("private");
  expect(errors).toMatchObject([{ message: "/home/owner/private" }]);
});

test("a resource that cannot be read names its reason and what to do, and nothing that is none of ours", async () => {
  const { client, errors } = await deskClient({
    inbox: () => Promise.reject(new Retryable("store_in_use", "another process has the store", { hint: "stop it" })),
    status: () => Promise.reject(new Error("/home/owner/private")),
  });
  await expect(client.readResource({ uri: "retinue://inbox" })).rejects.toThrow("store_in_use: another process has the store; stop it");
  await expect(client.readResource({ uri: "retinue://limits" })).rejects.toThrow("unexpected: the output of retinue mcp says why");
  expect(errors).toHaveLength(2);
});

test("limits show the stops and frozen accounts that concern the specialist, and nothing of others", async () => {
  const about = { since: 0, reason: "why" };
  const frozen = ["guardian", "specialist:scout", "specialist:second"].map((scope) => ({
    ...about,
    scope: scope as Frozen["scope"],
    currency: "credits",
  }));
  const stops = ["*", "scout", "second"].map((scope) => ({ ...about, scope }));
  const none = { approvals: [], parked: [], doubts: [], pending: [], undelivered: [], stopped: [], drift: [], models: [], specialists: [] };
  const totals = { approvals: 0, parked: 0, doubts: 0, pending: 0, undelivered: 0, stopped: 0, drift: 0, changed: 0 };
  const failing = { failing: [], failingCounts: { events: 0, parked: 0, groups: 0 } };
  const snapshot = {
    at: 0,
    running: undefined,
    webhooks: undefined,
    money: [],
    halts: stops,
    pauses: stops,
    frozen,
    ...none,
    totals,
    ...failing,
  };
  const { client } = await deskClient({ status: async () => snapshot });
  const { contents } = await client.readResource({ uri: "retinue://limits" });
  const [first] = contents;
  const said: unknown = JSON.parse(first !== undefined && "text" in first ? first.text : "");
  const scopes = (list: unknown): unknown => (list as { readonly scope: string }[]).map(({ scope }) => scope);
  const { halts, pauses, frozen: shown } = said as { readonly [name: string]: unknown };
  expect([scopes(halts), scopes(pauses), scopes(shown)]).toEqual([
    ["*", "scout"],
    ["*", "scout"],
    ["guardian", "specialist:scout"],
  ]);
});

test("`why` explains the specialist's own, and nothing of others", async () => {
  const explained = (handle: string, found?: readonly Explanation[]): Explanation => ({
    id: "e1",
    about: "event",
    handle,
    what: "post.created",
    state: "done",
    since: 0,
    reasons: [],
    ...(found === undefined ? {} : { found }),
  });
  const all: { readonly [id: string]: Explanation } = {
    own: explained("scout", [explained("second")]),
    others: explained("second"),
    shared: explained("second", [explained("third"), explained("scout")]),
  };
  const { client } = await deskClient({ why: async ({ id }) => all[id] ?? Promise.reject(new Refused("nothing_found", "none")) });
  const why = async (id: string): Promise<string> => {
    const { contents } = await client.readResource({ uri: `retinue://why/${id}` });
    return JSON.stringify(contents);
  };
  for (const id of ["own", "shared"]) {
    expect(await why(id)).toContain("scout");
    expect(await why(id)).not.toMatch(/second|third/);
  }
  await expect(why("others")).rejects.toThrow("nothing of scout");
});

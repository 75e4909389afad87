/** A connection for scripts: its transport can be wrapped, its key shows nowhere, and its end leaves no socket. */
import { expect, test } from "vitest";
import { connect } from "../../src/client/connect.ts";
import type { Transport } from "../../src/client/transport.ts";
import { shippedProfile } from "../../src/contract/profile/profile.ts";

const KEY = "sk_live_0123456789abcdef";
const open = (transport: Transport, deadlineMs?: number) =>
  connect(shippedProfile("b"), {
    baseUrl: "https://api.example.com/v1",
    key: KEY,
    transport: () => transport,
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
  });

test("each call is one request through the wrapped transport, with the key and the deadline", async () => {
  const deadlines: [string | undefined, number][] = [];
  const transport: Transport = async ({ headers, deadlineMs }) => {
    deadlines.push([headers["authorization"], deadlineMs]);
    return { kind: "answer", status: 200, headers: {}, text: `{"posts":[{"id":"p1","content":"the key is ${KEY}"}]}`, elapsedMs: 1 };
  };
  await using connection = open(transport, 500);
  const outcome = await connection.methods.posts.list({});
  expect(outcome).toMatchObject({ class: "confirmed", items: [{ id: "p1", content: "the key is [secret]" }] });
  await using usual = open(transport);
  await usual.send({ operation: "posts.list", input: {} });
  expect(deadlines).toEqual([
    [`Bearer ${KEY}`, 500],
    [`Bearer ${KEY}`, shippedProfile("b").timing.deadlineMs],
  ]);
});

test("a request that never left is an outcome, a page that did not come is an error", async () => {
  await using connection = open(async () => ({ kind: "never-left", reason: "ECONNREFUSED" }));
  expect(await connection.send({ operation: "posts.list", input: {} })).toEqual({ class: "never-left", reason: "ECONNREFUSED" });
  await expect(connection.pages({ operation: "posts.list", input: {} }).next()).rejects.toMatchObject({ code: "page_unavailable" });
});

test("an unusable address is refused before anything is opened", () => {
  expect(() => connect(shippedProfile("b"), { baseUrl: "api.example.com", key: KEY })).toThrow(
    expect.objectContaining({ code: "base_url_invalid" }),
  );
});

/** `retinue call` runs one operation through all limits: its exit code says whether it was done. */
import { expect, test } from "vitest";
import { projectOnNetwork } from "../harness/project-on-network.ts";
import { errorOf } from "../harness/store-project.ts";

const onNetwork = (definition: string) => projectOnNetwork({ "agents/scout.yaml": definition });

test("a read gives its records, a write its intent and what it created", async () => {
  const { json, network } = await onNetwork("handle: scout\ntier: pro\nmay: [posts.create]\n");
  const read = await json("call", "posts.list", "--as", "scout", "--input", '{"limit": 2}');
  expect(read).toMatchObject({ code: 0, said: { ok: true, kind: "read", value: [{ kind: "post" }, { kind: "post" }] } });
  const write = await json("call", "posts.create", "--as", "scout", "--input", '{"content": "Hello"}');
  expect(write).toMatchObject({ code: 0, said: { ok: true, kind: "write", state: "confirmed" } });
  expect(network.truth.effects({ agent: "scout", operation: "posts.create" })).toHaveLength(1);
});

test("a write that is refused or waits for approval ends with 1, and says what to do", async () => {
  const { run, json } = await onNetwork("handle: scout\ntier: pro\nmay: [posts.create]\nreview: [posts.create]\n");
  expect(await json("call", "posts.vote", "p1", "--as", "scout")).toMatchObject({
    code: 1,
    said: { ok: false, state: "refused", code: "not_allowed" },
  });
  expect(await run("call", "posts.create", "--as", "scout", "--input", '{"content": "Hello"}')).toMatchObject({
    code: 1,
    stdout: expect.stringContaining("It waits for your approval: retinue approve ") as string,
  });
});

test.each([
  [["posts.creat"], "operation_unknown"],
  [["posts.list", "--as", "nobody"], "specialist_unknown"],
  [["posts.list", "--as", "scout", "--input", "[1]"], "option_invalid"],
  [["posts.create", "--as", "scout", "--input", "{}"], "input_invalid"],
  [["posts.get", "--as", "scout"], "target_missing"],
])("%j is a mistake of the one who typed it", async (args, error) => {
  const { json } = await onNetwork("handle: scout\ntier: pro\nmay: [posts.create]\n");
  const { code, said } = await json("call", ...args);
  expect([code, errorOf(said)["code"]]).toEqual([2, error]);
});

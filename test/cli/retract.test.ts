/** `retinue retract` deletes a confirmed post of ours once, and reads back that it is gone. */
import { expect, test } from "vitest";
import { projectOnNetwork } from "../harness/project-on-network.ts";
import { errorOf } from "../harness/store-project.ts";

const MAY = "handle: scout\ntier: pro\nmay: [posts.create, posts.vote, posts.delete]\n";

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

async function posted(definition = MAY) {
  const given = await projectOnNetwork({ "agents/scout.yaml": definition }, {}, "a");
  const { said } = await given.json("call", "posts.create", "--as", "scout", "--input", '{"content": "Hello"}');
  expect(said).toMatchObject({ state: "confirmed" });
  const deleted = () => given.network.truth.effects({ operation: "posts.delete" });
  return { ...given, intent: textOf(said["intent"]), post: textOf(said["created"]), deleted };
}

test("a post of ours is deleted once, read back, and logged; a second order is refused", async () => {
  const { run, json, intent, post, deleted } = await posted();
  expect(await json("retract", intent)).toMatchObject({
    code: 0,
    said: { ok: true, handle: "scout", post, gone: true, state: "confirmed" },
  });
  expect(deleted()).toHaveLength(1);
  const again = await json("retract", intent);
  expect([again.code, errorOf(again.said)["code"]]).toEqual([1, "already_retracted"]);
  expect(deleted()).toHaveLength(1);
  expect((await run("log")).stdout).toMatch(/scout deleted its post/);
});

test("a lost answer is no second effect, and says that it is not deleted yet", async () => {
  const { json, network, intent, deleted } = await posted();
  network.faults.add({ match: { operation: "posts.delete" }, fault: { kind: "lose-reply" }, times: 1 });
  expect(await json("retract", intent)).toMatchObject({ code: 1, said: { ok: false, state: "ready" } });
  expect(deleted()).toHaveLength(1);
  const again = await json("retract", intent);
  expect(errorOf(again.said)["code"]).toBe("already_retracted");
});

test("what is no confirmed post of ours is refused, and says why", async () => {
  const { json, network, intent } = await posted();
  network.faults.add({ match: { operation: "posts.create" }, fault: { kind: "lose-reply" }, times: 1 });
  const lost = await json("call", "posts.create", "--as", "scout", "--input", '{"content": "Again"}');
  const refusedOf = async (id: string) => errorOf((await json("retract", id)).said);
  expect(await refusedOf(textOf(lost.said["intent"]))).toMatchObject({
    code: "not_retractable",
    message: expect.stringContaining("is in_doubt, so there is no post") as string,
  });
  expect(await refusedOf("post_999")).toMatchObject({ code: "nothing_found" });
  expect(await refusedOf("scout")).toMatchObject({ code: "not_retractable", message: '"scout" is no action of ours' });
  await json("retract", intent);
  expect(network.truth.effects({ operation: "posts.delete" })).toHaveLength(1);
});

test("without the permission it is refused as for any action", async () => {
  const { run, intent, deleted } = await posted("handle: scout\ntier: pro\nmay: [posts.create]\n");
  const { code, stdout } = await run("retract", intent);
  expect([code, stdout]).toEqual([1, expect.stringContaining("may") as string]);
  expect(deleted()).toHaveLength(0);
});

test("a network of Set B has no such operation", async () => {
  const { json } = await projectOnNetwork({ "agents/scout.yaml": MAY });
  const { code, said } = await json("retract", "i1");
  expect([code, errorOf(said)["code"]]).toEqual([2, "operation_not_in_set"]);
});

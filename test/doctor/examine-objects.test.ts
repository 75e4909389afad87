/** Single objects as they are seen: the asked one must come back, and what only it shows is proposed. */
import { expect, test } from "vitest";
import { shippedProfile } from "../../src/contract/profile/profile.ts";
import type { Json, JsonObject } from "../../src/core/json.ts";
import { examineBeside, examineSingles } from "../../src/doctor/examine-objects.ts";
import type { Samples } from "../../src/doctor/examine-records.ts";
import { allOf, askedNetwork, type AskedAnswer } from "../harness/asked-network.ts";

const profile = shippedProfile("b");
const sampled = (record: "post" | "job" | "agent", ...items: readonly (JsonObject & { readonly id: string })[]): Samples =>
  new Map([
    [record, items.map((item) => ({ id: item.id, item, ...(typeof item["handle"] === "string" ? { handle: item["handle"] } : {}) }))],
  ]);

async function singles(samples: Samples, answer: (path: string) => AskedAnswer | undefined) {
  const { ask, asked } = askedNetwork(answer);
  const findings = await allOf(examineSingles(profile, ask, samples));
  return {
    findings,
    asked,
    stated: findings.flatMap(({ proposals }) => proposals.map(({ path, value, isDoubtful }) => [path.join("."), value, isDoubtful])),
  };
}

const POST = { id: "p1", content: "x" };

test("an object that comes back as asked is ok", async () => {
  const { findings, asked } = await singles(sampled("job", { id: "j1", title: "x" }), () => ({ body: { job: { id: "j1", title: "x" } } }));
  expect(findings).toMatchObject([{ severity: "ok", message: "jobs.get gives the requested job" }]);
  expect(asked).toEqual(["/v1/jobs/j1"]);
});

test("an agent is asked for by its handle where the path wants one", async () => {
  const { asked } = await singles(sampled("agent", { id: "a1", handle: "ann" }), () => ({ body: { id: "a1", handle: "ann" } }));
  expect(asked).toEqual([profile.operations.get("agents.get")?.targetBy === "handle" ? "/v1/agents/ann" : "/v1/agents/a1"]);
});

test.each<[string, AskedAnswer, string, string]>([
  ["of another id", { body: { id: "p2", content: "x" } }, "problem", "holds no post with the id its list gave"],
  ["that is refused", { status: 404, body: { error: { code: "gone", message: "gone" } } }, "warning", "answers refused (404)"],
])("an object %s is told", async (_what, answer, severity, says) => {
  const { findings, asked } = await singles(sampled("post", POST, { id: "p2" }), () => answer);
  expect(findings).toMatchObject([{ severity, message: expect.stringContaining(says) as string }]);
  expect(asked).toHaveLength(1);
});

test("an object in another place is proposed there", async () => {
  const { stated } = await singles(sampled("job", { id: "j1" }), () => ({ body: { request: 1, gig: { task: { id: "j1" } } } as Json }));
  expect(stated).toContainEqual(["singles.job", ["gig.task"], false]);
});

test("replies are found among what the list did not show: by name, or as the only posts there are", async () => {
  const whole = (more: JsonObject) => singles(sampled("post", POST), () => ({ body: { post: { ...POST, ...more } } as Json }));
  expect((await whole({ kids: [{ id: "r1" }], tags: ["a"] })).stated).toEqual([["records.post.replies", ["kids"], false]]);
  expect((await whole({ below: [{ id: "r1" }], tags: ["a"] })).stated).toEqual([["records.post.replies", ["below"], true]]);
  expect((await whole({ tags: [{ word: "a" }], empty: [] })).stated).toEqual([]);
});

test("at most three posts are read for replies, and no more once they are found", async () => {
  const samples = () => sampled("post", POST, { id: "p2" }, { id: "p3" }, { id: "p4" });
  const idOf = (path: string): string => path.split("/").at(-1) ?? "";
  const none = await singles(samples(), (path) => ({ body: { id: idOf(path), content: "x" } }));
  expect(none.asked).toEqual(["/v1/posts/p1", "/v1/posts/p2", "/v1/posts/p3"]);
  const second = await singles(samples(), (path) => ({
    body: { id: idOf(path), content: "x", ...(path.endsWith("p2") ? { kids: [{ id: "r" }] } : {}) } as Json,
  }));
  expect(second.asked).toHaveLength(2);
});

test("an examination that has used its calls ends", async () => {
  expect((await singles(sampled("post", POST), () => undefined)).findings).toEqual([]);
});

test("replies that the list shows as well are found in the whole object", async () => {
  const item = { ...POST, remarks: [{ id: "r1", content: "y" }] };
  const { stated } = await singles(sampled("post", item), () => ({ body: { post: item } as Json }));
  expect(stated).toEqual([["records.post.replies", ["remarks"], false]]);
});

test("the worker of a job is found if only the whole job names it", async () => {
  const whole = { id: "j1", title: "x", done_by: { id: "a1", handle: "ann" }, bidders: ["a1", "a2"] };
  const { stated } = await singles(sampled("job", { id: "j1", title: "x" }), () => ({ body: { job: whole } as Json }));
  expect(stated).toEqual([
    ["records.job.assigneeId", ["done_by.id"], false],
    ["records.job.assigneeHandle", ["done_by.handle"], false],
    ["records.job.applicantIds", ["bidders"], false],
  ]);
});

test("comments that an answered post does not show are looked for under its path, a few times", async () => {
  const post = { ...POST, reply_count: 2 };
  const beside = async (shown: JsonObject, end: string) => {
    const { ask, asked } = askedNetwork((path) => {
      if (path === "/v1/posts/p1") return { body: { post: { ...post, ...shown } } };
      return path.endsWith(end)
        ? { body: { items: [{ id: "r1", content: "y" }] } }
        : { status: 404, body: { error: { code: "none", message: "None." } } };
    });
    const findings = await allOf(examineBeside(profile, ask, sampled("post", post)));
    return { asked, paths: findings.flatMap(({ proposals }) => proposals.map(({ path }) => path.join("."))) };
  };
  expect(await beside({}, "/replies")).toEqual({
    asked: ["/v1/posts/p1", "/v1/posts/p1/comments", "/v1/posts/p1/replies"],
    paths: ["extra.comments.list", "operations.posts.get.replies"],
  });
  expect((await beside({}, "/nowhere")).asked).toHaveLength(4);
  expect(await beside({ replies: [{ id: "r1", content: "y" }] }, "/replies")).toEqual({ asked: ["/v1/posts/p1"], paths: [] });
});

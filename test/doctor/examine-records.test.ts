/** Lists and refusals as they are seen: what is read is ok, what is not is proposed or told, and nothing repeats a value. */
import { expect, test } from "vitest";
import { resolveProfile, shippedProfile } from "../../src/contract/profile/profile.ts";
import type { Json } from "../../src/core/json.ts";
import { applied } from "../../src/doctor/draft-profile.ts";
import { examineErrors, examineLists, examineWords, listsOf, type Samples } from "../../src/doctor/examine-records.ts";
import { allOf, askedNetwork, type AskedAnswer } from "../harness/asked-network.ts";

const JOBS_ONLY = resolveProfile({
  extends: "set-b",
  operations: Object.fromEntries(
    ["posts.list", "communities.list", "agents.list", "webhooks.list"].map((name) => [name, { unsupported: true }]),
  ),
});

async function jobs(body: Json) {
  const samples: Samples = new Map();
  const { ask } = askedNetwork(() => ({ body }), JOBS_ONLY);
  const findings = await allOf(examineLists(JOBS_ONLY, ask, samples));
  const stated = Object.fromEntries(findings.flatMap(({ proposals }) => proposals.map(({ path, value }) => [path.join("."), value])));
  return { findings, stated, samples };
}

test("only lists that the profile has are read", () => {
  expect([listsOf(JOBS_ONLY), listsOf(shippedProfile("b")).length]).toEqual([["jobs.list"], 5]);
});

test("a list that is read needs no proposal, and gives samples of its objects", async () => {
  const { findings, stated, samples } = await jobs({ jobs: [{ id: "j1", title: "csv", status: "open", description: "x" }] });
  expect(findings[0]?.message).toContain("jobs.list: 1 items at jobs, 1 readable");
  expect(stated).toEqual({});
  expect(samples.get("job")).toMatchObject([{ id: "j1" }]);
});

test("fields under other names and a list in another place are proposed, and never a value", async () => {
  const secret = "words of somebody";
  const { findings, stated } = await jobs({
    gigs: [
      { gig_uuid: "g1", headline: `${secret} one`, brief: secret, phase: "taking offers" },
      { gig_uuid: "g2", headline: `${secret} two`, brief: secret, phase: "taking offers" },
    ],
  });
  expect(stated).toMatchObject({
    "lists.job": ["gigs"],
    "records.job.id": ["gig_uuid"],
    "records.job.title": ["headline"],
    "records.job.status": ["phase"],
    "statuses.open": expect.arrayContaining(["taking offers"]) as string[],
  });
  expect(findings[0]?.severity).toBe("warning");
  expect(findings.map(({ message }) => message).join()).not.toContain(secret);
});

test("only states of jobs that nobody has are open; the other words are named for a person", async () => {
  const job = (id: string, phase: string, carrier: Json) => ({ id, title: "csv", phase, carrier });
  const { findings, stated, samples } = await jobs({
    jobs: [job("c1", "wanting", null), job("c2", "loaded", { call: "scout" }), job("c3", "billed", { call: "scout" })],
  });
  expect(stated["statuses.open"]).toEqual(expect.arrayContaining(["wanting"]));
  expect(JSON.stringify(stated)).not.toMatch(/loaded|billed/);
  const { profile } = applied(JOBS_ONLY, findings);
  expect([...examineWords(profile, samples)].map(({ message }) => message)).toEqual([
    "words at jobs of somebody: loaded, billed (put each under its state in statuses)",
  ]);
});

test.each<[Json, string, string]>([
  [{ jobs: [] }, "note", "is empty"],
  [{ answer: "no list" }, "problem", "holds no list that can be found"],
  [{ jobs: [{ words: "the same" }, { words: "the same" }] }, "problem", "2 items at jobs, 0 readable"],
])("%j is a %s", async (body, severity, says) => {
  const { findings } = await jobs(body);
  expect(findings).toMatchObject([{ severity, message: expect.stringContaining(says) as string }]);
});

test("a list that is not there is proposed as missing, but for the case that all of them are", async () => {
  const only = (name: string) => async (known: (path: string) => boolean) => {
    const { ask } = askedNetwork((path) =>
      known(path) ? { body: [{ id: name }] } : { status: 404, body: { error: { message: "no such route" } } },
    );
    return allOf(examineLists(shippedProfile("b"), ask, new Map()));
  };
  const some = await only("p1")((path) => path === "/v1/posts");
  expect(some.at(-1)?.proposals.map(({ path }) => path[1])).toEqual(["jobs.list", "communities.list", "agents.list", "webhooks.list"]);
  const none = await only("p1")(() => false);
  expect(none.flatMap(({ proposals }) => proposals)).toEqual([]);
  const { ask } = askedNetwork(() => ({ status: 401, body: {} }), JOBS_ONLY);
  expect(await allOf(examineLists(JOBS_ONLY, ask, new Map()))).toMatchObject([{ step: "key", severity: "problem" }]);
});

async function refusal(answer: AskedAnswer) {
  const { ask } = askedNetwork(() => answer);
  const [found] = await allOf(examineErrors(shippedProfile("b"), ask));
  return {
    severity: found?.severity,
    stated: Object.fromEntries(found?.proposals.map(({ path, value }) => [path.join("."), value]) ?? []),
  };
}

test("a refusal that reads is ok; one of another shape is proposed by its places", async () => {
  expect(await refusal({ status: 404, body: { error: { code: "not_found", message: "There is no such post." } } })).toMatchObject({
    severity: "ok",
  });
  expect(await refusal({ status: 404, body: { fault: { kind: "missing", explanation: "There is none.", ref: "x" } } })).toEqual({
    severity: "warning",
    stated: { "errors.message": ["fault.explanation"], "errors.code": ["fault.kind"] },
  });
});

test("a refusal without words, or a success for what cannot exist, proposes nothing", async () => {
  expect(await refusal({ status: 404, body: { n: 1 } })).toEqual({ severity: "warning", stated: {} });
  expect(await refusal({ status: 200, body: { note: "there you are" } })).toEqual({ severity: "warning", stated: {} });
});

test("a profile without a read of a single object is told so, without a request", async () => {
  const names = ["posts.get", "jobs.get", "communities.get", "agents.get"];
  const profile = resolveProfile({ extends: "set-b", operations: Object.fromEntries(names.map((name) => [name, { unsupported: true }])) });
  const { ask, asked } = askedNetwork(() => ({ body: {} }), profile);
  expect(await allOf(examineErrors(profile, ask))).toMatchObject([{ severity: "note" }]);
  expect(asked).toEqual([]);
});

test("a state by its meaning is that state, and only a word without one is open", async () => {
  const job = (id: string, status: string) => ({ id, title: "csv", description: "x", status });
  const { stated } = await jobs({ jobs: [job("j1", "in_work"), job("j2", "handed_in"), job("j3", "up for grabs")] });
  const last = (name: string) => (stated[`statuses.${name}`] as string[]).at(-1);
  expect([last("assigned"), last("submitted"), last("open")]).toEqual(["in_work", "handed_in", "up for grabs"]);
  expect(stated["statuses.open"]).not.toContain("in_work");
});

test("money names its unit in its text, or the part that it counts in the name of its field", async () => {
  const job = (more: object) => ({ jobs: ["j1", "j2"].map((id) => ({ id, title: "csv", description: "x", status: "open", ...more })) });
  expect((await jobs(job({ fee: "12.50 EUR" }))).stated).toMatchObject({
    "records.job.reward": ["fee"],
    "money.unit": ["EUR", "credits", "credit"],
  });
  expect((await jobs(job({ fee_cents: 1250 }))).stated).toMatchObject({ "records.job.reward": ["fee_cents"], "money.perUnit": 100 });
});

test("the other name of a person is beside the known one", async () => {
  const job = (id: string) => ({ id, title: "csv", description: "x", status: "open", zork: { nr: `${id}9`, tag: `who-${id}` } });
  expect((await jobs({ jobs: [job("j1"), job("j2")] })).stated).toMatchObject({
    "records.job.authorHandle": ["zork.tag"],
    "records.job.authorId": ["zork.nr"],
  });
});

test("a refusal whose message is not read is proposed, though its code is", async () => {
  const { ask } = askedNetwork(() => ({ status: 404, body: { code: "none", error_message: "There is none." } }));
  const [found] = await allOf(examineErrors(shippedProfile("b"), ask));
  expect(found?.proposals).toContainEqual({ path: ["errors", "message"], value: ["error_message"], isDoubtful: false });
});

test("a place that is true in successes and false in a refusal marks failures", async () => {
  const { ask } = askedNetwork(() => ({ status: 404, body: { fine: false, code: "none", message: "There is none." } }));
  const [found] = await allOf(examineErrors(shippedProfile("b"), ask, new Set(["fine"])));
  expect(found?.proposals).toMatchObject([{ path: ["errors", "failed"], value: ["success", "ok", "fine"], isDoubtful: true }]);
});

test("a read of one object, such as one's own account, counts for the list that others have", async () => {
  const profile = resolveProfile({ extends: "set-b", operations: { "agents.list": { path: "/self", list: false } } });
  const { ask } = askedNetwork(
    (path) => (path.endsWith("/self") ? { body: { uid: "acc_1", login: "scout" } } : { status: 404, body: {} }),
    profile,
  );
  const samples: Samples = new Map();
  const found = await allOf(examineLists(profile, ask, samples));
  expect(found.filter(({ severity }) => severity === "problem")).toEqual([]);
  expect(samples.get("agent")).toMatchObject([{ id: "acc_1", handle: "scout" }]);
});

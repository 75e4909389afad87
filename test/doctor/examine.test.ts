/** The doctor: reads only, bounded, and what it drafts lets a network be read that nobody tuned for. */
import { describe, expect, test } from "vitest";
import { createClient, type Exchange } from "../../src/client/client.ts";
import { examine, MAX_DOCTOR_CALLS, type DoctorOptions } from "../../src/doctor/examine.ts";
import { addDraft, draftProfile } from "../../src/doctor/draft-profile.ts";
import type { Finding } from "../../src/doctor/finding.ts";
import { pages } from "../../src/client/paging.ts";
import type { Transport, WireAnswer } from "../../src/client/transport.ts";
import type { Call } from "../../src/contract/call.ts";
import { resolveProfile, shippedProfile, type Profile } from "../../src/contract/profile/profile.ts";
import type { ProfileSource } from "../../src/contract/profile/source.ts";
import { Secret } from "../../src/core/secret.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { accent } from "../harness/drawn-networks.ts";

const clock = virtualClock(Date.UTC(2026, 0, 5));

function connector(transport: Transport): (profile: Profile) => (call: Call) => Promise<Exchange> {
  return (profile) => {
    const client = createClient({ profile, baseUrl: "http://net.test/v1", clock, transport });
    return (call) => client.exchange(call, { key: new Secret("sk_live_0123456789") });
  };
}

async function findingsOf(transport: Transport, more: Partial<DoctorOptions> = {}): Promise<Finding[]> {
  const found: Finding[] = [];
  for await (const one of examine({ profile: shippedProfile("b"), connect: connector(transport), ...more })) found.push(one);
  return found;
}

const SEEDS = Array.from({ length: 60 }, (_, seed) => seed);

test("of 60 networks with other accents, every one is joined by what the doctor drafts", async () => {
  const failed: string[] = [];
  for (const seed of SEEDS) {
    const network = accent(seed);
    const findings = await findingsOf(network.transport);
    const profile = resolveProfile(draftProfile(shippedProfile("b"), findings));
    const door = connector(network.transport)(profile);
    const send = async (call: Call): Promise<Exchange["outcome"]> => (await door(call)).outcome;
    const seen: unknown[] = [];
    let end: string | undefined;
    for await (const page of pages(send, { operation: "posts.list", input: { limit: 3 } })) {
      seen.push(...page.items);
      end = page.end;
    }
    const jobs = await send({ operation: "jobs.list", input: {} });
    const missing = await send({ operation: "posts.get", target: "nope", input: {} });
    const one = await send({ operation: "posts.get", target: String(network.truth.post["id"]), input: {} });
    try {
      expect(seen[0]).toMatchObject(network.truth.post);
      expect(seen).toHaveLength(network.truth.posts);
      expect(end).toBe("complete");
      expect(jobs.class === "confirmed" ? jobs.items?.[0] : jobs).toMatchObject(network.truth.job);
      expect(one.class === "confirmed" ? one.record : one).toMatchObject(network.truth.post);
      expect(missing.class).toBe("refused");
      expect(network.writes()).toBe(0);
    } catch (error) {
      failed.push(`${seed}: ${network.words}\n${String(error).slice(0, 600)}\n${findings.map(({ message }) => message).join("\n")}`);
    }
  }
  expect(failed.slice(0, 3).join("\n\n"), `${failed.length} of ${SEEDS.length} failed`).toBe("");
});

test("an examination stays within its calls", async () => {
  for (const seed of SEEDS.slice(0, 20)) {
    const network = accent(seed);
    await findingsOf(network.transport);
    expect(network.requests()).toBeLessThanOrEqual(MAX_DOCTOR_CALLS);
    const before = network.requests();
    await findingsOf(network.transport, { maxCalls: 3 });
    expect(network.requests() - before).toBeLessThanOrEqual(3);
  }
});

test("findings name paths and types, never what somebody wrote", async () => {
  for (const seed of SEEDS.slice(0, 20)) {
    const text = JSON.stringify(await findingsOf(accent(seed).transport));
    expect(text).not.toMatch(/These are the words|bot0|Task 0/);
  }
});

describe("a network that cannot be examined is told in one finding", () => {
  const always =
    (wire: WireAnswer): Transport =>
    () =>
      Promise.resolve(wire);
  const html: WireAnswer = { kind: "answer", status: 404, headers: {}, text: "<html>", elapsedMs: 1 };
  test.each<[string, WireAnswer, string, string]>([
    ["nobody listens", { kind: "never-left", reason: "ECONNREFUSED" }, "reach", "nothing answers"],
    ["the key is not accepted", { kind: "answer", status: 401, headers: {}, text: "", elapsedMs: 1 }, "key", "does not accept this key"],
    ["the quota is spent", { kind: "answer", status: 429, headers: {}, text: "", elapsedMs: 1 }, "reach", "429"],
    ["it points elsewhere", { kind: "answer", status: 301, headers: {}, text: "", elapsedMs: 1 }, "reach", "redirect"],
    ["something else lives there", html, "reach", "no usable answer"],
    [
      "a page for people comes back",
      { ...html, status: 200, headers: { "content-type": "text/html" } },
      "reach",
      "(200, text/html) is not JSON",
    ],
    ["it fails", { kind: "answer", status: 500, headers: {}, text: "{}", elapsedMs: 1 }, "reach", "500"],
    ["it hangs", { kind: "unknown", reason: "no complete answer within 30s" }, "reach", "no complete answer within 30s"],
  ])("%s", async (_, wire, step, says) => {
    const findings = await findingsOf(always(wire));
    expect(findings).toMatchObject([{ step, severity: "problem", message: expect.stringContaining(says) as string }]);
  });
});

test.each<["set-a" | "set-b", ProfileSource["operations"], RegExp]>([
  ["set-a", {}, /auth\); POST \/v1\/auth\/token .*state auth\.exchange and auth\.token/],
  ["set-b", { "auth.token": { method: "POST", path: "/oauth/token" } }, /auth\); POST \/oauth\/token .*state auth\.exchange/],
  ["set-b", {}, /auth\)$/],
])("a refused key on %s with %j names the exchange for a token if there is one", async (set, operations, says) => {
  const profile = resolveProfile({ extends: set, operations });
  const [found] = await findingsOf(() => Promise.resolve({ kind: "answer", status: 401, headers: {}, text: "", elapsedMs: 1 }), {
    profile,
  });
  expect(found?.message).toMatch(says);
});

test.each([
  [403, "key", "warning", "may not read this list"],
  [404, "key", "note", "does not show"],
])("where every list answers %i, nothing is drafted, and a problem says what to look at", async (status, step, severity, says) => {
  const text = JSON.stringify({ error: { code: "no", message: "not here" } });
  const findings = await findingsOf(() => Promise.resolve({ kind: "answer", status, headers: {}, text, elapsedMs: 1 }));
  expect(findings.find((one) => one.step === step)).toMatchObject({ severity, message: expect.stringContaining(says) as string });
  expect(findings.filter((one) => one.severity === "ok").map((one) => one.step)).toEqual(["reach"]);
  expect(findings.at(-1)).toMatchObject({ severity: "problem", message: expect.stringContaining("check the base address") as string });
  expect(findings.flatMap(({ proposals }) => proposals)).toEqual([]);
});

test("a network of the other set, and a key of the other set, are noticed", async () => {
  const setA: Transport = ({ path }) => {
    const known = /^\/v1\/(posts|jobs|agents|communities|search\/jobs)(\?|$)/.test(path);
    const body = known ? "[]" : '{"error":{"code":"not_found","message":"no such route"}}';
    return Promise.resolve({
      kind: "answer",
      status: known ? 200 : 404,
      headers: { date: new Date(clock.now() + 90_000).toUTCString() },
      text: body,
      elapsedMs: 7,
    });
  };
  const findings = await findingsOf(setA, { keySet: "a" });
  expect(findings.find(({ step, severity }) => step === "key" && severity === "warning")?.message).toContain("Set A");
  expect(findings.find(({ step }) => step === "set")?.message).toContain("use --set a");
  expect(findings.find(({ step }) => step === "clock")).toMatchObject({
    severity: "warning",
    message: "the network's clock is 90 s ahead of ours",
  });
  expect(findings.find(({ step }) => step === "latency")?.message).toMatch(/^7 ms/);
});

test("guesses by value alone are marked for a person", async () => {
  const items = Array.from({ length: 4 }, (_, n) => ({ zork: `z${n}`, blah: `A long enough sentence number ${n} to be a text.`, n: 1 }));
  const odd: Transport = ({ path }) =>
    Promise.resolve({
      kind: "answer",
      status: path.startsWith("/v1/posts") ? 200 : 404,
      headers: {},
      text: JSON.stringify({ stuff: items }),
      elapsedMs: 1,
    });
  const draft = draftProfile(shippedProfile("b"), await findingsOf(odd));
  expect(draft.records?.["post"]).toMatchObject({ id: ["zork"], content: ["blah"] });
  expect(draft.guesses).toEqual(expect.arrayContaining(["records.post.id", "records.post.content"]));
});

describe("a network without a feed", () => {
  const withoutFeed = resolveProfile({ extends: "set-b", operations: { "posts.list": { unsupported: "this network has no feed" } } });
  const jobs = Array.from({ length: 6 }, (_, n) => ({ job_id: `j${n}`, headline: `Task ${n}`, state: "open" }));
  const jobsOnly: Transport = ({ path }) => {
    const { pathname, searchParams } = new URL(path, "http://net.test");
    const [from, size] = [Number(searchParams.get("cursor") ?? 0), Number(searchParams.get("limit") ?? 6)];
    const isList = pathname === "/v1/jobs";
    const next = from + size < 6 ? { next_cursor: String(from + size) } : {};
    const body = isList ? { jobs: jobs.slice(from, from + size), ...next } : { error: { code: "not_found", message: "not here" } };
    return Promise.resolve({ kind: "answer", status: isList ? 200 : 404, headers: {}, text: JSON.stringify(body), elapsedMs: 1 });
  };

  test("is examined by the lists that it has, and the rest is named", async () => {
    const findings = await findingsOf(jobsOnly, { profile: withoutFeed });
    const told = findings.map(({ step, severity, message }) => `${severity} ${step}: ${message}`).join("\n");
    expect(told).toContain("ok key: the key is accepted");
    expect(told).toContain("jobs.list: 6 items");
    expect(told).toContain("ok paging: jobs.list pages by cursor");
    expect(told).toContain("a refusal reads as code and message");
    expect(told).toContain("not examined, because the profile says that they are missing: posts.list");
  });

  test("is not passed with a wrong key, nor with lists that are public", async () => {
    const refusal: WireAnswer = { kind: "answer", status: 401, headers: {}, text: "", elapsedMs: 1 };
    const strict = await findingsOf(() => Promise.resolve(refusal), { profile: withoutFeed });
    expect(strict).toMatchObject([{ step: "key", severity: "problem" }]);
    const open = await findingsOf((request) => (request.path.startsWith("/v1/jobs") ? jobsOnly(request) : Promise.resolve(refusal)));
    expect(open).toContainEqual(expect.objectContaining({ step: "key", severity: "problem" }));
    const halfOpen = await findingsOf(
      (request) => (request.path.startsWith("/v1/communities") ? Promise.resolve(refusal) : jobsOnly(request)),
      { profile: withoutFeed },
    );
    expect(halfOpen).toContainEqual(
      expect.objectContaining({ step: "key", severity: "problem", message: "communities.list does not accept this key (401)" }),
    );
  });

  test("nor any list is a problem, without a request", async () => {
    let requests = 0;
    const lists = ["posts.list", "jobs.list", "communities.list", "agents.list", "webhooks.list"];
    const operations = Object.fromEntries(lists.map((name) => [name, { unsupported: true }]));
    const findings = await findingsOf(
      (request) => {
        requests += 1;
        return jobsOnly(request);
      },
      { profile: resolveProfile({ extends: "set-b", operations }) },
    );
    expect(findings).toMatchObject([{ step: "reach", severity: "problem", message: expect.stringContaining("no list to read") as string }]);
    expect(requests).toBe(0);
  });

  test("that fails once is examined all the way", async () => {
    let requests = 0;
    const findings = await findingsOf(
      (request) =>
        ++requests === 1 ? Promise.resolve({ kind: "answer", status: 502, headers: {}, text: "<html>", elapsedMs: 1 }) : jobsOnly(request),
      { profile: withoutFeed },
    );
    expect(findings.map(({ message }) => message).join("\n")).toContain("jobs.list: 6 items");
  });
});

describe("a draft that is added to a written profile", () => {
  test("only ever adds: nothing stated changes, and each doubt is marked", () => {
    const written: ProfileSource = {
      extends: "set-b",
      lists: { post: ["entries"] },
      records: { post: { content: ["words"] } },
      paging: { style: "page", parameter: "p" },
      operations: { "jobs.list": { path: "/api/gigs" } },
      guesses: ["lists.post"],
    };
    const draft: ProfileSource = {
      extends: "set-b",
      name: "drafted",
      lists: { post: ["items"], job: ["gigs"] },
      records: { post: { content: ["body"], authorHandle: ["words", "by"], votes: ["words"] } },
      paging: { style: "cursor", next: ["meta.next"] },
      operations: { "jobs.list": { unsupported: "gone" }, "webhooks.list": { unsupported: "gone" } },
      guesses: ["records.post.content", "records.post.authorHandle", "operations.jobs.list.unsupported"],
    };
    expect(addDraft(written, draft)).toEqual({
      extends: "set-b",
      name: "drafted",
      lists: { post: ["entries"], job: ["gigs"] },
      records: { post: { content: ["words"], authorHandle: ["by"] } },
      paging: { style: "page", parameter: "p" },
      operations: { "jobs.list": { path: "/api/gigs" }, "webhooks.list": { unsupported: "gone" } },
      guesses: ["lists.post", "records.post.authorHandle"],
    });
  });
});

test("headers of limits under other names are proposed by their names", async () => {
  const headers = { "x-quota-left": "5", "x-quota-refill": "60" };
  const findings = await findingsOf(() => Promise.resolve({ kind: "answer", status: 200, headers, text: "[]", elapsedMs: 1 }));
  expect(findings.find(({ step }) => step === "limits")?.proposals).toMatchObject([
    { path: ["limitHeaders", "remaining"], isDoubtful: true },
    { path: ["limitHeaders", "reset"], isDoubtful: true },
  ]);
});

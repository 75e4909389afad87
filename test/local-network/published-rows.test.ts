/** Every published row, asked for by raw HTTP. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ENDPOINT_ROWS, type EndpointRow } from "../../src/contract/operations.ts";
import { systemClock } from "../../src/core/clock.ts";
import type { Json } from "../../src/core/json.ts";
import { seededRandom } from "../../src/core/random.ts";
import type { Listening, LocalNetwork } from "../../src/local-network/options.ts";
import { createLocalNetwork } from "../../src/local-network/local-network.ts";
import { askingByHttp, at, textAt, type Ask, type Heard } from "../harness/visitor.ts";

let network: LocalNetwork;
let listening: Listening;
let ask: { a: Ask; b: Ask };
let other: { a: Ask; b: Ask };

/** Set B's base address carries the version itself, so its rows are asked below the base without it. */
const bySet = (key: string | undefined): { a: Ask; b: Ask } => {
  const b = askingByHttp(listening.baseUrls.b ?? "", key);
  return {
    a: askingByHttp(listening.baseUrls.a ?? "", key),
    b: (method, path, question) => b(method, path.replace(/^\/v1/, ""), question),
  };
};

beforeAll(async () => {
  network = createLocalNetwork({ clock: systemClock(), random: seededRandom(3), scale: 0 });
  network.start();
  listening = await network.listen();
  ask = bySet(network.provision({ handle: "scout", tier: "pro", set: "a" }).key);
  other = bySet(network.provision({ handle: "quill", tier: "pro" }).key);
});

afterAll(async () => {
  await listening.close();
  await network.stop();
});

interface Trial {
  readonly path?: () => Promise<string> | string;
  readonly body?: () => Promise<Json> | Json;
  readonly status: number;
  readonly shows: (heard: Heard) => unknown;
  readonly expected: unknown;
}

const newPost = async (by: Ask, content = "hello"): Promise<string> =>
  textAt((await by("POST", "/v1/posts", { body: { content } })).json, "id");
const newJob = async (by: Ask): Promise<string> =>
  textAt((await by("POST", "/v1/jobs", { body: { title: "Count", description: "to three", skills: ["counting"] } })).json, "id");
const newWebhook = async (): Promise<string> =>
  textAt((await ask.b("POST", "/v1/webhooks", { body: { url: "http://127.0.0.1:9/" } })).json, "id");

/** A job of the other's that is assigned to us. */
const assignedJob = async (): Promise<string> => {
  const id = await newJob(other.b);
  await ask.b("POST", `/v1/jobs/${id}/apply`);
  await expect.poll(() => network.jobs().find((job) => job.id === id)?.status).toBe("assigned");
  return id;
};

const list = (heard: Heard): unknown => Array.isArray(heard.json["data"] ?? heard.json["items"]);
const field = (path: string) => (heard: Heard) => at(heard.json, path);
const into = (path: string, make: () => Promise<string> | string) => async (): Promise<string> => path.replace(/:\w+/, await make());

const TRIALS: Readonly<Record<string, (row: EndpointRow) => Trial>> = {
  "auth.token": () => ({ status: 200, shows: field("token_type"), expected: "Bearer" }),
  "auth.refresh": () => ({
    body: async () => ({ refresh_token: textAt((await ask.a("POST", "/v1/auth/token")).json, "refresh_token") }),
    status: 200,
    shows: field("expires_in"),
    expected: 3_600,
  }),
  "agents.create": () => ({
    body: () => ({ handle: "newborn", name: "New" }),
    status: 201,
    shows: (heard) => textAt(heard.json, "api_key").slice(0, 8),
    expected: "sk_live_",
  }),
  "agents.list": () => ({ status: 200, shows: list, expected: true }),
  "agents.get": ({ set, path }) => ({ path: into(path, () => me(set)), status: 200, shows: field("handle"), expected: "scout" }),
  "agents.update": ({ set, path }) => ({
    path: into(path, () => me(set)),
    body: () => ({ bio: "counts things" }),
    status: 200,
    shows: field("bio"),
    expected: "counts things",
  }),
  "agents.delete": ({ path }) => ({
    path: into(path, () => network.provision({ handle: "shortlived", tier: "free" }).id),
    status: 200,
    shows: () => network.find("shortlived"),
    expected: undefined,
  }),
  "agents.stats": ({ path }) => ({ path: into(path, () => "scout"), status: 200, shows: field("handle"), expected: "scout" }),
  "posts.list": () => ({ status: 200, shows: list, expected: true }),
  "posts.create": () => ({ body: () => ({ content: "first" }), status: 201, shows: field("content"), expected: "first" }),
  "posts.get": ({ path }) => ({
    path: into(path, () => newPost(other.b, "read me")),
    status: 200,
    shows: field("content"),
    expected: "read me",
  }),
  "posts.delete": ({ path }) => ({ path: into(path, () => newPost(ask.a)), status: 200, shows: field("success"), expected: true }),
  "posts.vote": ({ set, path }) => ({
    path: into(path, () => newPost(other.b)),
    ...(set === "b" ? { body: () => ({ direction: "down" }) } : {}),
    status: 200,
    shows: field(set === "a" ? "likes" : "votes"),
    expected: set === "a" ? 1 : -1,
  }),
  "posts.reply": ({ set, path }) => ({
    path: into(path, () => newPost(other.b)),
    body: () => ({ content: "indeed" }),
    status: 201,
    shows: (heard) => [at(heard.json, "content"), textAt(heard.json, set === "a" ? "parent_id" : "reply_to").slice(0, 5)],
    expected: ["indeed", "post_"],
  }),
  "jobs.list": () => ({ status: 200, shows: list, expected: true }),
  "jobs.create": () => ({
    body: () => ({ title: "Sum", description: "one and one" }),
    status: 201,
    shows: field("status"),
    expected: "open",
  }),
  "jobs.get": ({ path }) => ({ path: into(path, () => newJob(other.b)), status: 200, shows: field("title"), expected: "Count" }),
  "jobs.apply": ({ path }) => ({ path: into(path, () => newJob(other.b)), status: 201, shows: field("status"), expected: "pending" }),
  "jobs.submit": ({ set, path }) => ({
    path: into(path, assignedJob),
    body: () => ({ [set === "a" ? "result" : "deliverable"]: "1 2 3" }),
    status: 200,
    shows: field("status"),
    expected: "submitted",
  }),
  "communities.list": () => ({ status: 200, shows: list, expected: true }),
  "communities.get": ({ path }) => ({ path: into(path, () => "data"), status: 200, shows: field("handle"), expected: "data" }),
  "communities.join": ({ set, path }) => ({
    path: into(path, () => community(set)),
    status: 200,
    shows: field(set === "a" ? "joined" : "is_member"),
    expected: true,
  }),
  "communities.leave": ({ set, path }) => ({
    path: into(path, () => community(set)),
    status: 200,
    shows: field(set === "a" ? "success" : "ok"),
    expected: true,
  }),
  "search.web": () => ({
    body: () => ({ query: "csv quote" }),
    status: 200,
    shows: (heard) => textAt(heard.json, "data.0.url"),
    expected: "https://library.example/csv",
  }),
  "search.agents": () => ({
    body: () => ({ query: "quill" }),
    status: 200,
    shows: (heard) => textAt(heard.json, "data.0.handle"),
    expected: "quill",
  }),
  "search.jobs": () => ({
    body: async () => {
      await newJob(other.b);
      return { query: "counting" };
    },
    status: 200,
    shows: (heard) => textAt(heard.json, "data.0.title"),
    expected: "Count",
  }),
  "webhooks.create": () => ({
    body: () => ({ url: "http://127.0.0.1:9/" }),
    status: 201,
    shows: (heard) => textAt(heard.json, "secret").slice(0, 6),
    expected: "whsec_",
  }),
  "webhooks.list": () => ({ status: 200, shows: list, expected: true }),
  "webhooks.delete": ({ path }) => ({ path: into(path, newWebhook), status: 200, shows: field("ok"), expected: true }),
};

const me = (set: "a" | "b"): string => (set === "a" ? "scout" : (network.find("scout")?.id ?? ""));
const community = async (set: "a" | "b"): Promise<string> =>
  set === "b" ? "data" : textAt((await ask.a("GET", "/v1/communities")).json, "data.0.id");

describe("the published rows by raw HTTP", () => {
  it("there are 45 of them", () => {
    expect(ENDPOINT_ROWS).toHaveLength(45);
  });

  it.each(ENDPOINT_ROWS.map((row) => [`${row.set.toUpperCase()} ${row.method} ${row.path}`, row] as const))(
    "%s answers",
    async (_name, row) => {
      const trial = TRIALS[row.operation]?.(row);
      if (trial === undefined) throw new Error(`no trial for ${row.operation}`);
      const path = (await trial.path?.()) ?? row.path;
      const body = await trial.body?.();
      const heard = await ask[row.set](row.method, path, body === undefined ? {} : { body });
      expect([heard.status, heard.text]).toEqual([trial.status, heard.text]);
      expect(trial.shows(heard)).toEqual(trial.expected);
    },
  );

  it.each(ENDPOINT_ROWS.map((row) => [`${row.set.toUpperCase()} ${row.method} ${row.path}`, row] as const))(
    "%s wants a living key",
    async (_name, row) => {
      const heard = await bySet(undefined)[row.set](row.method, row.path);
      expect(heard.status).toBe(401);
      expect(textAt(heard.json, "error.code")).toBe("invalid_api_key");
    },
  );

  it("a row of the other set is not there, and another method says which would do", async () => {
    expect((await ask.b("DELETE", "/v1/posts/post_1")).status).toBe(405);
    expect((await ask.a("GET", "/v1/webhooks")).status).toBe(404);
    expect((await ask.a("DELETE", "/v1/agents")).headers["allow"]).toBe("GET");
  });

  it("one set alone is served at the root", async () => {
    const alone = await network.listen({ set: "b" });
    expect(alone.baseUrls).toEqual({ b: `${alone.origin}/v1` });
    const { status } = await askingByHttp(alone.baseUrls.b ?? "", undefined)("GET", "/posts");
    expect(status).toBe(401);
    await alone.close();
  });
});

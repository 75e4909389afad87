/** The OpenAPI documents as others read them: valid by another's validator, and enough for another's mock server to serve all 45 rows. */
import { Validator } from "@seriousme/openapi-schema-validator";
import { afterEach, describe, expect, test } from "vitest";
import { createClient, type Client } from "../../../src/client/client.ts";
import { createTransport, type SocketTransport } from "../../../src/client/transport.ts";
import { openApiDocument } from "../../../src/contract/openapi/openapi.ts";
import { ENDPOINT_ROWS, OPERATIONS, SETS, type OperationName } from "../../../src/contract/operations.ts";
import { shippedProfile } from "../../../src/contract/profile/profile.ts";
import { systemClock } from "../../../src/core/clock.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { Secret } from "../../../src/core/secret.ts";
import { startPrism, type Prism } from "../../harness/prism.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Inputs of those operations that cannot do without, or that send more with them. */
const INPUTS: { readonly [name in OperationName]?: JsonObject } = {
  "auth.refresh": { refreshToken: "a token" },
  "agents.create": { handle: "newcomer", skills: ["csv"] },
  "agents.list": { limit: 5, cursor: "next" },
  "agents.update": { bio: "Converts data." },
  "posts.list": { limit: 5, community: "data" },
  "posts.create": { content: "Hello.", community: "data" },
  "posts.vote": { direction: "up" },
  "posts.reply": { content: "Hello yourself." },
  "jobs.list": { limit: 5, skill: "csv", status: "open" },
  "jobs.create": { title: "A table", description: "Make one.", reward: 2, skills: ["csv"] },
  "jobs.apply": { message: "Me." },
  "jobs.submit": { deliverable: { rows: [[1, "a"]] } },
  "search.web": { query: "tables", limit: 3 },
  "search.agents": { query: "tables" },
  "search.jobs": { query: "tables" },
  "webhooks.create": { url: "http://127.0.0.1:9/hook", events: ["post.created"] },
};

async function serve(set: "a" | "b"): Promise<{ readonly prism: Prism; readonly transport: SocketTransport }> {
  const prism = await startPrism(openApiDocument(set));
  const transport = createTransport({ clock: systemClock() });
  closers.push(prism.stop, () => transport.close());
  return { prism, transport };
}

describe.each(SETS)("the document of set %s", (set) => {
  test("is valid by an independent validator, which finds what is wrong with a spoilt one", async () => {
    const document = openApiDocument(set);
    expect(await new Validator().validate({ ...document })).toEqual({ valid: true });
    const spoilt = await new Validator().validate({ ...document, paths: { "/v1/posts": { get: { responses: { "200": {} } } } } });
    expect(spoilt.valid).toBe(false);
  });

  test("lets an independent mock stand in for every published row", async () => {
    const { prism, transport } = await serve(set);
    const drift: string[] = [];
    const client: Client = createClient({
      profile: shippedProfile(set),
      baseUrl: prism.url,
      clock: systemClock(),
      transport: transport.send,
      onDrift: (operation, seen) => void drift.push(...seen.map(({ kind, path }) => `${operation}: ${kind} of ${path}`)),
    });
    const rows = ENDPOINT_ROWS.filter((row) => row.set === set);
    for (const { operation } of rows) {
      const { target, record, list } = OPERATIONS[operation] as (typeof OPERATIONS)[OperationName] & { target?: string; list?: true };
      const outcome = await client.send(
        { operation, input: INPUTS[operation] ?? {}, ...(target === undefined ? {} : { target: `${target}-1` }) },
        { key: new Secret("a key of nobody"), idempotencyKey: "once" },
      );
      expect([operation, outcome.class]).toEqual([operation, "confirmed"]);
      if (outcome.class !== "confirmed" || record === "none") continue;
      const kinds = list === true ? outcome.items?.map(({ kind }) => kind) : [outcome.record?.kind];
      expect([operation, kinds]).toEqual([operation, [record]]);
    }
    expect(prism.violations).toEqual([]);
    expect(drift).toEqual([]);
  });

  test("lets the mock turn down what the network would not understand", async () => {
    const { prism, transport } = await serve(set);
    const post = { method: "POST", origin: prism.url, path: "/v1/posts", deadlineMs: 10_000 } as const;
    const headers = { authorization: "Bearer a-key", "content-type": "application/json" };
    const empty = await transport.send({ ...post, headers, body: '{"text":"no content"}' });
    const keyless = await transport.send({ ...post, headers: { "content-type": "application/json" }, body: '{"content":"Hello."}' });
    expect(empty).toMatchObject({ kind: "answer", status: 422 });
    expect(keyless).toMatchObject({ kind: "answer", status: 401 });
    expect(prism.violations).toHaveLength(2);
  });
});

test("both documents together have all 45 rows", () => {
  const documented = SETS.flatMap((set) => Object.values(openApiDocument(set)["paths"] ?? {}).flatMap((item) => Object.keys(item ?? {})));
  expect(documented).toHaveLength(45);
});

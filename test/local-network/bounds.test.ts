/** What keeps a world within memory and a file to itself, and what no request can break. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ENDPOINT_ROWS, SETS } from "../../src/contract/operations.ts";
import { parseJson } from "../../src/core/json.ts";
import { seededRandom } from "../../src/core/random.ts";
import { MINUTE, SECOND } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import type { MakeWireFormat } from "../../src/local-network/wire/wire.ts";
import { createLocalNetwork } from "../../src/local-network/local-network.ts";
import { rebuildTask } from "../../src/local-network/residents/jobs/job-kinds.ts";
import { asking, lab, records, textAt } from "../harness/visitor.ts";
import { SOLVERS } from "./residents/reference/index.ts";
import { object } from "./residents/reference/read.ts";

const KNOWN_STATUSES = [200, 201, 202, 400, 401, 403, 404, 405, 409, 413, 415, 422, 429];

describe("any request", () => {
  it("gets a JSON answer with a known status, whatever is in it", async () => {
    const { network, join } = lab();
    const { key } = join("scout");
    const paths = ENDPOINT_ROWS.map((row) => row.path);
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...SETS),
        fc.constantFrom("GET", "POST", "PATCH", "DELETE", "PUT", "HEAD"),
        fc.oneof(fc.constantFrom(...paths), fc.webPath()),
        fc.oneof(fc.string(), fc.constantFrom("post_1", "job_1", "agt_1", "data", "scout", "com_1", "__proto__", "%00", "..")),
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.json().map((value) => `{"content":${value},"title":${value},"handle":${value},"url":${value},"events":${value}}`),
        ),
        fc.dictionary(fc.constantFrom("limit", "cursor", "author", "status", "skill"), fc.string()),
        async (set, method, shape, target, body, query) => {
          const reply = await network.handle(set, {
            method,
            path: shape.replace(/:\w+/, encodeURIComponent(target.toWellFormed())),
            query,
            headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
            body,
          });
          expect(KNOWN_STATUSES).toContain(reply.status);
          expect(parseJson(reply.body)).toBeTypeOf("object");
        },
      ),
      { numRuns: 3_000, seed: 1 },
    );
  });
});

describe("a long run", () => {
  it("forgets old posts with their threads, finished jobs and log lines", async () => {
    const { clock, network, join } = lab({
      keep: { posts: 50, jobs: 20, requests: 100, effects: 100 },
      residents: { perMinute: { post: 60, reply: 60, offer: 60 }, jobDeadlineMs: 30 * SECOND },
    });
    const { b } = join("scout");
    network.start();
    for (let minute = 0; minute < 10; minute++) {
      await clock.advance(MINUTE);
      for (let i = 0; i < 30; i++) await b("POST", "/v1/posts", { body: { content: `${minute} ${i}` } });
    }
    expect(network.jobs().length).toBeLessThanOrEqual(60);
    expect(network.truth.requests().length).toBeLessThanOrEqual(111);
    expect(network.truth.effects().length).toBeLessThanOrEqual(111);
    const first = await b("GET", "/v1/posts/post_1");
    expect(first.status).toBe(404);
    let cursor = "";
    let seen = 0;
    for (let page = 0; page < 10; page++) {
      const heard = await b("GET", "/v1/posts", { query: { limit: "100", cursor } });
      seen += records(heard).length;
      const next = object(heard.json["pagination"])["next_cursor"];
      if (typeof next !== "string") break;
      cursor = next;
    }
    expect(seen).toBeLessThanOrEqual(55);
    expect(network.summary().network.requests).toBeGreaterThan(300);
    await network.stop();
  });

  it("has only one process per data file", async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "network-"));
    const open = () => createLocalNetwork({ clock: virtualClock(), random: seededRandom(1), data: path.join(folder, "n.sqlite") });
    const first = open();
    expect(open).toThrow(expect.objectContaining({ code: "network_data_in_use" }));
    await first.stop();
    await open().stop();
    rmSync(folder, { recursive: true });
  });
});

describe("another wording", () => {
  it("replaces a set's field names and envelopes", async () => {
    const shouting: MakeWireFormat = () => ({
      record: (view) => ({ KIND: view.type }),
      list: (of, items) => ({ [of.toUpperCase()]: items }),
      error: (code) => ({ ERROR: code }),
    });
    const { network } = lab({ wireFormats: { b: shouting } });
    const { key } = network.provision({ handle: "scout", tier: "pro" });
    expect((await asking(network, "b", key)("GET", "/v1/agents")).json).toEqual({ AGENTS: [{ KIND: "agent" }] });
    expect((await asking(network, "b", key)("GET", "/v1/agents/none")).json).toEqual({ ERROR: "not_found" });
    expect((await asking(network, "a", key)("GET", "/v1/agents")).json).toHaveProperty("data");
  });
});

describe("a minute on the network", () => {
  it.each(SETS)("is enough in set %s for a plain bot to have ten jobs accepted", async (set) => {
    const { clock, network, join } = lab({ residents: {} });
    const bot = join("worker");
    const ask = bot[set];
    network.start();
    const mine = new Set<string>();
    for (let second = 0; second < 60; second++) {
      await clock.advance(SECOND);
      for (const job of records(await ask("GET", "/v1/jobs"))) {
        const id = textAt(job, "id");
        if (!mine.has(id)) await ask("POST", `/v1/jobs/${id}/apply`);
        mine.add(id);
      }
      for (const { id, status, task } of network.jobs()) {
        if (status !== "assigned" || task === undefined) continue;
        const { json } = await ask("GET", `/v1/jobs/${id}`);
        expect(json["input"]).toEqual(rebuildTask(task).input);
        const answer = SOLVERS[task.kind]?.(textAt(json, "description"), object(json["input"]));
        await ask("POST", set === "a" ? `/v1/jobs/${id}/complete` : `/v1/jobs/${id}/submit`, { body: { deliverable: answer ?? null } });
      }
    }
    const { jobs, network: traffic } = network.summary();
    expect(jobs.accepted).toBeGreaterThanOrEqual(10);
    expect(jobs.rejected).toBe(0);
    expect(traffic.refused429).toBe(0);
    expect(network.truth.duplicates()).toEqual([]);
    await network.stop();
  });
});

/** A world kept in a file goes on where it stopped, however it stopped. */
import { fork } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { seededRandom } from "../../src/core/random.ts";
import { HOUR, MINUTE, SECOND } from "../../src/core/units.ts";
import { virtualClock, type VirtualClock } from "../../src/core/virtual-clock.ts";
import type { WindowKind } from "../../src/local-network/assumptions.ts";
import type { LocalNetworkOptions } from "../../src/local-network/options.ts";
import { createLocalNetwork } from "../../src/local-network/local-network.ts";
import { asking, records, textAt } from "../harness/visitor.ts";

let folder: string;
let data: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "network-"));
  data = path.join(folder, "network.sqlite");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = (clock: VirtualClock, options: Partial<LocalNetworkOptions> = {}) =>
  createLocalNetwork({ clock, random: seededRandom(4), data, ...options });

describe("a restart", () => {
  it("keeps posts, votes, replies, keys, tokens, members, webhooks and counts", async () => {
    const clock = virtualClock();
    const first = open(clock);
    const { key } = first.provision({ handle: "scout", tier: "free", spending: { perMonth: 9 } });
    const other = first.provision({ handle: "quill", tier: "pro" }).key;
    const [scout, quill] = [asking(first, "b", key), asking(first, "a", other)];
    const id = textAt((await scout("POST", "/v1/posts", { body: { content: "kept" } })).json, "id");
    await quill("POST", `/v1/posts/${id}/like`);
    await quill("POST", `/v1/posts/${id}/reply`, { body: { content: "also kept" } });
    const token = textAt((await quill("POST", "/v1/auth/token")).json, "access_token");
    await scout("POST", "/v1/communities/data/join");
    await scout("POST", "/v1/webhooks", { body: { url: "http://127.0.0.1:1/" } });
    const before = (await scout("GET", `/v1/posts/${id}`)).json;
    const { effects, requests } = { effects: first.truth.effects(), requests: first.truth.requests() };
    const summary = first.summary();
    await first.stop();

    const second = open(clock);
    const again = asking(second, "b", key);
    expect(second.truth.effects()).toEqual(effects);
    expect(second.truth.requests()).toEqual(requests);
    expect(second.summary()).toEqual(summary);
    expect((await again("GET", `/v1/posts/${id}`)).json).toEqual(before);
    expect((await again("GET", "/v1/communities/data")).json).toMatchObject({ is_member: true });
    expect(records(await again("GET", "/v1/webhooks"))).toHaveLength(1);
    expect((await asking(second, "a", token)("GET", "/v1/posts")).status).toBe(200);
    expect(second.find("scout")?.spending).toEqual({ perMonth: 9 });
    const next = textAt((await again("POST", "/v1/posts", { body: { content: "new" } })).json, "id");
    expect(next).not.toBe(id);
    expect(second.regenerateKey("scout")).not.toBe(key);
    expect((await again("GET", "/v1/posts")).status).toBe(401);
    await second.stop();
  });

  it.each<WindowKind>(["sliding", "fixed", "anchored"])("forgets no request of a %s window", async (window) => {
    const clock = virtualClock();
    await clock.advance(20 * MINUTE);
    const first = open(clock, { window });
    const { key } = first.provision({ handle: "scout", tier: "free" });
    for (let i = 0; i < 60; i++) await asking(first, "b", key)("GET", "/v1/posts");
    await first.stop();
    const second = open(clock, { window });
    const ask = asking(second, "b", key);
    const refused = await ask("GET", "/v1/posts");
    expect(refused.status).toBe(429);
    const opensAfter = window === "fixed" ? 40 * MINUTE : HOUR;
    expect(Number(refused.headers["retry-after"]) * SECOND).toBe(opensAfter);
    await clock.advance(opensAfter - SECOND);
    expect((await ask("GET", "/v1/posts")).status).toBe(429);
    await clock.advance(SECOND);
    expect((await ask("GET", "/v1/posts")).status).toBe(200);
    await second.stop();
  });

  it("does not make the judge forget", async () => {
    const clock = virtualClock();
    const first = open(clock, { window: "fixed" });
    const { key } = first.provision({ handle: "scout", tier: "free" });
    await clock.advance(50 * MINUTE);
    for (let i = 0; i < 60; i++) await asking(first, "b", key)("GET", "/v1/posts");
    await first.stop();
    const second = open(clock, { window: "fixed" });
    expect(second.truth.overLimit()).toEqual([]);
    await clock.advance(20 * MINUTE);
    expect((await asking(second, "b", key)("GET", "/v1/posts")).status).toBe(200);
    expect(second.truth.overLimit()).toMatchObject([{ agent: "scout", window: "hour", count: 61, limit: 60 }]);
    await second.stop();
  });

  it("leaves jobs and residents as one run without it would", async () => {
    const story = async (stops: boolean): Promise<unknown> => {
      const clock = virtualClock();
      const options = { residents: {}, data: path.join(folder, `story-${stops}.sqlite`) };
      let network = open(clock, options);
      const { key } = network.provision({ handle: "scout", tier: "pro" });
      network.start();
      await clock.advance(20 * SECOND);
      for (const { id } of network.jobs().slice(0, 4)) await asking(network, "b", key)("POST", `/v1/jobs/${id}/apply`);
      if (stops) {
        await network.stop();
        network = open(clock, options);
        network.start();
      }
      await clock.advance(40 * SECOND);
      const jobs = network.jobs().map(({ id, title, status, assigneeId }) => [id, title, status, assigneeId]);
      const posts = records(await asking(network, "b", key)("GET", "/v1/posts", { query: { limit: "100" } })).map(
        (post) => post["content"],
      );
      expect(jobs.filter(([, , status]) => status === "assigned")).toHaveLength(4);
      await network.stop();
      expect(clock.pending()).toBe(0);
      return { jobs, posts };
    };
    expect(await story(true)).toEqual(await story(false));
  });

  it("sends the webhooks that were still waiting", async () => {
    const clock = virtualClock();
    const sent: string[] = [];
    const deliver = (answer: number) => ({ webhooks: { deliver: async ({ body }: { body: string }) => (sent.push(body), answer) } });
    const first = open(clock, deliver(500));
    const scout = asking(first, "b", first.provision({ handle: "scout", tier: "pro" }).key);
    const quill = asking(first, "b", first.provision({ handle: "quill", tier: "pro" }).key);
    first.start();
    await scout("POST", "/v1/webhooks", { body: { url: "http://127.0.0.1:1/" } });
    await quill("POST", "/v1/posts", { body: { content: "news" } });
    await clock.advance(SECOND);
    await first.stop();
    const second = open(clock, deliver(200));
    second.start();
    await clock.advance(5 * SECOND);
    expect(sent).toHaveLength(2);
    expect(sent[1]).toBe(sent[0]);
    expect(second.deliveries()[0]?.status).toBe("delivered");
    await second.stop();
  });

  it("after kill -9 nothing that was answered is missing", async () => {
    const child = fork(new URL("../harness/write-until-killed.ts", import.meta.url), [data], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    let answered = 0;
    const gone = new Promise((resolve) => void child.once("exit", resolve));
    child.on("message", () => {
      if (++answered === 300) child.kill("SIGKILL");
    });
    await gone;
    const network = createLocalNetwork({ clock: systemClock(), random: seededRandom(1), data });
    const kept = network.truth.effects({ operation: "posts.create" }).length;
    expect(answered).toBeGreaterThanOrEqual(300);
    expect(kept).toBeGreaterThanOrEqual(answered);
    await network.stop();
  });
});

describe("a data file that cannot be used", () => {
  it("is refused with what to do", () => {
    writeFileSync(data, "this is no database, it is a letter to a friend");
    expect(() => open(virtualClock())).toThrow(expect.objectContaining({ code: "network_data_unreadable" }));
    expect(() => open(virtualClock(), { data: path.join(folder, "no", "such", "folder.sqlite") })).toThrow(
      expect.objectContaining({ code: "network_data_unreadable" }),
    );
  });
});

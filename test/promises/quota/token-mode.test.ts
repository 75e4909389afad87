/** Token mode against the local network's Set A: keys are traded for tokens, charged like any request, and renewed early. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, type TestContext } from "vitest";
import { systemClock } from "../../../src/core/clock.ts";
import { seededRandom } from "../../../src/core/random.ts";
import { HOUR, MINUTE } from "../../../src/core/units.ts";
import { createLocalNetwork } from "../../../src/local-network/local-network.ts";
import { harness } from "../../harness/harness.ts";
import { MEMORY, openDatabase } from "../../../src/store/sqlite/database.ts";
import { asking } from "../../harness/visitor.ts";
import { became, folder, resultOf, start } from "../../harness/process.ts";

const BEARER = "Bearer ";

async function stage({ onTestFinished }: TestContext) {
  /** What each request was made with: the key, or which of the tokens. */
  const sent: { readonly path: string; readonly credential: string }[] = [];
  const state = { refuseTokens: false, refuseTrades: false, repeatTokens: false, pageForTrades: false };
  let replaced: string | undefined;
  const database = openDatabase(MEMORY);
  onTestFinished(() => database.close()); // after all that is registered later
  const here = await harness({
    seed: 5,
    set: "a",
    specialists: [
      {
        handle: "scout",
        tier: "pro",
        may: ["posts.create"],
        watch: { feed: true },
        on: { "post.created": () => undefined },
        schedules: { talk: { every: "1m", run: (act) => void act.post(`It is ${act.now}`) } },
      },
    ],
    profile: { auth: { exchange: true } },
    link: (plain) => async (request) => {
      const { path, headers } = request;
      const credential = headers["authorization"]?.slice(BEARER.length) ?? "";
      sent.push({ path: path.split("?", 1)[0] ?? "", credential });
      if (state.refuseTrades && path.startsWith("/v1/auth/")) {
        const text = JSON.stringify({ error: { code: "grant_invalid", message: "no tokens for keys of this kind" } });
        return { kind: "answer", status: 422, headers: { "content-type": "application/json" }, text, elapsedMs: 1 };
      }
      if (state.pageForTrades && path.startsWith("/v1/auth/")) {
        const headersOfPage = { "content-type": "text/html; charset=utf-8" };
        return { kind: "answer", status: 200, headers: headersOfPage, text: "<!doctype html>", elapsedMs: 1 };
      }
      const isToken = credential.startsWith("at_");
      const shown = state.refuseTokens && isToken ? { ...headers, authorization: `${BEARER}at_nothing` } : headers;
      const answer = await plain({ ...request, headers: shown });
      if (answer.kind !== "answer" || !state.repeatTokens) return answer;
      const all = [...new Set(sent.map((one) => one.credential))].join(" ");
      return {
        ...answer,
        headers: { ...answer.headers, "x-seen": all },
        text: answer.text.replaceAll('"content":"', `"content":"${all} `),
      };
    },
    database,
    keyOf: () => key(),
    start: false,
  });
  const { clock, network, store, guardian, runtime } = here;
  const key = (): string => replaced ?? here.keyOf("scout");
  await clock.run(runtime.start());
  const asked = (path: string): number => sent.filter((one) => one.path === path).length;
  return {
    clock,
    network,
    store,
    guardian,
    runtime,
    sent,
    asked,
    state,
    /** Every row of every table. */
    rows(): string {
      const tables = database.db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
      return JSON.stringify(tables.map(({ name }) => database.db.prepare(`SELECT * FROM "${String(name)}"`).all()));
    },
    key,
    replaceKey: (other: string) => void (replaced = other),
  };
}

describe("token mode", () => {
  test("trades the key once, renews early and one at a time, and charges every trade", async (context) => {
    const { clock, network, store, runtime, sent, asked, key } = await stage(context);
    await clock.advance(30 * MINUTE);
    expect(asked("/v1/auth/token")).toBe(1);
    const trades = sent.filter(({ path }) => path.startsWith("/v1/auth/"));
    expect(trades.every(({ credential }) => credential === key())).toBe(true);
    const others = sent.filter(({ path }) => !path.startsWith("/v1/auth/"));
    expect(others.length).toBeGreaterThan(30);
    expect(others.every(({ credential }) => credential.startsWith("at_"))).toBe(true);
    // The local network's tokens live for an hour; a minute before its end each is renewed.
    await clock.advance(3 * HOUR);
    expect(asked("/v1/auth/token")).toBe(1);
    expect(asked("/v1/auth/refresh")).toBe(3);
    expect(network.truth.requests().filter(({ status }) => status === 401)).toEqual([]);
    expect(network.truth.effects({ operation: "posts.create" }).length).toBeGreaterThan(200);
    const keyId = runtime.member("scout")?.keyId;
    const use = keyId === undefined ? undefined : await store.quotaUse(keyId, clock.now());
    expect(use?.day.used).toBe(sent.length);
  });

  test("a trade that is answered with a page says so, and is not paid for again and again", async (context) => {
    const { clock, asked, state, guardian } = await stage(context);
    await clock.advance(5 * MINUTE);
    state.pageForTrades = true;
    await clock.advance(2 * HOUR);
    expect(asked("/v1/auth/token") + asked("/v1/auth/refresh")).toBeLessThanOrEqual(16);
    const { reasons } = await clock.run(guardian.why({ id: "scout" }));
    expect(reasons.map(({ message }) => message).join(" ")).toMatch(
      /auth\.token.*200, but the body is an HTML page.*operations\.auth\.token\.path/,
    );
  });

  test("trades again for a token that the network no longer takes, and says of a key that trades for none that work", async (context) => {
    const { clock, asked, state, guardian, sent } = await stage(context);
    await clock.advance(5 * MINUTE);
    state.refuseTokens = true;
    await clock.advance(5 * MINUTE);
    // The taken one is traded anew, once; the new one was never taken, so it is the key that a person has to look at.
    expect(asked("/v1/auth/token")).toBe(2);
    const { specialists } = await clock.run(guardian.status({}));
    expect(specialists[0]?.parked?.code).toBe("key_refused");
    const before = sent.length;
    await clock.advance(HOUR);
    // After 15 minutes and after 45, each time a trade and one read with what it gave.
    expect(sent.length).toBe(before + 4);
    expect(asked("/v1/auth/token")).toBe(4);
    state.refuseTokens = false;
    await clock.advance(HOUR);
    expect(sent.length).toBeGreaterThan(before + 20);
    const after = await clock.run(guardian.status({}));
    expect(after.specialists[0]?.parked).toBeUndefined();
  });

  test("pays for few trades where the network refuses to give a token, and goes on once it does", async (context) => {
    const { clock, asked, state, store, runtime } = await stage(context);
    await clock.advance(5 * MINUTE);
    state.refuseTrades = true;
    await clock.advance(2 * HOUR);
    const before = asked("/v1/auth/token");
    await clock.advance(2 * HOUR);
    expect(asked("/v1/auth/token") - before).toBeLessThan(2 * 15);
    expect(asked("/v1/auth/token") - before).toBeGreaterThan(5);
    state.refuseTrades = false;
    const posted = asked("/v1/posts");
    await clock.advance(15 * MINUTE);
    expect(asked("/v1/posts")).toBeGreaterThan(posted);
    expect(runtime.member("scout")?.keyTrouble).toBeUndefined();
    expect(await store.openAttempts()).toEqual([]);
  });

  test("looks on while halted, since a trade changes nothing there", async (context) => {
    const { clock, asked, guardian } = await stage(context);
    await clock.run(guardian.halt({}));
    await clock.advance(3 * HOUR);
    expect(asked("/v1/auth/refresh")).toBeGreaterThanOrEqual(2);
    const written = asked("/v1/posts");
    expect(written).toBeGreaterThan(10); // reads of the feed have the same path
  });

  test("stores no token, though every answer repeats all that were used", async (context) => {
    const { clock, network, runtime, sent, state, key, rows } = await stage(context);
    state.repeatTokens = true;
    const quill = asking(network, "a", network.provision({ handle: "quill", tier: "pro", set: "a" }).key);
    await clock.advance(2 * HOUR);
    await quill("POST", "/v1/posts", { body: { content: "what they say" } });
    await clock.advance(HOUR);
    const used = new Set([...sent.map(({ credential }) => credential), key()]);
    expect(used.size).toBeGreaterThanOrEqual(4);
    expect(rows()).toContain("[secret] [secret] what they say");
    expect([...used].filter((secret) => rows().includes(secret))).toEqual([]);
    expect(runtime.member("scout")?.keyTrouble).toBeUndefined();
  });

  test("goes on with a key that was replaced", async (context) => {
    const { clock, network, replaceKey, asked } = await stage(context);
    await clock.advance(5 * MINUTE);
    replaceKey(network.regenerateKey("scout", "a"));
    await clock.advance(2 * HOUR);
    expect(asked("/v1/auth/token")).toBeGreaterThanOrEqual(2);
    expect(asked("/v1/auth/token")).toBeLessThanOrEqual(4);
    const { length } = network.truth.effects({ operation: "posts.create" });
    await clock.advance(5 * MINUTE);
    expect(network.truth.effects({ operation: "posts.create" }).length).toBeGreaterThan(length + 3);
  });
});

describe("`auth: token` in the config file", () => {
  const project = (context: TestContext, set: "a" | "b"): string => {
    const root = folder(context);
    mkdirSync(join(root, "agents"));
    writeFileSync(
      join(root, "agents/scout.ts"),
      `import { defineSpecialist } from "retinue";
       export default defineSpecialist({ handle: "scout", tier: "pro", may: ["posts.create"],
         schedules: { once: { every: "1s", run: (act) => void act.post("It is " + act.now) } } });`,
    );
    writeFileSync(join(root, "retinue.config.json"), JSON.stringify({ network: { set, auth: "token" } }));
    return root;
  };

  test("reaches the network", async (context) => {
    const network = createLocalNetwork({ clock: systemClock(), random: seededRandom(7), residents: false });
    const listening = await network.listen({ set: "a" });
    context.onTestFinished(async () => {
      await listening.close();
      await network.stop();
    });
    const { key } = network.provision({ handle: "scout", tier: "pro", set: "a" });
    const run = start(context, ["run", "--base-url", listening.baseUrls.a ?? "", "--store", "sqlite:store.sqlite"], {
      cwd: project(context, "a"),
      env: { RETINUE_KEY_SCOUT: key },
    });
    await run.saying(became("confirmed", "posts.create"));
    run.kill("SIGTERM");
    const ended = await run.ended;
    expect(ended.code).toBe(0);
    expect(network.truth.requests({ operation: "auth.token" })).toMatchObject([{ status: 200, counted: true }]);
    expect(JSON.stringify([resultOf(ended), run.said])).not.toMatch(/at_\w{20}|rt_\w{20}/);
  });

  test("is refused where the network has no way to trade a key", async (context) => {
    const run = start(context, ["run", "--base-url", "http://127.0.0.1:9/v1", "--store", "sqlite:store.sqlite"], {
      cwd: project(context, "b"),
      env: { RETINUE_KEY_SCOUT: "sk_live_0123456789" },
    });
    const ended = await run.ended;
    expect(ended.code).toBe(2);
    expect(resultOf(ended)["error"]).toMatchObject({ code: "token_unsupported" });
  });
});

/** A launch: everything is checked before anything is opened, the Guardian's settings win, and a failed start leaves nothing behind. */
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { CONNECTIONS, type Transport } from "../../src/client/transport.ts";
import { loadConfig } from "../../src/config/config.ts";
import type { Config } from "../../src/config/config.ts";
import { checkedModels } from "../../src/config/model-settings.ts";
import { resolveProfile, shippedProfile } from "../../src/contract/profile/profile.ts";
import { systemClock, type Clock } from "../../src/core/clock.ts";
import { silentLogger } from "../../src/core/log.ts";
import { systemRandom } from "../../src/core/random.ts";
import { Scrubber } from "../../src/core/scrubber.ts";
import { MINUTE, SECOND } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { createMember } from "../../src/gateway/member.ts";
import { limitsOf, operationRules } from "../../src/gateway/permissions.ts";
import {
  asConfigured,
  launch,
  openCommon,
  planLaunch,
  requireBaseUrl,
  runtimeOptions,
  type Launched,
  type LaunchOptions,
} from "../../src/runtime/launch.ts";
import { createRuntime, type Runtime } from "../../src/runtime/runtime.ts";
import { createSpecialist, type Specialist } from "../../src/specialist/specialist.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";
import { post, scriptedModel } from "../../src/testing.ts";
import { project } from "../harness/project.ts";

const clock = systemClock();
const SCOUT = { "agents/scout.yaml": "handle: scout\nid: agt_1\n" };
const ENV = { RETINUE_BASE_URL: "http://127.0.0.1:9/v1", RETINUE_KEY_SCOUT: "sk_live_0123456789abcdef" };

async function configOf(
  files: { readonly [path: string]: string } = SCOUT,
  env: { readonly [name: string]: string } = ENV,
  root = project(files).root,
): Promise<Config> {
  return loadConfig({ cwd: root, env });
}

const launched = async (config: Config, networkName?: string): Promise<Launched> =>
  launch(await planLaunch(config, clock), {
    config,
    clock,
    random: systemRandom(),
    log: silentLogger(),
    scrubber: new Scrubber(),
    passive: true,
    ...(networkName === undefined ? {} : { networkName }),
  });

describe("a plan is refused", () => {
  test.each<[string, { readonly [path: string]: string }, { readonly [name: string]: string }, string]>([
    ["without an address", SCOUT, { RETINUE_KEY_SCOUT: ENV.RETINUE_KEY_SCOUT }, "base_url_missing"],
    ["without a specialist", { "agents/notes.txt": "none" }, ENV, "agents_empty"],
    ["without a key", SCOUT, { RETINUE_BASE_URL: ENV.RETINUE_BASE_URL }, "key_missing"],
    ["with a mistake in a definition", { "agents/scout.yaml": "handle: scout\ntier: gold\n" }, ENV, "definition_invalid"],
    [
      "with a schedule that never comes",
      { "agents/scout.ts": `export default { handle: "scout", schedules: { talk: { cron: "0 0 31 2 *", run() {} } } };` },
      ENV,
      "cron_never",
    ],
  ])("%s, before anything is opened", async (_what, files, env, code) => {
    const { root } = project(files);
    await expect(configOf(files, env, root).then((config) => planLaunch(config, clock))).rejects.toMatchObject({ code });
  });

  test("with its other mistakes counted, and a known cast is not read again", async () => {
    const config = await configOf();
    const { profile, roster, loader } = await planLaunch(config, clock);
    expect(requireBaseUrl(config)).toBe(ENV.RETINUE_BASE_URL);
    const again = await planLaunch({ ...config, agents: "/none" }, clock, { profile, roster, loader });
    expect(again.roster).toBe(roster);
  });
});

describe("the Guardian's settings", () => {
  const settings = async (text: string): Promise<Config> => configOf({ ...SCOUT, "retinue.config.yaml": text });

  test("win over the profile: prices, the reaction to drift, the exchange of keys", async () => {
    const profile = asConfigured(
      shippedProfile("a"),
      await settings("network: { set: a, drift: stop, auth: token }\nprices: { jobs.create: 5 }\n"),
    );
    expect([profile.drift, profile.auth.exchange, profile.operations.get("jobs.create")?.price]).toEqual([
      "stop",
      true,
      { currency: "credits", micros: 5_000_000 },
    ]);
  });

  test("of nothing leave the profile itself", async () => {
    const profile = resolveProfile({ extends: "set-b", name: "mine" });
    expect(asConfigured(profile, await settings("{}"))).toBe(profile);
  });

  test.each([
    ["prices: { posts.shout: 5 }", "operation_unknown"],
    ["network: { auth: token }", "token_unsupported"],
  ])("that the network cannot have are refused: %s", async (text, code) => {
    const config = await settings(text);
    expect(() => asConfigured(shippedProfile("b"), config)).toThrow(expect.objectContaining({ code }));
  });
});

test("a store of another network is refused, and is free for its own network at once", async () => {
  const { root } = project(SCOUT);
  const config = await configOf(SCOUT, { ...ENV, RETINUE_STORE: `sqlite:${join(root, "store.sqlite")}` }, root);
  const first = await launched(config);
  await first.stop();
  await first.stop();
  await expect(launched(config, "https://other.example/v1")).rejects.toMatchObject({ code: "store_of_other_network" });
  const again = await launched(config);
  await again.stop();
});

test("a launch that never started stops, and one that drains leaves its store to be read", async () => {
  const config = await configOf(SCOUT, { ...ENV, RETINUE_STORE: "sqlite::memory:" });
  const running = await launched(config);
  await running.start();
  await running.drain();
  expect(await running.store.stops()).toEqual({ halts: [], pauses: [] });
  await running.stop();
});

describe("the runtimes of one process", () => {
  interface Processed {
    readonly config: Config;
    readonly clock: Clock;
    /** Lets the time of the clock pass until the work is done. */
    readonly run: <Result>(work: Promise<Result>) => Promise<Result>;
    readonly casts: readonly (readonly Specialist[])[];
    readonly transport?: LaunchOptions["transport"];
  }

  /** A runtime for each cast, on a store of its own, none of them started. */
  async function runtimes({ config, clock: time, run, casts, transport }: Processed) {
    const planned = await planLaunch(config, time);
    const random = systemRandom();
    const options = { config, clock: time, random, log: silentLogger(), scrubber: new Scrubber(), ...(transport && { transport }) };
    const common = openCommon(planned, options);
    onTestFinished(() => common.transport.close());
    const made = casts.map(async (specialists): Promise<{ readonly store: Store; readonly runtime: Runtime }> => {
      const store = openSqliteStore({ path: ":memory:", clock: time, random });
      onTestFinished(() => run(store.close()));
      return { store, runtime: createRuntime({ ...(await runtimeOptions(planned, options, common, store)), specialists }) };
    });
    return run(Promise.all(made));
  }

  test("admit no more requests together than there are sockets", async () => {
    const virtual = virtualClock(Date.parse("2026-11-21T00:00:00Z"));
    const casts = ["a", "b"].map((store) =>
      Array.from({ length: CONNECTIONS }, (_, i) =>
        createSpecialist({ handle: `${store}${i}`, tier: "pro", watch: { feed: true }, on: { "post.created": () => undefined } }),
      ),
    );
    const keys = casts.flat().map(({ handle }) => [`RETINUE_KEY_${handle.toUpperCase()}`, `sk_live_0123456789_${handle}`]);
    const config = await configOf(SCOUT, { ...ENV, ...Object.fromEntries(keys) });
    let most = 0;
    const slow: Transport = async () => {
      const open = await Promise.all(both.map(({ store }) => store.openAttempts()));
      most = Math.max(most, open.flat().length);
      await new Promise<void>((resolve) => void virtual.after(SECOND, resolve));
      return { kind: "answer", status: 200, headers: { "content-type": "application/json" }, text: '{"posts":[]}', elapsedMs: SECOND };
    };
    const both = await runtimes({ config, clock: virtual, run: (work) => virtual.run(work), casts, transport: () => slow });
    await virtual.run(Promise.all(both.map(({ runtime }) => runtime.start())));
    await virtual.advance(MINUTE);
    await virtual.run(Promise.all(both.map(({ runtime }) => runtime.stop())));
    expect(most).toBe(CONNECTIONS);
  });

  test("ask a model no more at once than its settings say", async () => {
    const { promise: thinking, resolve: think } = Promise.withResolvers<string>();
    const model = await scriptedModel(() => thinking);
    onTestFinished(() => model.close());
    const models = checkedModels({ small: model.settings({ prices: { input: 0, output: 0 }, concurrency: 2, perMinute: 60_000 }) });
    const specialist = createSpecialist({ handle: "helper", may: ["posts.reply"], instructions: "Answer questions about tea." });
    const both = await runtimes({
      config: { ...(await configOf()), models },
      clock,
      run: (work) => work,
      casts: [[specialist], [specialist]],
    });
    const asked = both.flatMap(({ runtime: { parts } }) => {
      const { profile, models: asking } = parts;
      if (asking === undefined) throw new Error("expected models");
      onTestFinished(() => asking.close());
      const member = createMember(specialist, operationRules(specialist, profile, clock), limitsOf("free", profile), clock.now());
      const event = { kind: "post.created", payload: JSON.parse(JSON.stringify(post({ content: "How long?" }))) } as const;
      return Array.from({ length: 4 }, () => asking.ask(member, event, { model: "small" }, new AbortController().signal));
    });
    expect(await Promise.race(asked)).toMatchObject({ reason: expect.stringContaining("4 calls of the model") as string });
    expect(model.requests.length).toBeLessThanOrEqual(2);
    think("Two minutes.");
    const results = await Promise.all(asked);
    expect(results.filter((result) => "value" in result)).toHaveLength(4);
  });
});

/** A launch: everything is checked before anything is opened, the Guardian's settings win, and a failed start leaves nothing behind. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { loadConfig } from "../../src/config/config.ts";
import type { Config } from "../../src/config/config.ts";
import { resolveProfile, shippedProfile } from "../../src/contract/profile/profile.ts";
import { systemClock } from "../../src/core/clock.ts";
import { silentLogger } from "../../src/core/log.ts";
import { systemRandom } from "../../src/core/random.ts";
import { Scrubber } from "../../src/core/scrubber.ts";
import { asConfigured, launch, planLaunch, requireBaseUrl, type Launched } from "../../src/runtime/launch.ts";
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

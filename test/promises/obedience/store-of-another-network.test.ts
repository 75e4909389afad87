/** A store belongs to one network: on another it is refused, before anything is sent, unless the same network has moved. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadConfig } from "../../../src/config/config.ts";
import { systemClock } from "../../../src/core/clock.ts";
import { silentLogger } from "../../../src/core/log.ts";
import { systemRandom } from "../../../src/core/random.ts";
import { Scrubber } from "../../../src/core/scrubber.ts";
import { launch, planLaunch, type LaunchOptions } from "../../../src/runtime/launch.ts";
import { inProcess } from "../../harness/cli.ts";
import { project } from "../../harness/project.ts";

const clock = systemClock();
const HERE = "https://here.example.com/v1";
const THERE = "https://there.example.com/v1";
const env = { RETINUE_KEY_SCOUT: "sk_live_0123456789abcdef" };

function settled() {
  const { root: cwd } = project({ "agents/scout.yaml": "handle: scout\n" });
  const open = async (baseUrl: string, options: Partial<LaunchOptions> & { readonly allowMoved?: boolean } = {}) => {
    const { allowMoved = false, ...rest } = options;
    const config = await loadConfig({ cwd, env, flags: { baseUrl, allowMoved } });
    const plan = await planLaunch(config, clock);
    const at = await launch(plan, { config, clock, random: systemRandom(), log: silentLogger(), scrubber: new Scrubber(), ...rest });
    await at.stop();
  };
  return { cwd, store: join(cwd, ".retinue/store.sqlite"), open };
}

const refused = { code: "store_of_other_network", message: `the store belongs to ${HERE}, not to ${THERE}` };

test("used on another network, it is refused by both addresses and its file, and is what it was", async () => {
  const { store, open } = settled();
  await open(HERE);
  await expect(open(THERE)).rejects.toMatchObject({ ...refused, details: { file: store } });
  await expect(open(THERE, { passive: true })).rejects.toMatchObject(refused);
  await open(HERE);
  await open(`${HERE}/`);
  await open("https://HERE.example.com:443");
});

test("a network that has moved takes its store along, on a person's word, once", async () => {
  const { open } = settled();
  await open(HERE);
  await open(THERE, { allowMoved: true });
  await open(THERE);
  await expect(open(HERE)).rejects.toMatchObject({ code: "store_of_other_network" });
});

test("a read-only start may use any network, and does not bind the store to it", async () => {
  const { open } = settled();
  await open(HERE);
  await open(THERE, { passive: true, anyNetwork: true });
  await open(THERE, { writes: "refuse" });
  await expect(open(THERE)).rejects.toMatchObject(refused);
});

test("a network whose address changes each time is told by its name", async () => {
  const { open } = settled();
  await open("http://127.0.0.1:4001/v1", { networkName: "the one in this folder" });
  await open("http://127.0.0.1:4002/v1", { networkName: "the one in this folder" });
  await expect(open("http://127.0.0.1:4002/v1", { networkName: "another" })).rejects.toMatchObject({ code: "store_of_other_network" });
  await expect(open(HERE)).rejects.toMatchObject({ code: "store_of_other_network" });
});

test("check says so too, beside a runtime or not, and leaves nothing behind", async () => {
  const { cwd, store, open } = settled();
  const check = (...args: string[]) => inProcess(["check", ...args], { cwd, env });
  expect((await check("--base-url", THERE)).code).toBe(0); // there is no store yet
  await open(HERE);
  const files = readdirSync(join(cwd, ".retinue"));
  const { code, stdout, stderr } = await check("--base-url", THERE);
  expect(code).toBe(2);
  for (const part of [refused.message, store.slice(cwd.length + 1), "--allow-moved"]) expect(stdout + stderr).toContain(part);
  expect(readdirSync(join(cwd, ".retinue"))).toEqual(files);
  expect((await check("--base-url", HERE)).code).toBe(0);
  expect((await check("--base-url", THERE, "--store", "sqlite:other.sqlite")).code).toBe(0);

  const config = await loadConfig({ cwd, env, flags: { baseUrl: HERE } });
  const plan = await planLaunch(config, clock);
  const live = await launch(plan, { config, clock, random: systemRandom(), log: silentLogger(), scrubber: new Scrubber() });
  expect((await check("--base-url", THERE)).code).toBe(2);
  await live.stop();
});

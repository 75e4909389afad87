/** Models cost a process nothing until the first is asked. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { shippedProfile } from "../../src/contract/profile/profile.ts";
import { systemClock } from "../../src/core/clock.ts";
import { silentLogger } from "../../src/core/log.ts";
import { seededRandom } from "../../src/core/random.ts";
import { Scrubber } from "../../src/core/scrubber.ts";
import { openModels } from "../../src/runtime/open-models.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";

const ROOT = join(import.meta.dirname, "../..");

test("no module of the models, nor of the SDK, is loaded by the package, its doors and a runtime that asks none", () => {
  const script = `
    import { registerHooks } from "node:module";
    const loaded = [];
    registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context); } });
    const { answer } = await import("./src/model.ts");
    await import("./src/index.ts");
    await import("./src/cli/main.ts");
    const { handle, post } = await import("./src/testing.ts");
    await handle({ handle: "a", on: { "post.created": () => {} } }, "post.created", post({ content: "?" }));
    const wanted = loaded.filter((url) => /\\/src\\/model\\/|node_modules\\/(ai|@ai-sdk)\\//.test(url));
    console.log(JSON.stringify({ wanted, some: loaded.length > 100, answer: typeof answer }));`;
  const out = execFileSync(process.execPath, ["--conditions=retinue-source", "--input-type=module", "-e", script], {
    cwd: ROOT,
    encoding: "utf8",
  });
  expect(JSON.parse(out.trim().split("\n").at(-1) ?? "")).toEqual({ wanted: [], some: true, answer: "function" });
});

test("a runtime without settings has no models; one with them waits for nothing and closes", async () => {
  const clock = systemClock();
  const random = seededRandom(1);
  const store = openSqliteStore({ path: ":memory:", clock, random });
  const needs = {
    profile: shippedProfile("b"),
    store,
    clock,
    random,
    scrubber: new Scrubber(),
    log: silentLogger(),
    halt: () => undefined,
  };
  expect(openModels(needs)).toBeUndefined();
  const models = openModels({ ...needs, models: { settings: {}, readKey: () => undefined } });
  expect(models?.waits()).toEqual([]);
  await models?.close();
  await store.close();
});

/** `retinue run` against `retinue network`, as two processes: a rehearsal, the real thing, and a network that goes away. */
import { copyFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { seededRandom } from "../../src/core/random.ts";
import { HOUR } from "../../src/core/units.ts";
import { accent } from "../campaigns/accents/wire/accent.ts";
import { createLocalNetwork } from "../../src/local-network/local-network.ts";
import { retinue } from "../harness/cli.ts";
import { marksOf } from "../campaigns/accents/marks.ts";
import { serveAccent } from "../campaigns/accents/serve.ts";
import { became, folder, resultOf, start, textIn } from "../harness/process.ts";

const CODE = `
import { defineSpecialist } from "retinue";
export default defineSpecialist({
  handle: "talker",
  tier: "pro",
  watch: { feed: { from: "start" } },
  may: ["posts.reply"],
  on: { "post.created": (post, act) => { act.reply(post, "I read " + post.id); } },
});
`;
const WITHHELD = /talker would reply to (\S+): "I read \1"\n/;

test("with the file of the local network as .env: a dry run sends no write, the real one goes on, and a network that is down is said at once", async (context) => {
  const root = folder(context);
  const data = join(root, "network.sqlite");
  mkdirSync(join(root, "agents"));
  writeFileSync(join(root, "agents/talker.ts"), CODE);
  writeFileSync(join(root, "retinue.config.json"), JSON.stringify({ drainMs: HOUR })); // an end that waits for more than answers never comes
  const network = start(context, ["network", "--set", "b", "--data", data], { cwd: root });
  const { keyFile } = await network.saying(({ type }) => type === "started");
  const keys = typeof keyFile === "string" ? keyFile : "";
  expect(statSync(keys).mode & 0o777).toBe(0o600);
  copyFileSync(keys, join(root, ".env"));
  expect((await start(context, ["check", "--strict"], { cwd: root }).ended).code).toBe(0);
  const run = (...args: readonly string[]) => start(context, ["run", ...args], { cwd: root });

  const dry = run("--dry-run");
  const held = await dry.saying((said) => became("refused", "posts.reply")(said) && textIn(said, "code") === "dry_run");
  expect(held).toMatchObject({ input: { content: `I read ${textIn(held, "target")}` }, message: "not sent: this is a dry run" });
  dry.kill("SIGTERM");
  const { withheld, ...summed } = resultOf(await dry.ended);
  expect(summed).toMatchObject({ ok: true, specialists: [{ handle: "talker", actions: {} }] });
  expect(withheld).toEqual({ "posts.reply": dry.said.filter(became("refused", "posts.reply")).length });
  const words = await retinue(["run", "--dry-run"], {
    cwd: root,
    nodeOptions: ["--conditions=retinue-source"],
    until: WITHHELD,
  });
  expect(words.stdout).toMatch(WITHHELD);
  expect(words.stdout).toMatch(/A dry run: nothing was sent. It would have sent \d+ × posts.reply.\n$/);
  const rehearsedUntil = Date.now();

  const first = run();
  await first.saying(became("confirmed", "posts.reply"));
  first.kill("SIGTERM");
  expect((await first.ended).code).toBe(0);
  expect(first.said.filter(({ message }) => message === "stopped before all answers had come")).toEqual([]);
  const second = run();
  await second.saying(became("confirmed", "posts.reply"));
  second.kill("SIGTERM");
  expect((await second.ended).code).toBe(0);

  network.kill("SIGTERM");
  expect((await network.ended).code).toBe(0);
  const late = await run().ended;
  expect(late.code).toBe(1);
  expect(resultOf(late)).toMatchObject({ error: { code: "network_unreachable" } });

  const kept = createLocalNetwork({ clock: systemClock(), random: seededRandom(7), data });
  try {
    const replies = kept.truth.effects({ agent: "talker" });
    expect(replies.length).toBeGreaterThan(0);
    expect(replies.filter(({ at }) => at < rehearsedUntil)).toEqual([]);
    expect(new Set(replies.map(({ target }) => target)).size).toBe(replies.length);
    expect(kept.truth.overLimit()).toEqual([]);
  } finally {
    await kept.stop();
  }
});

test("a network that speaks in an accent is joined with its documentation, the doctor and nothing else", async (context) => {
  const root = folder(context);
  mkdirSync(join(root, "agents"));
  writeFileSync(join(root, "agents/talker.ts"), CODE);
  const served = await serveAccent({ seed: "138", set: "b", port: 0, data: join(root, "network.sqlite"), handle: "talker" });
  context.onTestFinished(served.close);
  copyFileSync(served.keyFile, join(root, ".env"));
  const documented: unknown = JSON.parse(readFileSync(served.documentation, "utf8"));
  expect(documented).toEqual(JSON.parse(JSON.stringify(accent("138").documented.b)));
  // What a person copies out of it.
  writeFileSync(join(root, "profile.yaml"), JSON.stringify(marksOf(accent("138"), "b")));
  const run = (...args: readonly string[]) =>
    start(context, [...args, "--base-url", served.baseUrl, "--profile", "profile.yaml"], { cwd: root });
  expect((await run("doctor", "--write", "profile.yaml").ended).code).toBe(0);
  const running = run("run");
  await running.saying(became("confirmed", "posts.reply"));
  running.kill("SIGTERM");
  expect((await running.ended).code).toBe(0);
});

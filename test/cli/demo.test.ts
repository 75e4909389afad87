/** `retinue demo` as people run it: real processes, real HTTP, real time; judged by the network's own log. */
import { copyFileSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { isObject, type JsonObject } from "../../src/core/json.ts";
import { seededRandom } from "../../src/core/random.ts";
import { HOUR } from "../../src/core/units.ts";
import type { LocalNetwork } from "../../src/local-network/options.ts";
import { createLocalNetwork } from "../../src/local-network/local-network.ts";
import { became, folder, resultOf, start, textIn, type Ended, type Process } from "../harness/process.ts";

const number = expect.any(Number);
/** One run a second fails, and an alert would leave 5 s after the start. */
const RUNS_UNTIL_ALERTED = 12;

/** Three lives of a demo: 20 s in all, some times that beside other work, and a minute for an action that a kill left in doubt. */
const LIVES_MS = 240_000;

/** States of a job that is over. */
const DONE: readonly string[] = ["accepted", "paid"];
const LOST: readonly string[] = ["rejected", "expired", "cancelled"];

type Fits = (said: JsonObject) => boolean;

/** Fits from the n-th on. */
function nth(count: number, fits: Fits): Fits {
  let seen = 0;
  return (said) => fits(said) && ++seen >= count;
}

const job =
  (...states: readonly string[]): Fits =>
  (said) =>
    said["type"] === "job" && states.includes(textIn(said, "state"));

function asked(process: Process): Promise<Ended> {
  process.kill("SIGTERM");
  return process.ended;
}

/** The data of a network whose process is gone, to be read without a change of it. */
function copyOf(data: string, to: string): string {
  for (const name of readdirSync(dirname(data)))
    if (name.startsWith(basename(data))) copyFileSync(join(dirname(data), name), join(to, name));
  return join(to, basename(data));
}

/** Reads what a network kept, after its process is gone. */
async function judged<Verdict>(data: string, judge: (network: LocalNetwork) => Verdict): Promise<Verdict> {
  const network = createLocalNetwork({ clock: systemClock(), random: seededRandom(7), data });
  try {
    return judge(network);
  } finally {
    await network.stop();
  }
}

describe("the demo", () => {
  test.concurrent.for(["a", "b"] as const)(
    "earns money on Set %s, within every limit, and says what came of it as one object",
    async (set, context) => {
      const root = folder(context);
      writeFileSync(join(root, "retinue.config.json"), JSON.stringify({ drainMs: HOUR })); // an end that waits for more than answers never comes
      const demo = start(context, ["demo", "--set", set], { cwd: root, env: { TMPDIR: root } });
      await demo.saying(nth(5, became("confirmed", "jobs.submit")));
      await demo.saying(job(...DONE));
      const ended = await asked(demo);
      expect(ended.code).toBe(0);
      expect(demo.strays).toEqual([]);
      const result = resultOf(ended);
      expect(result).toMatchObject({
        version: expect.any(String),
        command: "demo",
        ok: true,
        jobs: { seen: number, applied: number, assigned: number, delivered: number, accepted: number, rejected: 0, paid: number },
        network: { requests: number, refused429: 0 },
      });
      const window = { used: number, limit: number };
      for (const specialist of Array.isArray(result["specialists"]) ? result["specialists"] : [undefined])
        expect(specialist).toMatchObject({
          handle: expect.any(String),
          set,
          tier: expect.stringMatching(/^(free|pro)$/),
          actions: expect.any(Object),
          quota: { hour: window, day: window },
          spent: { credits: number },
        });
      const { jobs } = result;
      expect(isObject(jobs) && Number(jobs["accepted"])).toBeGreaterThan(0);
      expect(readdirSync(root).filter((name) => name.startsWith("retinue-"))).toEqual([]); // its temporary folder is gone
    },
  );

  test.concurrent("opens a console of its own, whatever the variables of a real one say", async (context) => {
    const env = { TMPDIR: folder(context), RETINUE_CONSOLE_PORT: "1", RETINUE_CONSOLE_TOKEN: "the-token-of-a-real-one" };
    const demo = start(context, ["demo"], { env });
    const url = textIn(await demo.saying(({ type }) => type === "console"), "url");
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    const refused = await fetch(`${url}/api/needs`, { headers: { authorization: "Bearer the-token-of-a-real-one" } });
    expect(refused.status).toBe(401);
    expect((await asked(demo)).code).toBe(0);
  });

  test.concurrent("tells nobody of what happens in it, whoever the project's alerts name", async (context) => {
    const touch = `require("node:fs").writeFileSync("alerted", "")`;
    const root = folder(context);
    mkdirSync(join(root, "agents"));
    writeFileSync(join(root, "retinue.config.json"), JSON.stringify({ alerts: { to: [{ command: [process.execPath, "-e", touch] }] } }));
    writeFileSync(
      join(root, "agents/broken.js"),
      `import { defineSpecialist } from "retinue";
       export default defineSpecialist({ handle: "broken", tier: "pro", may: [], schedules: { now: { every: "1s", run() { throw new Error("no"); } } } });`,
    );
    const demo = start(context, ["demo"], { cwd: root, env: { TMPDIR: folder(context) } });
    await demo.saying(nth(RUNS_UNTIL_ALERTED, (said) => said["type"] === "run" && said["result"] === "failed"));
    expect((await asked(demo)).code).toBe(0);
    expect(existsSync(join(root, "alerted"))).toBe(false);
  });

  test.concurrent("killed and started again, it repeats nothing and loses no job", { timeout: LIVES_MS }, async (context) => {
    const root = folder(context);
    const data = join(root, "network.sqlite");
    const args = ["demo", "--data", data, "--store", `sqlite:${join(root, "store.sqlite")}`];
    for (const enough of [3, 8]) {
      const demo = start(context, args);
      await demo.saying(nth(enough, became("confirmed", "posts.reply", "jobs.apply", "jobs.submit")));
      const before = demo.said.length;
      await demo.saying((said) => job("assigned")(said) && demo.said.indexOf(said) >= before); // a job that is owed at the kill
      demo.kill("SIGKILL");
      expect((await demo.ended).signal).toBe("SIGKILL");
    }
    const taken = await judged(copyOf(data, folder(context)), (network) =>
      network.jobs().filter(({ assigneeId }) => network.specialists().some(({ id }) => id === assigneeId)),
    );
    expect(taken.length).toBeGreaterThan(0);
    const last = start(context, args);
    await last.saying(became("confirmed", "posts.reply"));
    for (const { id, status } of taken)
      if (!DONE.includes(status)) await last.saying((said) => job(...DONE, ...LOST)(said) && said["job"] === id);
    expect((await asked(last)).code).toBe(0);
    const verdict = await judged(data, (network) => ({
      doubled: network.truth.duplicates(),
      overLimit: network.truth.overLimit(),
      refused: network.summary().network.refused429,
      lost: network.jobs().filter(({ id, status }) => taken.some((one) => one.id === id) && !DONE.includes(status)),
      replies: network.truth.effects({ operation: "posts.reply" }).map(({ agent, target }) => `${agent} ${target}`),
    }));
    expect(verdict).toMatchObject({ doubled: [], overLimit: [], refused: 0, lost: [] });
    const own = verdict.replies.filter((reply) => reply.startsWith("welcomer "));
    expect(new Set(own).size).toBe(own.length);
  });

  test.concurrent("asked to end, through npm, it drains and sums up", async (context) => {
    const demo = start(context, [], { npm: true });
    await demo.saying(became("confirmed", "posts.reply", "jobs.apply", "posts.vote"));
    expect(resultOf(await asked(demo))).toMatchObject({ command: "demo", ok: true });
    expect(demo.said.some(({ type }) => type === "stopping")).toBe(true);
    expect(demo.said.filter(({ message }) => message === "stopped before all answers had come")).toEqual([]);
  });

  test.concurrent("the remains of a kill do not keep it from starting", async (context) => {
    const root = folder(context);
    const store = join(root, "store.sqlite");
    const args = ["demo", "--data", join(root, "network.sqlite"), "--store", `sqlite:${store}`];
    const first = start(context, args);
    await first.saying(({ type }) => type === "started");
    first.kill("SIGKILL");
    await first.ended;
    expect(existsSync(join(root, "network-keys.env"))).toBe(true);
    const second = start(context, args);
    await second.saying(({ type }) => type === "started");
    expect((await asked(second)).code).toBe(0);
  });
});

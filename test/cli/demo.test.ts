/** `retinue demo` as people run it: real processes, real HTTP, real time; judged by the network's own log. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { isObject } from "../../src/core/json.ts";
import { seededRandom } from "../../src/core/random.ts";
import { SECOND } from "../../src/core/units.ts";
import type { LocalNetwork } from "../../src/local-network/options.ts";
import { createLocalNetwork } from "../../src/local-network/local-network.ts";
import { became, folder, resultOf, start, textIn } from "../harness/process.ts";

const LONG_MS = 60 * SECOND;
const number = expect.any(Number);

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
    { timeout: LONG_MS },
    async (set, context) => {
      const root = folder(context);
      const demo = start(context, ["demo", "--for", "12s", "--set", set], { env: { TMPDIR: root } });
      const ended = await demo.ended;
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

  test.concurrent("opens a console of its own, whatever the variables of a real one say", { timeout: LONG_MS }, async (context) => {
    const env = { TMPDIR: folder(context), RETINUE_CONSOLE_PORT: "1", RETINUE_CONSOLE_TOKEN: "the-token-of-a-real-one" };
    const demo = start(context, ["demo", "--for", "3s"], { env });
    const url = textIn(await demo.saying(({ type }) => type === "console"), "url");
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    const refused = await fetch(`${url}/api/needs`, { headers: { authorization: "Bearer the-token-of-a-real-one" } });
    expect(refused.status).toBe(401);
    expect((await demo.ended).code).toBe(0);
  });

  test.concurrent("tells nobody of what happens in it, whoever the project's alerts name", { timeout: LONG_MS }, async (context) => {
    const touch = `require("node:fs").writeFileSync("alerted", "")`;
    const root = folder(context);
    mkdirSync(join(root, "agents"));
    writeFileSync(join(root, "retinue.config.json"), JSON.stringify({ alerts: { to: [{ command: [process.execPath, "-e", touch] }] } }));
    writeFileSync(
      join(root, "agents/broken.js"),
      `import { defineSpecialist } from "retinue";
       export default defineSpecialist({ handle: "broken", tier: "pro", may: [], schedules: { now: { every: "1s", run() { throw new Error("no"); } } } });`,
    );
    const demo = start(context, ["demo", "--for", "12s"], { cwd: root, env: { TMPDIR: folder(context) } });
    await demo.saying((said) => said["type"] === "run" && said["result"] === "failed");
    expect((await demo.ended).code).toBe(0);
    expect(existsSync(join(root, "alerted"))).toBe(false);
  });

  test.concurrent("killed and started again, it repeats nothing and loses no job", { timeout: LONG_MS }, async (context) => {
    const root = folder(context);
    const data = join(root, "network.sqlite");
    const args = ["demo", "--data", data, "--store", `sqlite:${join(root, "store.sqlite")}`];
    const killedAt: number[] = [];
    for (const enough of [3, 8]) {
      const demo = start(context, args);
      let count = 0;
      await demo.saying((said) => became("confirmed", "posts.reply", "jobs.apply", "jobs.submit")(said) && ++count >= enough);
      demo.kill("SIGKILL");
      expect((await demo.ended).signal).toBe("SIGKILL");
      killedAt.push(Date.now());
    }
    const last = start(context, [...args, "--for", "8s"]);
    expect((await last.ended).code).toBe(0);
    const verdict = await judged(data, (network) => ({
      doubled: network.truth.duplicates(),
      overLimit: network.truth.overLimit(),
      refused: network.summary().network.refused429,
      owed: network.jobs().filter(({ assigneeId, assignedAt, status }) => {
        const ours = network.specialists().some(({ id }) => id === assigneeId);
        return (
          ours &&
          (assignedAt ?? Infinity) < (killedAt.at(-1) ?? 0) &&
          (status === "assigned" || status === "expired" || status === "rejected")
        );
      }),
      replies: network.truth.effects({ operation: "posts.reply" }).map(({ agent, target }) => `${agent} ${target}`),
      taken: network.jobs().filter(({ assignedAt }) => (assignedAt ?? Infinity) < (killedAt.at(-1) ?? 0)).length,
    }));
    expect(verdict).toMatchObject({ doubled: [], overLimit: [], refused: 0, owed: [] });
    expect(verdict.taken).toBeGreaterThan(0);
    const own = verdict.replies.filter((reply) => reply.startsWith("welcomer "));
    expect(new Set(own).size).toBe(own.length);
  });

  test.concurrent("asked to end, through npm, it drains and sums up", { timeout: LONG_MS }, async (context) => {
    const demo = start(context, [], { npm: true });
    await demo.saying(became("confirmed", "posts.reply", "jobs.apply", "posts.vote"));
    demo.kill("SIGTERM");
    const ended = await demo.ended;
    expect(resultOf(ended)).toMatchObject({ command: "demo", ok: true });
    expect(ended.tookMs).toBeLessThan(4 * SECOND); // about 1 s where nothing else wants the machine
    expect(demo.said.some(({ type }) => type === "stopping")).toBe(true);
  });

  test.concurrent("the remains of a kill do not keep it from starting", { timeout: LONG_MS }, async (context) => {
    const root = folder(context);
    const store = join(root, "store.sqlite");
    const args = ["demo", "--data", join(root, "network.sqlite"), "--store", `sqlite:${store}`];
    const first = start(context, args);
    await first.saying(({ type }) => type === "started");
    first.kill("SIGKILL");
    await first.ended;
    expect(existsSync(join(root, "network-keys.env"))).toBe(true);
    const second = start(context, [...args, "--for", "1s"]);
    expect((await second.ended).code).toBe(0);
  });
});

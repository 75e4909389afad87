/** P5, obedience on a disk that takes no writes: orders and questions of a person, with the real commands. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, type TestContext } from "vitest";
import { SECOND } from "../../../src/core/units.ts";
import { isObject, parseJson, type JsonObject } from "../../../src/core/json.ts";
import { start, textIn, type Ended, type Process } from "../../harness/process.ts";
import { runLab, type RunLab } from "../../harness/run-command.ts";
import { canMake, smallDisk, type Breakdown, type SmallDisk } from "../../harness/small-disk.ts";

const LONG_MS = 120 * SECOND;
const scout = (every: string): string => `
import { defineSpecialist } from "retinue";
export default defineSpecialist({
  handle: "scout",
  tier: "pro",
  may: ["posts.create"],
  schedules: { notes: { every: "${every}", run: (act) => void act.post("note " + act.now) } },
});
`;
/** Long enough for a halt to come before the next write. */
const QUIET = "15s";
const KINDS: readonly Breakdown[] = ["full", "read-only"];
const REASON: { readonly [kind in Breakdown]: RegExp } = { full: /full/, "read-only": /read-only|I\/O/i };
const QUESTIONS = [["status"], ["log"], ["why", "scout"], ["deliveries"]] as const;

interface Broken {
  readonly lab: RunLab;
  readonly disk: SmallDisk;
  readonly run: Process;
  /** A command on this disk, and its one object. */
  ask(...words: readonly string[]): Promise<Ended & { readonly result: JsonObject }>;
}

/** A process that posts so often and writes nothing else, and its disk. */
async function running(context: TestContext, kind: Breakdown, every: string): Promise<Broken> {
  const lab = await runLab(context, scout(every));
  const disk = await smallDisk(context, lab.root, kind);
  const store = join(disk.path, "store.sqlite");
  const run = lab.run({ store, under: disk.under });
  await run.saying(({ type }) => type === "started");
  const ask: Broken["ask"] = async (...words) => {
    const ended = await start(context, [...words, "--store", `sqlite:${store}`], { cwd: lab.root, under: disk.under }).ended;
    const result = parseJson(ended.stdout);
    return { ...ended, result: isObject(result) ? result : {} };
  };
  await expect.poll(async () => (await ask("status")).result["running"], { timeout: LONG_MS }).toBeDefined();
  return { lab, disk, run, ask };
}

const staysUp = (said: JsonObject): boolean => said["type"] === "log" && textIn(said, "message").includes("the process stays up");

describe.each(KINDS)("a disk that is %s", (kind) => {
  const can = canMake(kind);

  test.runIf(can)("a halt of the running process holds in memory, and says that it is not kept", { timeout: LONG_MS }, async (context) => {
    const { lab, disk, run, ask } = await running(context, kind, QUIET);
    disk.breakDown();
    const halt = await ask("halt", "--reason", "wrong words");
    expect(halt.code).toBe(1);
    expect(halt.result).toMatchObject({ ok: false, message: "halted: no specialist writes", error: { code: "halt_not_kept" } });
    expect(JSON.stringify(halt.result["error"])).toContain("it holds while process");
    const then = lab.effects("posts.create").length;
    await run.saying(staysUp);

    const answers = await Promise.all(QUESTIONS.map(async (question) => ({ question, ...(await ask(...question)) })));
    expect(answers).toMatchObject(QUESTIONS.map((question) => ({ question, code: 0 })));
    const { result: status } = await ask("status");
    expect(status).toMatchObject({ halts: [{ scope: "*", reason: "wrong words", kept: false }] });
    expect(status).toHaveProperty("storeLost.message");
    const { result: why } = await ask("why", "scout");
    expect(why["reasons"]).toMatchObject([{ rule: "store_lost" }, { rule: "halted", message: "halted: wrong words" }]);
    expect((await ask("pause")).result).toMatchObject({ error: { code: "store_lost" } });
    expect((await ask("halt", "--lift")).result).toMatchObject({ error: { code: "store_lost" } });
    expect(lab.effects("posts.create")).toHaveLength(then);

    run.kill("SIGTERM");
    expect((await run.ended).code).toBe(1);
    expect(lab.effects("posts.create")).toHaveLength(then);
  });

  test.runIf(can)(
    "without a process questions are answered, and an order says that it is not stored",
    { timeout: LONG_MS },
    async (context) => {
      const { lab, disk, run, ask } = await running(context, kind, "1s");
      disk.breakDown();
      expect((await run.ended).code).toBe(1);
      disk.breakDown();
      const files = readdirSync(disk.seen).toSorted();
      const { code, result } = await ask("halt");
      expect(code).toBe(1);
      expect(result).toMatchObject({ error: { code: "halt_not_stored" } });
      const error = isObject(result["error"]) ? result["error"] : {};
      expect(textIn(error, "message")).toMatch(REASON[kind]);
      expect(textIn(error, "hint")).toContain("nothing runs on this store now");
      for (const question of QUESTIONS) expect({ question, ...(await ask(...question)) }).toMatchObject({ question, code: 0 });
      const { result: status } = await ask("status");
      expect(status).toMatchObject({ specialists: [{ handle: "scout" }] });
      expect((await ask("pause")).result).toMatchObject({ error: { code: "store_unwritable" } });
      // A service manager restarts after 1: there may be room by then.
      expect(await lab.run({ store: join(disk.path, "store.sqlite"), under: disk.under }).ended).toMatchObject({ code: 1 });
      expect(readdirSync(disk.seen).toSorted()).toEqual(files);
    },
  );
});

test.runIf(canMake("full"))(
  "a halt on a full disk is stored as the process ends, if there is room by then, and the next start obeys it",
  { timeout: LONG_MS },
  async (context) => {
    const { lab, disk, run, ask } = await running(context, "full", QUIET);
    disk.breakDown();
    expect((await ask("halt", "--reason", "wrong words")).code).toBe(1);
    await run.saying(staysUp);
    disk.free();
    run.kill("SIGTERM");
    expect((await run.ended).code).toBe(1);
    const then = lab.effects("posts.create").length;

    const { result } = await ask("status");
    expect(result["halts"]).toMatchObject([{ scope: "*", reason: "wrong words" }]);
    const second = lab.run({ store: join(disk.path, "store.sqlite"), under: disk.under });
    await second.saying(({ type, rule }) => type === "wait" && rule === "halted");
    expect(lab.effects("posts.create")).toHaveLength(then);
  },
);

/** Disks that fill up or fail: nothing is sent that is not written down, and it is said once. */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { became } from "../../harness/process.ts";
import { runLab } from "../../harness/run-command.ts";
import { canMake, smallDisk } from "../../harness/small-disk.ts";

const SCOUT = `
import { defineSpecialist } from "retinue";
export default defineSpecialist({
  handle: "scout",
  tier: "pro",
  may: ["posts.create"],
  schedules: {
    notes: {
      every: "1s",
      run: (act) => {
        act.state = { at: act.now, weight: "x".repeat(50_000) };
        for (const part of ["one", "two", "three"]) act.post("note " + part + " of " + act.now);
      },
    },
  },
});
`;

const canTrace =
  process.platform === "linux" && spawnSync("strace", ["-o", "/dev/null", "-e", "inject=sync:error=EIO", "true"]).status === 0;

const posted = became("confirmed", "posts.create");
const lost = ({ type, code, fields }: JsonObject): boolean =>
  type === "log" && (code === "store_lost" || JSON.stringify(fields ?? {}).includes("store_lost"));

describe("a disk that is full", () => {
  test.runIf(canMake("full"))("ends the run with a reason; with room again it goes on, and nothing is said twice", async (context) => {
    const lab = await runLab(context, SCOUT);
    const disk = await smallDisk(context, lab.root);
    const store = join(disk.path, "store.sqlite");
    const append = `process.stdin.on("data", (text) => require("node:fs").appendFileSync("alerts", text))`;
    writeFileSync(
      join(lab.root, "retinue.config.json"),
      JSON.stringify({ alerts: { to: [{ command: [process.execPath, "-e", append] }] } }),
    );
    const first = lab.run({ store, under: disk.under });
    await first.saying(posted);
    disk.breakDown();
    const { code, stdout } = await first.ended;
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: "store_lost" } });
    expect(first.said.filter(lost)).toHaveLength(1);
    expect(first.strays).toEqual([]);
    expect(readFileSync(join(lab.root, "alerts"), "utf8")).toContain('"kind":"store_lost"'); // told before the process ended
    const then = lab.effects("posts.create").length;

    disk.free();
    const second = lab.run({ store, under: disk.under });
    await expect.poll(() => lab.effects("posts.create").length).toBeGreaterThan(then + 3);
    second.kill("SIGTERM");
    expect((await second.ended).code).toBe(0);
    expect(lab.network.truth.duplicates({ agent: "scout" })).toEqual([]);
  });
});

describe("a disk that fails to keep what it was given", () => {
  test.runIf(canTrace)("ends the run with a reason, and nothing is said twice afterwards", async (context) => {
    const lab = await runLab(context, SCOUT);
    const under = "strace -D -f -o /dev/null -e trace=fsync,fdatasync -e inject=fsync,fdatasync:error=EIO:when=16+".split(" ");
    const first = lab.run({ under });
    expect((await first.ended).code).toBe(1);
    expect(first.said.filter(lost)).toHaveLength(1);
    const then = lab.effects("posts.create").length;

    const second = lab.run();
    await expect.poll(() => lab.effects("posts.create").length).toBeGreaterThan(then + 3);
    second.kill("SIGTERM");
    expect((await second.ended).code).toBe(0);
    expect(lab.network.truth.duplicates({ agent: "scout" })).toEqual([]);
  });
});

/** kill -9 at any moment under load: counts never shrink, books always balance, caps always hold. Real process, real file. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, expect, test } from "vitest";
import { parseJson, isObject } from "../../../src/core/json.ts";
import { seededRandom } from "../../../src/core/random.ts";
import { credits } from "../../../src/core/units.ts";
import { quotaUse } from "../../../src/limits/quota.ts";
import { KEY, openTables } from "../../harness/limit-tables.ts";

const ROUNDS = Number(process.env["RETINUE_TEST_KILLS"] ?? 5);
const folder = mkdtempSync(join(tmpdir(), "limits-kill-"));
afterAll(() => rmSync(folder, { recursive: true }));

interface Said {
  readonly used: number;
  readonly now: number;
}

/** Runs the worker and kills it after it said `lines` things and a little more; returns the last thing it said. */
function runAndKill(file: string, seed: number, start: number, lines: number): Promise<Said> {
  return new Promise((resolve, reject) => {
    const worker = spawn(process.execPath, [join(import.meta.dirname, "../../harness/kill-worker.ts"), file, String(seed), String(start)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let last: Said | undefined;
    let heard = 0;
    createInterface({ input: worker.stdout }).on("line", (line) => {
      const said = parseJson(line);
      if (isObject(said)) last = { used: Number(said["used"]), now: Number(said["now"]) };
      if (++heard === lines) worker.kill("SIGKILL");
    });
    worker.on("close", (code, signal) =>
      signal === "SIGKILL" && last !== undefined ? resolve(last) : reject(new Error(`the worker ended by itself with ${code}`)),
    );
  });
}

test(`over ${ROUNDS} kills nothing is uncounted, unbalanced or overspent`, { timeout: 120_000 + ROUNDS * 1_500 }, async () => {
  const file = join(folder, "store.sqlite");
  const random = seededRandom(9);
  let now = Date.UTC(2026, 2, 1);
  for (let round = 0; round < ROUNDS; round++) {
    const said = await runAndKill(file, round, now, 1 + random.int(30));
    now = said.now;
    const tables = openTables("Europe/Berlin", file);
    try {
      expect(quotaUse(tables.quota.load(KEY), now).day.used).toBeGreaterThanOrEqual(said.used);
      expect(tables.spending.audit()).toEqual([]);
      for (const { held, posted } of tables.spending.balances()) expect(held + posted).toBeLessThanOrEqual(credits(400).micros);
      const held = Number(tables.db.prepare("SELECT coalesce(sum(amount), 0) AS n FROM hold WHERE state = 'open'").get()?.["n"]);
      expect(tables.spending.balances().every((balance) => balance.held === held)).toBe(true);
    } finally {
      tables.close();
    }
  }
});

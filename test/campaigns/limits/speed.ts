/** How fast admissions are: `node test/campaigns/limits/speed.ts [folder for the database]`. Pure, then with SQLite on disk in grouped commits. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TIER_LIMITS } from "../../../src/contract/tiers.ts";
import { asKeyId } from "../../../src/core/ids.ts";
import { seededRandom } from "../../../src/core/random.ts";
import { charge, newQuota, completeAttempt, takeable } from "../../../src/limits/quota.ts";
import { GUARDIAN } from "../../../src/limits/spending.ts";
import { cap, KEY, openTables, priced } from "../../harness/limit-tables.ts";

const T0 = Date.UTC(2026, 2, 1);
const PRO = TIER_LIMITS.pro;
const GROUP = 64;
const LANES = ["reply", "poll", "act"] as const;

function show(name: string, count: number, ms: number): void {
  process.stdout.write(
    `${name.padEnd(58)} ${Math.round((count / ms) * 1_000)
      .toLocaleString("en")
      .padStart(10)}/s\n`,
  );
}

function pure(): void {
  const state = newQuota(PRO);
  const random = seededRandom(1);
  const rounds = 500_000;
  let admitted = 0;
  const began = performance.now();
  for (let i = 0; i < rounds; i++) {
    const now = T0 + i * 900;
    const lane = random.pick(LANES);
    if (!takeable(state, now, { lane, cost: 1, obligations: 2 }).ok) continue;
    charge(state, now, lane, 1);
    completeAttempt(state, now + 100, lane, 1, { answered: true });
    admitted++;
  }
  show(`pure: admit and settle (${admitted} admitted)`, rounds, performance.now() - began);
}

function sqlite(name: string, paid: boolean, keys: number, history: number): void {
  const folder = mkdtempSync(join(process.argv[2] ?? tmpdir(), "limits-"));
  const tables = openTables("Europe/Berlin", join(folder, "store.sqlite"));
  try {
    const ids = Array.from({ length: keys }, (_, i) => asKeyId(`${KEY}-${i}`));
    for (const key of ids) tables.quota.register(key, { perHour: 1e6, perDay: 1e6 });
    if (history > 0) fill(tables.db, history);
    // The first rounds make the log file grow, which is the file system's time, not ours.
    const rounds = 20_000;
    let began = 0;
    for (let i = -rounds; i < rounds; i += GROUP) {
      if (i < 0) began = performance.now();
      const now = T0 + i * 20;
      tables.db.exec("BEGIN IMMEDIATE");
      const open = Array.from({ length: GROUP }, (_, j) => {
        const money = paid ? { price: priced(), intent: `i${i + j}`, caps: [cap(GUARDIAN, "day", 1e6)] } : {};
        return tables.admit({ now, key: ids[(i + rounds + j) % keys] ?? KEY, lane: "reply", ...money }).attempt;
      });
      tables.db.exec("COMMIT");
      tables.db.exec("BEGIN IMMEDIATE");
      for (const [j, attempt] of open.entries()) {
        tables.end(attempt ?? 0, { now: now + 10 });
        if (paid) tables.spending.settle(`i${i + j}`, 1, now + 10);
      }
      tables.db.exec("COMMIT");
    }
    show(name, rounds, performance.now() - began);
  } finally {
    tables.close();
    rmSync(folder, { recursive: true });
  }
}

function fill(db: ReturnType<typeof openTables>["db"], attempts: number): void {
  db.exec(`
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${attempts})
    INSERT INTO request (key_id, lane, cost, started_at, deadline_at, ended_at)
    SELECT 'key-' || (i % 100), 'reply', 1, i, i, i FROM n`);
}

pure();
sqlite("sqlite, fsync, groups of 64: admit, commit, settle, commit", false, 100, 0);
sqlite("the same on one key", false, 1, 0);
sqlite("the same with 1,000,000 attempts in the store", false, 100, 1_000_000);
sqlite("the same with money held and settled on two accounts", true, 100, 0);

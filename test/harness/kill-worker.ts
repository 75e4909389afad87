/** Admits, holds and settles on a file until it is killed; says after each commit what it has committed. Run by kill.test.ts. */
import { writeSync } from "node:fs";
import { seededRandom } from "../../src/core/random.ts";
import { credits, SECOND } from "../../src/core/units.ts";
import { quotaUse } from "../../src/limits/quota.ts";
import { GUARDIAN } from "../../src/limits/spending.ts";
import { cap, KEY, openTables, priced } from "./limit-tables.ts";

const [file = "", seed = "0", start = "0"] = process.argv.slice(2);
const random = seededRandom(Number(seed));
const tables = openTables("Europe/Berlin", file);
let now = Number(start);
let intents = 0;

tables.quota.register(KEY, { perHour: 5_000, perDay: 5_000 });
tables.quota.recoverOpen(now, () => undefined);
tables.quota.flush();
tables.db.exec(`UPDATE request SET ended_at = ${now} WHERE ended_at IS NULL`);

const open: { readonly attempt: number; readonly intent: string }[] = [];
for (;;) {
  now += random.int(2 * SECOND);
  tables.db.exec("BEGIN IMMEDIATE");
  for (let i = 0; i < 16; i++) {
    const intent = `i${seed}-${intents++}`;
    const { attempt } = tables.admit({ now, intent, price: priced(), caps: [cap(GUARDIAN, "total", 400)] });
    if (attempt !== undefined) open.push({ attempt, intent });
  }
  for (const { attempt, intent } of open.splice(0, random.int(open.length + 1))) {
    tables.end(attempt, { now, ending: random.pick(["answered", "lost"]) });
    tables.spending.settle(intent, random.pick([0, credits(1).micros, Number.NaN]), now);
  }
  tables.db.exec("COMMIT");
  const { used } = quotaUse(tables.quota.load(KEY), now).day;
  // Written at once: what the parent has read was committed.
  writeSync(1, `${JSON.stringify({ used, now })}\n`);
}

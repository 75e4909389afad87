/** `npm run bench -- [suite…]`: measures, prints, keeps the figures, updates docs/benchmarks.md. `guard` compares with the baseline. */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { guard, keepBaseline } from "./harness/guard.ts";
import { describeMachine } from "./harness/machine.ts";
import { printResult, saveResult, updatePage, type Taken } from "./harness/report.ts";
import type { Suite } from "./harness/suite.ts";

/** In the order of docs/benchmarks.md. Loaded when they run: their peers may not be installed. */
const SUITES: Readonly<Record<string, () => Promise<{ readonly suite: Suite }>>> = {
  effect: () => import("./suites/effect.ts"),
  webhooks: () => import("./suites/webhooks.ts"),
  quota: () => import("./suites/quota.ts"),
  discovery: () => import("./suites/discovery.ts"),
  jobs: () => import("./suites/jobs.ts"),
  client: () => import("./suites/client.ts"),
  duplicates: () => import("./suites/duplicates.ts"),
  crowd: () => import("./suites/crowd.ts"),
  start: () => import("./suites/start.ts"),
  admission: () => import("./suites/admission.ts"),
  growth: () => import("./suites/growth.ts"),
  developers: () => import("./suites/developers.ts"),
  console: () => import("./suites/console.ts"),
  fleet: () => import("./suites/fleet.ts"),
  "fleet-crowd": () => import("./suites/fleet-crowd.ts"),
  "fleet-size": () => import("./suites/fleet-size.ts"),
  sprayed: () => import("./suites/sprayed.ts"),
  takeover: () => import("./suites/takeover.ts"),
};

const DEFAULT_RUNS = 3;

const HELP = `npm run bench -- [suite…] [options]

Suites: ${Object.keys(SUITES).join(", ")}; all of them where none is named.
  guard [suite…]    runs the suites the baseline was taken of, or those named, compares ratios with bench/baseline.json,
                    fails where one fell by more than 15 %
  --quick           small counts, to see that it works: the figures are worth nothing and are not kept
  --runs <n>        repetitions, default 3; what each suite makes of them stands above its table
  --only <text>     contenders whose name holds this; the figures are not kept
  --folder <path>   where databases go, default the system's temporary folder
  --baseline        also keeps the ratios in bench/baseline.json, for the guard

The peers are installed once: npm ci --prefix bench`;

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      quick: { type: "boolean", default: false },
      runs: { type: "string" },
      only: { type: "string" },
      folder: { type: "string", default: tmpdir() },
      baseline: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  const guarding = positionals[0] === "guard";
  const names = guarding ? guard.suites(positionals.slice(1)) : positionals.length > 0 ? positionals : Object.keys(SUITES);
  const partial = values.quick || values.only !== undefined;
  if (partial && (guarding || values.baseline)) throw new Error("--quick and --only give no ratios to guard or to keep: leave them out");
  if (guarding && values.baseline) throw new Error("guard compares with the baseline, --baseline replaces it: one at a time");
  const unknown = names.find((name) => SUITES[name] === undefined);
  if (values.help || unknown !== undefined) {
    console.log(unknown === undefined ? HELP : `there is no suite "${unknown}"\n\n${HELP}`);
    return values.help ? 0 : 2;
  }
  const asked = values.runs === undefined ? undefined : Number(values.runs);
  if (asked !== undefined && (!Number.isSafeInteger(asked) || asked < 1 || asked > 100))
    throw new Error(`--runs: expected 1 to 100, got ${values.runs}`);
  const kept = !partial && !guarding;
  let failed = false;
  for (const name of names) {
    const runs = guarding ? guard.runs(name, asked) : (asked ?? DEFAULT_RUNS);
    const taken = await take(name, { ...values, runs });
    printResult(taken);
    if (kept) saveResult(taken);
    if (kept) updatePage(taken);
    if (values.baseline && !keepBaseline(name, { runs, ratios: taken.result.ratios })) console.log(`${name} has no ratios to guard`);
    if (guarding) failed = !guard.holds(name, taken.result.ratios) || failed;
  }
  return failed ? 1 : 0;
}

async function take(
  name: string,
  options: { readonly quick: boolean; readonly runs: number; readonly only?: string | undefined; readonly folder: string },
): Promise<Taken> {
  const { suite } = (await SUITES[name]?.()) ?? {};
  if (suite === undefined) throw new Error(`there is no suite "${name}"`);
  const folder = mkdtempSync(join(options.folder, "retinue-bench-"));
  chmodSync(folder, 0o755);
  const machine = describeMachine();
  const at = new Date().toISOString();
  try {
    const result = await suite.run({
      quick: options.quick,
      runs: options.runs,
      only: options.only,
      folder,
      progress: (line) => process.stderr.write(`${suite.name}: ${line}\n`),
    });
    return { suite, result, machine, at, runs: options.runs };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

process.exitCode = await main();

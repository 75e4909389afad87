/**
 * `npm run crash -- [kills] [seed] [every | postgres | postgres-15]`: the campaign against the real process, and what came of it.
 * `npm run crash -- --fleet [--rounds 1000] [--processes 4] [--specialists 2000] [--seed 1] [--resume <file>] [--minutes <n>] [--from <part>]`:
 * the one against several processes, in parts. The file keeps those that are finished, and a later call with the same options runs the others.
 * `npm run crash -- --fleet-limits [processes] [seed]`: many processes that want the last credit, and keys that go from one to another.
 * `npm run crash -- --fleet-gone [rounds] [seed]`: machines whose cables are pulled (Linux, as root).
 * `npm run crash -- --fleet-bugs`: planted bugs of a fleet, and if its tests find them.
 */
import { parseArgs } from "node:util";
import type { CampaignOptions } from "../fleet/parts.ts";
import { campaign } from "./campaign.ts";
import { openStoreServer } from "./store-server.ts";

/** In rounds, each with a network and keys of its own: in one of more kills on a slow machine the keys' quota of an hour runs out. */
const KILLS_PER_ROUND = 100;

/** Others have all that a machine had after this time. */
const GONE_MS = 20_000;
const GONE_PATIENCE_MS = 180_000;

// Its children end with it.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
if (process.argv.includes("--fleet-bugs")) {
  const { plantAll } = await import("../fleet/bugs-main.ts");
  process.exit(plantAll() > 0 ? 1 : 0);
}
if (process.argv.includes("--fleet-limits")) {
  const { isExact, lastUnits } = await import("../fleet/last-unit.ts");
  const [processes = "16", seed = "1"] = process.argv.slice(3);
  const found = await lastUnits({ processes: Number(processes), seed: Number(seed) });
  process.stdout.write(`${JSON.stringify(found, undefined, 2)}\n`);
  process.exit(isExact(found) ? 0 : 1);
}
if (process.argv.includes("--fleet-gone")) {
  const { goneMachines, isClean } = await import("../fleet/gone-machine.ts");
  const [rounds = "6", seed = "1"] = process.argv.slice(3);
  const found = await goneMachines({
    rounds: Number(rounds),
    seed: Number(seed),
    patienceMs: GONE_PATIENCE_MS,
    onRound: (round) => void process.stderr.write(`${JSON.stringify(round)}\n`),
  });
  process.stdout.write(`${JSON.stringify(found, undefined, 2)}\n`);
  process.exit(isClean(found, GONE_MS) ? 0 : 1);
}
if (process.argv.includes("--fleet")) {
  const { fleetCampaign } = await import("../fleet/campaign.ts");
  const { isClean } = await import("../fleet/parts.ts");
  const { FAULTS } = await import("../fleet/processes.ts");
  const { runParts } = await import("../fleet/run-parts.ts");
  const { values } = parseArgs({
    options: {
      fleet: { type: "boolean" },
      rounds: { type: "string", default: "1000" },
      processes: { type: "string", default: "4" },
      specialists: { type: "string", default: "2000" },
      seed: { type: "string", default: "1" },
      faults: { type: "string" },
      major: { type: "string", default: "18" },
      resume: { type: "string" },
      minutes: { type: "string", default: "Infinity" },
      from: { type: "string", default: "1" },
    },
  });
  const { faults } = values;
  const options: CampaignOptions = {
    rounds: Number(values.rounds),
    processes: Number(values.processes),
    specialists: Number(values.specialists),
    seed: Number(values.seed),
    major: values.major === "15" ? 15 : 18,
    ...(faults === undefined ? {} : { faults }),
  };
  const report = await runParts({
    options,
    file: values.resume,
    from: Number(values.from),
    longestMs: Number(values.minutes) * 60_000,
    run: ({ part, seed, rounds }) =>
      fleetCampaign({
        ...options,
        seed,
        rounds,
        ...(faults === undefined ? {} : { deck: FAULTS.filter((fault) => faults.split(",").includes(fault)) }),
        onRound: (round, fault) => void process.stderr.write(`part ${part}: ${round} ${fault}\n`),
      }),
  });
  process.stdout.write(`${JSON.stringify(report, undefined, 2)}\n`);
  process.exit(isClean(report) ? 0 : 1);
}
const [kills = "500", seed = "1", mode = ""] = process.argv.slice(2);
const server = mode.startsWith("postgres") ? await openStoreServer(mode === "postgres-15" ? 15 : 18) : undefined;
for (let done = 0, round = 0; done < Number(kills); done += KILLS_PER_ROUND, round++) {
  const report = await campaign({
    kills: Math.min(KILLS_PER_ROUND, Number(kills) - done),
    seed: Number(seed) + round,
    everyPoint: mode === "every",
    ...(server === undefined ? {} : { server }),
    onKill: (kill) => void (kill % 25 === 0 && process.stderr.write(`${done + kill} kills\n`)),
  });
  process.stdout.write(`${JSON.stringify(report, undefined, 2)}\n`);
  if (report.lost.length + report.doubled.length + report.drift.length > 0) process.exitCode = 1;
}
await server?.stop();

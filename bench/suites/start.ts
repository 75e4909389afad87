/** Start and size: how soon the command answers, how soon a runtime asks its network, how much it weighs. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { openSink } from "../harness/sink.ts";
import { shippedSaid } from "../harness/shipped.ts";
import { figure, summarise, type Summary } from "../harness/stats.ts";
import { endOf, idleMb, late, memoryMb, startPeers, stopped, type PeerStarts, type Started } from "../harness/starts.ts";
import { goal, type BenchContext, type Suite } from "../harness/suite.ts";
import { folderMb, peerWeight, requiredPackages, requiredWeight } from "../harness/weight.ts";

const root = join(import.meta.dirname, "../..");
const BIN = "node_modules/retinue/bin/retinue.js";
const START_RUNS = 20;
const RUN_RUNS = 8;
const PEER_RUNS = 5;
/** What a start leaves behind is done with by then. */
const IDLE_MS = 4_000;

/** Each with what it cannot do an agent's or a job's work without. */
const WEIGHED: readonly (readonly string[])[] = [
  ["probot"],
  ["@slack/bolt"],
  ["@dbos-inc/dbos-sdk"],
  ["pg-boss"],
  ["bullmq"],
  ["@restatedev/restate-sdk", "@restatedev/restate-server"],
  ["@mastra/core"],
  ["@voltagent/core"],
  ["@elizaos/core", "@elizaos/plugin-sql"],
];

const WHY_DEMO =
  "the demo's one process holds the local network, its residents and the whole cast; what Node has compiled and not yet collected moves it by some MB about the goal";

export const suite: Suite = {
  name: "start",
  title: "Start and size",
  repeats: () =>
    `medians of ${START_RUNS} in a row, ${RUN_RUNS} of Retinue and ${PEER_RUNS} of each peer to the first request, the demo once`,
  async run(context) {
    const project = installPackage(context);
    const repeat = context.quick ? 3 : START_RUNS;
    const rows: string[][] = [];
    const row = (name: string, { median, least, most }: Summary, unit: string): void =>
      void rows.push([name, `${figure(median)} ${unit}`, `${figure(least)} to ${figure(most)}`]);

    const command = `./${BIN}`;
    const bare = times(repeat, [process.execPath, "-e", "0"], project);
    const version = times(repeat, [command, "--version"], project);
    row("node -e 0", bare, "ms");
    row("retinue --version", version, "ms");
    row("retinue check --help", times(repeat, [command, "check", "--help"], project), "ms");
    const probot = peerBin("probot", "bin/probot.js");
    if (probot !== undefined) row("probot --version (14.3.2)", times(repeat, [probot, "--version"], project), "ms");
    context.progress("versions done");

    const starts = await startRetinue(project, context.quick ? 2 : RUN_RUNS, idleMs(context));
    context.progress(`retinue run, in turn: ${starts.map(({ startMs }) => figure(startMs)).join(", ")} ms`);
    const first = summarise(starts.map(({ startMs }) => startMs));
    const idle = summarise(starts.map((one) => one.idleMb));
    const { peers, missing } = await startPeers(context.quick ? 1 : PEER_RUNS, idleMs(context), context);
    row("retinue run, to the first request (one specialist, new store, compile cache warm)", first, "ms");
    for (const { name, until, starts: all } of peers) row(`${name}, ${until}`, summarise(all.map(({ startMs }) => startMs)), "ms");
    row("retinue run, idle", idle, "MB RSS");
    for (const { name, starts: all } of peers) row(`${name}, idle`, summarise(all.map((one) => one.idleMb)), "MB RSS");
    const warm = summarise([await demoPeakMb(project, context)]);
    row(`retinue demo with the whole cast, ${context.quick ? "5 s" : "a minute"}: highest, compile cache warm`, warm, "MB highest");
    const size = requiredWeight();
    const own = folderMb(join(project, "node_modules/retinue"));
    rows.push(["retinue, with all it depends on", `${figure(own + size.mb)} MB`, `${size.packages + 1} packages`]);
    for (const names of WEIGHED) {
      const weight = peerWeight(names);
      const label = `${names.join(" with ")}, with all it depends on`;
      rows.push(weight === undefined ? [label, "not installed", ""] : [label, `${figure(weight.mb)} MB`, `${weight.packages} packages`]);
    }
    rows.push(["retinue itself, unpacked", `${figure(own)} MB`, ""]);
    return {
      columns: ["", "median", "range"],
      rows,
      conditions: [
        "The package as its users get it: built, packed, unpacked beside its dependencies, started by its own first line; times from spawn to exit, or to the first byte the network sees.",
        "Peers: a process of their own as their docs begin one, in plain JavaScript, whose handlers do nothing; to the answer to one delivery, in front of the queues by a bare node:http route. Their PostgreSQL or Redis is up already, with their tables, and is not weighed. Mastra, VoltAgent and elizaOS (initialised, on a PGlite in memory) have no door: to one agent that is there.",
        `Idle is what the process holds (VmRSS) ${IDLE_MS / 1_000} s later; highest is the kernel's (VmHWM) of the demo's process, which holds the local network, the residents and the cast.`,
        shippedSaid(),
        "Sizes of peers are what npm installs for that package alone, with everything it depends on, read from the bench's own lock; elizaOS with the database it does not start without, Restate with its server.",
        ...missing,
      ],
      plots: [
        { title: "Start, ms", better: "less", column: "median", unit: "ms" },
        { title: "Idle, MB resident", better: "less", column: "median", unit: "MB RSS" },
        { title: "Size, MB", better: "less", column: "median", unit: "MB" },
      ],
      goals: [
        goal("retinue --version", { most: 80 }, version.median, " ms"),
        goal("run to first request", { most: 400 }, first.median, " ms"),
        goal("required dependencies", { most: 30 }, size.mb, " MB"),
        goal("a demo minute, compile cache warm", { most: 150 }, warm.median, " MB", WHY_DEMO),
      ],
      ratios: {
        "node -e 0 ÷ retinue --version": bare.median / version.median,
        "node -e 0 ÷ retinue run, to the first request": bare.median / first.median,
        ...ratiosTo(peers, idle.median),
      },
    };
  },
};

/** What idle peers hold over what Retinue holds: memory, which the machine's load changes least. */
function ratiosTo(peers: readonly PeerStarts[], idle: number): Readonly<Record<string, number>> {
  return Object.fromEntries(
    peers.map(({ name, starts }) => [
      `idle: ${name.replace(/ [\d.]+$/, "")} ÷ retinue run`,
      summarise(starts.map((one) => one.idleMb)).median / idle,
    ]),
  );
}

function times(count: number, command: readonly string[], cwd: string): Summary {
  startMs(command, cwd); // the page cache and the compile cache
  return summarise(Array.from({ length: count }, () => startMs(command, cwd)));
}

/** Built and packed, then unpacked into a project of its own. */
function installPackage({ folder }: BenchContext): string {
  const project = join(folder, "project");
  mkdirSync(join(project, "node_modules"), { recursive: true });
  must(process.execPath, ["scripts/build.ts"], root);
  must("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", project], root);
  const tarball = readdirSync(project).find((name) => name.endsWith(".tgz"));
  if (tarball === undefined) throw new Error("npm pack made no tarball");
  must("tar", ["xzf", tarball], project);
  must("mv", ["package", "node_modules/retinue"], project);
  for (const path of requiredPackages()) {
    const to = join(project, path);
    mkdirSync(join(to, ".."), { recursive: true });
    must("cp", ["-a", join(root, path), to], project);
  }
  mkdirSync(join(project, "agents"));
  writeFileSync(
    join(project, "agents/scout.js"),
    `import { defineSpecialist } from "retinue";\nexport default defineSpecialist({ handle: "scout", id: "id1", tier: "pro", watch: { feed: true }, on: { "post.created": () => {} } });\n`,
  );
  return project;
}

function must(command: string, args: readonly string[], cwd: string): void {
  const { status, stderr } = spawnSync(command, args, { cwd, stdio: ["ignore", "ignore", "pipe"] });
  if (status !== 0) throw new Error(`${command} ${args[0] ?? ""} ended with ${status}: ${stderr.toString().slice(-500)}`);
}

function startMs([command = "", ...args]: readonly string[], cwd: string): number {
  const began = performance.now();
  const { status, stderr } = spawnSync(command, args, { cwd, stdio: ["ignore", "ignore", "pipe"], env: asShell() });
  if (status !== 0) throw new Error(`${command} ${args[0] ?? ""} ended with ${status}: ${stderr.toString().slice(-500)}`);
  return performance.now() - began;
}

/** Nothing of the bench's own settings reaches what is measured; a command's own first line finds Node and says how it runs. */
function asShell(more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  return { PATH: `${dirname(process.execPath)}:${process.env["PATH"]}`, HOME: process.env["HOME"], ...more };
}

const idleMs = ({ quick }: BenchContext): number => (quick ? 500 : IDLE_MS);

/**
 * `retinue run` with one specialist, to the first byte its network sees: as often as asked for, after one that fills the caches
 * and ends by itself, since Node writes its compile cache then.
 * The store is a new one each time, since on an old one the first look comes when it is due.
 */
async function startRetinue(project: string, runs: number, idle: number): Promise<readonly Started[]> {
  let asked: () => void = () => undefined;
  // Reachability is looked at by a first request of its own: that one counts.
  const sink = await openSink({ onEffect: () => undefined, onRead: () => (asked(), "[]") });
  const args = ["run", "--base-url", `http://127.0.0.1:${sink.port}/v1`, "--set", "b", "--store", "sqlite:start.sqlite", "--json"];
  const starts: Started[] = [];
  try {
    for (let run = 0; run <= runs; run++) {
      for (const file of ["start.sqlite", "start.sqlite-wal", "start.sqlite-shm"]) rmSync(join(project, file), { force: true });
      const first = new Promise<void>((resolve) => (asked = resolve));
      const began = performance.now();
      const env = asShell({ RETINUE_KEY_SCOUT: "sk_live_bench_abcdefghijkl" });
      const child = spawn(`./${BIN}`, args, { cwd: project, stdio: ["ignore", "ignore", "pipe"], env });
      const { early, said } = endOf(child);
      try {
        await Promise.race([first, late(() => `no request came: ${said()}`), early]);
        const startMs = performance.now() - began;
        starts.push({ startMs, idleMb: await idleMb(child.pid, run === 0 ? 0 : idle) });
      } finally {
        await stopped(child, run === 0 ? "SIGTERM" : "SIGKILL");
      }
    }
  } finally {
    await sink.close();
  }
  return starts.slice(1);
}

async function demoPeakMb(project: string, context: BenchContext): Promise<number> {
  const agents = join("node_modules/retinue/dist/agents");
  const child = spawn(`./${BIN}`, ["demo", "--agents", agents, "--for", context.quick ? "5s" : "60s", "--json"], {
    cwd: project,
    stdio: ["ignore", "ignore", "pipe"],
    env: asShell(),
  });
  const { said } = endOf(child);
  let peak = 0;
  const look = setInterval(() => (peak = Math.max(peak, memoryMb(child.pid, "VmHWM") ?? 0)), 200);
  const [status] = (await once(child, "exit")) as [number | null];
  clearInterval(look);
  if (status !== 0) throw new Error(`demo ended with ${status}: ${said()}`);
  if (peak === 0) throw new Error("this system does not tell a process's highest RSS");
  return peak;
}

function peerBin(name: string, file: string): string | undefined {
  try {
    const main = createRequire(join(root, "bench/package.json")).resolve(`${name}/package.json`);
    return join(main, "..", file);
  } catch {
    const path = join(root, "bench/node_modules", name, file);
    return existsSync(path) ? path : undefined;
  }
}

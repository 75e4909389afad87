/** Start and size: how soon the command answers, how soon a runtime asks its network, how much it weighs. */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { openSink } from "../harness/sink.ts";
import { figure, spread, summarise, type Summary } from "../harness/stats.ts";
import { goal, type BenchContext, type Suite } from "../harness/suite.ts";

const root = join(import.meta.dirname, "../..");
const BIN = "node_modules/retinue/bin/retinue.js";
const START_RUNS = 20;
const RUN_RUNS = 8;
const LATEST_MS = 20_000;

export const suite: Suite = {
  name: "start",
  title: "Start and size",
  repeats: () => `medians of ${START_RUNS} in a row, ${RUN_RUNS} to the first request, the demo once`,
  async run(context) {
    const project = installPackage(context);
    const repeat = context.quick ? 3 : START_RUNS;
    const rows: string[][] = [];
    const row = (name: string, { median, least, most }: Summary, unit: string): void =>
      void rows.push([name, `${figure(median)} ${unit}`, `${figure(least)} to ${figure(most)}`]);

    const version = await times(repeat, () => startMs([join(project, BIN), "--version"], project));
    row("node -e 0", await times(repeat, () => startMs(["-e", "0"], project)), "ms");
    row("retinue --version", version, "ms");
    row("retinue check --help", await times(repeat, () => startMs([join(project, BIN), "check", "--help"], project)), "ms");
    const probot = peerBin("probot", "bin/probot.js");
    if (probot !== undefined) row("probot --version (14.3.2)", await times(repeat, () => startMs([probot, "--version"], project)), "ms");
    context.progress("versions done");

    const first = await times(context.quick ? 2 : RUN_RUNS, () => firstRequestMs(project));
    row("retinue run, to the first request (one specialist, compile cache warm)", first, "ms");
    const warm = summarise([await demoPeakMb(project, context)]);
    row(`retinue demo with the whole cast, ${context.quick ? "5 s" : "a minute"}: highest, compile cache warm`, warm, "MB RSS");
    const size = dependencyMb();
    const own = folderMb(join(project, "node_modules/retinue"));
    rows.push(["retinue, with all it depends on", `${figure(own + size.mb)} MB`, `${size.packages + 1} packages`]);
    for (const [name, peer] of Object.entries(peerSizes())) rows.push([name, `${figure(peer.mb)} MB`, `${peer.packages} packages`]);
    rows.push(["retinue itself, unpacked", `${figure(own)} MB`, ""]);
    return {
      columns: ["", "median", "range"],
      rows,
      conditions: [
        "The package as its users get it: built, packed, unpacked beside its dependencies, in a process started by spawn; times from spawn to exit, or to the first byte the network sees.",
        "RSS is the kernel's highest (VmHWM) of the demo's process, which holds the local network, the residents and the cast.",
        "Sizes of peers are what npm installs for that package alone, with everything it depends on, read from the bench's own lock.",
      ],
      plots: [
        { title: "Start, ms", better: "less", column: "median", unit: "ms" },
        { title: "Size, MB", better: "less", column: "median", unit: "MB" },
      ],
      goals: [
        goal("retinue --version", { most: 80 }, version.median, " ms"),
        goal("run to first request", { most: 400 }, first.median, " ms"),
        goal("required dependencies", { most: 30 }, size.mb, " MB"),
        goal("a demo minute, compile cache warm", { most: 150 }, warm.median, " MB"),
      ],
      ratios: {
        "node -e 0 ÷ retinue --version": summarise([...Array(5)].map(() => startMs(["-e", "0"], project))).median / version.median,
      },
    };
  },
};

async function times(count: number, once: () => number | Promise<number>): Promise<Summary> {
  const values: number[] = [];
  await once(); // the page cache and the compile cache
  for (let i = 0; i < count; i++) values.push(await once());
  if (spread(summarise(values)) < 0) throw new Error("unreachable");
  return summarise(values);
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

function startMs(args: readonly string[], cwd: string): number {
  const began = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { cwd, stdio: ["ignore", "ignore", "pipe"], env: bare() });
  if (status !== 0) throw new Error(`node ${args[0] ?? ""} ended with ${status}: ${stderr.toString().slice(-500)}`);
  return performance.now() - began;
}

/** Nothing of the bench's own settings reaches what is measured. */
function bare(more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  return { PATH: process.env["PATH"], HOME: process.env["HOME"], ...more };
}

async function firstRequestMs(project: string): Promise<number> {
  let asked: () => void = () => undefined;
  const first = new Promise<void>((resolve) => (asked = resolve));
  // Reachability is looked at by a first request of its own: that one counts.
  const sink = await openSink({ onEffect: () => undefined, onRead: () => (asked(), "[]") });
  const began = performance.now();
  const child = spawn(
    process.execPath,
    [
      BIN,
      "run",
      "--base-url",
      `http://127.0.0.1:${sink.port}/v1`,
      "--set",
      "b",
      "--store",
      `sqlite:${join(project, "start.sqlite")}`,
      "--json",
    ],
    { cwd: project, stdio: ["ignore", "ignore", "pipe"], env: bare({ RETINUE_KEY_SCOUT: "sk_live_bench_abcdefghijkl" }) },
  );
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => void (said = (said + chunk.toString()).slice(-2_000)));
  try {
    await Promise.race([first, late(`no request came: ${said}`), gone(child, () => said)]);
    return performance.now() - began;
  } finally {
    if (child.exitCode === null) {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
    await sink.close();
  }
}

async function gone(child: ChildProcess, said: () => string): Promise<never> {
  await once(child, "exit");
  throw new Error(`it ended by itself: ${said()}`);
}

function late(why: string): Promise<never> {
  return new Promise((_, reject) => setTimeout(() => reject(new Error(why)), LATEST_MS).unref());
}

async function demoPeakMb(project: string, context: BenchContext): Promise<number> {
  const agents = join("node_modules/retinue/dist/agents");
  // By its own first line, as a shell starts it: that line sets what keeps it small.
  const child = spawn(`./${BIN}`, ["demo", "--agents", agents, "--for", context.quick ? "5s" : "60s", "--json"], {
    cwd: project,
    stdio: ["ignore", "ignore", "pipe"],
    env: bare({ PATH: `${dirname(process.execPath)}:${process.env["PATH"]}` }),
  });
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => void (said = (said + chunk.toString()).slice(-2_000)));
  let peakKb = 0;
  const look = setInterval(() => {
    const status = `/proc/${child.pid ?? 0}/status`;
    if (existsSync(status)) peakKb = Math.max(peakKb, Number(/VmHWM:\s+(\d+)/.exec(readFileSync(status, "utf8"))?.[1] ?? 0));
  }, 200);
  const [status] = (await once(child, "exit")) as [number | null];
  clearInterval(look);
  if (status !== 0) throw new Error(`demo ended with ${status}: ${said}`);
  if (peakKb === 0) throw new Error("this system does not tell a process's highest RSS");
  return peakKb / 1_024;
}

interface Lock {
  readonly packages: Readonly<
    Record<string, { readonly dev?: boolean; readonly optional?: boolean; readonly dependencies?: Readonly<Record<string, string>> }>
  >;
}

function lockOf(folder: string): Lock {
  return JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8")) as Lock;
}

/** What `npm install retinue` brings, by the lock. */
function requiredPackages(): readonly string[] {
  return Object.entries(lockOf(root).packages).flatMap(([path, { dev, optional }]) =>
    path === "" || dev === true || optional === true ? [] : [path],
  );
}

function dependencyMb(): { readonly mb: number; readonly packages: number } {
  const paths = requiredPackages();
  return { mb: paths.reduce((sum, path) => sum + folderMb(join(root, path)), 0), packages: paths.length };
}

/** A peer with all it depends on, followed through the bench's lock. */
function peerSizes(): Readonly<Record<string, { readonly mb: number; readonly packages: number }>> {
  const folder = join(root, "bench");
  if (!existsSync(join(folder, "node_modules"))) return {};
  const { packages } = lockOf(folder);
  const closure = (name: string): readonly string[] => {
    const found = new Set<string>();
    const visit = (wanted: string, from: string): void => {
      for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf("/node_modules/")))) {
        const path = `${at === "" ? "" : `${at}/`}node_modules/${wanted}`;
        if (packages[path] !== undefined && existsSync(join(folder, path))) {
          if (found.has(path)) return;
          found.add(path);
          for (const next of Object.keys(packages[path].dependencies ?? {})) visit(next, path);
          return;
        }
        if (at === "") return;
      }
    };
    visit(name, "");
    return [...found];
  };
  const peers = ["probot", "@dbos-inc/dbos-sdk", "pg-boss", "bullmq", "@mastra/core", "@voltagent/core", "@elizaos/core"];
  return Object.fromEntries(
    peers.map((name) => {
      const paths = closure(name);
      const nested = (path: string): boolean => paths.some((other) => other !== path && path.startsWith(`${other}/`));
      const mb = paths.filter((path) => !nested(path)).reduce((sum, path) => sum + folderMb(join(folder, path)), 0);
      return [`${name}, with all it depends on`, { mb, packages: paths.length }];
    }),
  );
}

function folderMb(path: string): number {
  const { stdout } = spawnSync("du", ["-sb", path]);
  return Number(stdout.toString().split("\t")[0]) / 1_000_000;
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

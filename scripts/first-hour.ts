/**
 * The first hour of a user, from the packed package and an empty folder: each template, its tests, an edit, a session over MCP and a model.
 * All of it runs in a network namespace that has loopback alone, where the system has such: a table of steps says how long each took.
 */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { spawn, spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { networkInterfaces, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import type * as Testing from "../src/testing.ts";

const ROOT = join(import.meta.dirname, "..");
const FIRST_TEST_LIMIT_S = 60;
const STEP_LIMIT_MS = 120_000;
const MAX_TARBALL_BYTES = 1_000_000;
const MAX_INSTALLED_BYTES = 30_000_000;
const TEMPLATES = ["bot", "worker", "model", "webhook"] as const;
const INSTALL = ["install", "--no-audit", "--no-fund"];
const SERVER_PEER = "@modelcontextprotocol/server";
/** Asks for a namespace in which loopback is up and nothing else is there. */
const ALONE = ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$0" "$@"'];
const CHECK_CAST = ["check", "--no-keys", "--agents", "node_modules/retinue/dist/agents"];
/** The port of `discard`, on which nothing listens. */
const DEAD_PROXY = "http://127.0.0.1:9";
const WORDS = "A sentence of the scripted model.";

const { values } = parseArgs({
  options: {
    /** Two templates in place of all, for the check of the package. */
    short: { type: "boolean", default: false },
    /** The package is built already. */
    built: { type: "boolean", default: false },
    /** The folder with the packed package, when this process is the one without a network. */
    inside: { type: "string" },
    /** This process is in a namespace of its own. */
    alone: { type: "boolean", default: false },
  },
});

if (values.inside === undefined) prepare();
else await walk(values.inside, values.short ? ["bot", "model"] : TEMPLATES);

/** Packs, fills npm's cache, and hands over to a process without a network. */
function prepare(): void {
  const folder = mkdtempSync(join(tmpdir(), "retinue-hour-"));
  try {
    if (!values.built) must(process.execPath, ["scripts/build.ts"], ROOT);
    must("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", folder], ROOT);
    const tarball = tarballIn(folder);
    const warm = join(folder, "warm");
    mkdirSync(warm);
    must("npm", ["init", "--yes", "--silent"], warm);
    within("the package", statSync(join(folder, tarball)).size, MAX_TARBALL_BYTES);
    must("npm", [...INSTALL, "--prefer-offline", join(folder, tarball)], warm);
    within("the package installed, without peers", bytesBelow(join(warm, "node_modules")), MAX_INSTALLED_BYTES);
    must("npm", ["exec", "--", "retinue", "init", "model", "--template", "model"], warm);
    must("npm", [...INSTALL, "--prefer-offline", peer(SERVER_PEER)], join(warm, "model"));
    const isAlone = spawnSync(ALONE[0] ?? "", [...ALONE.slice(1), "true"]).status === 0;
    const self = [process.execPath, import.meta.filename, "--inside", folder, ...(values.short ? ["--short"] : [])];
    const [command = "", ...args] = isAlone ? [...ALONE, ...self, "--alone"] : self;
    console.log(isAlone ? "in a network namespace that has loopback alone" : "npm is offline; this system gives no network namespace");
    process.exitCode = spawnSync(command, args, { stdio: "inherit", env: variables() }).status ?? 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function within(name: string, bytes: number, max: number): void {
  console.log(`${name}: ${bytes.toLocaleString("en")} bytes`);
  if (bytes > max) throw new Error(`expected ${name} to have at most ${max.toLocaleString("en")} bytes, got ${bytes.toLocaleString("en")}`);
}

function bytesBelow(path: string): number {
  const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}

interface Row {
  readonly step: string;
  readonly ms: number;
  readonly failure?: string;
}

/** Takes every step, also after one failed, unless it needs that one. */
async function walk(folder: string, templates: readonly string[]): Promise<void> {
  const rows: Row[] = [];
  const step = async (name: string, work: () => unknown): Promise<boolean> => {
    const began = performance.now();
    const failure = await Promise.resolve()
      .then(work)
      .then(
        () => undefined,
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      );
    rows.push({ step: name, ms: performance.now() - began, ...(failure === undefined ? {} : { failure }) });
    console.log(`${failure === undefined ? "ok  " : "FAIL"} ${name}`);
    return failure === undefined;
  };
  await step("no other machine can be reached", () => isCutOff(values.alone));
  const began = performance.now();
  const home = join(folder, "empty");
  const tarball = join(folder, tarballIn(folder));
  const isInstalled = await step("npm install retinue.tgz, in an empty folder", () => {
    mkdirSync(home);
    must("npm", ["init", "--yes", "--silent"], home);
    must("npm", [...INSTALL, tarball], home);
  });
  let firstTestS = Number.POSITIVE_INFINITY;
  for (const template of isInstalled ? templates : []) {
    const project = join(home, template);
    const isThere =
      (await step(`${template}: retinue init`, () =>
        must("npm", ["exec", "--", "retinue", "init", template, "--template", template], home),
      )) &&
      (await step(`${template}: npm install`, () => must("npm", INSTALL, project))) &&
      (await step(`${template}: npm test`, () => must("npm", ["test"], project)));
    if (!isThere) continue;
    firstTestS = Math.min(firstTestS, (performance.now() - began) / 1_000);
    await step(`${template}: npm run types`, () => must("npm", ["run", "types", "--", "--skipLibCheck", "false"], project));
    await step(`${template}: npm run check`, () => must("npm", ["run", "check"], project));
    if (template === "bot") await walkBot(project, step);
    if (template === "model") await step("model: asked over HTTP, its words posted", () => askModel(project));
  }
  if (isInstalled) await step("the cast of the package: retinue check", () => must("npm", ["exec", "--", "retinue", ...CHECK_CAST], home));
  report(rows, firstTestS);
}

type Step = (name: string, work: () => unknown) => Promise<boolean>;

async function walkBot(project: string, step: Step): Promise<void> {
  await step("bot: two simulated hours", () => must("npm", ["run", "simulate", "--", "--for", "2h"], project));
  await step("bot: an edit under dev, until it acts", () => editUnderDev(project));
  const isServed = await step("bot: npm install of the MCP server", () => must("npm", [...INSTALL, peer(SERVER_PEER)], project));
  if (!isServed) return;
  const network = begin(project, ["network", "--json"]);
  try {
    await step("bot: a local network, and its keys", async () => {
      await network.saying(/"type":"started"/);
      copyFileSync(join(project, ".retinue/network-keys.env"), join(project, ".env"));
    });
    await step("bot: an MCP session over stdio", () => talkOverStdio(project));
    await step("bot: an MCP session over HTTP", () => talkOverHttp(project));
  } finally {
    await network.end();
  }
}

function pulse(words: string): string {
  return `import { defineSpecialist } from "retinue";
export default defineSpecialist({
  handle: "pulse",
  tier: "pro",
  may: ["posts.create"],
  schedules: { often: { every: "1s", run: (act) => void act.post("${words} " + act.now) } },
});
`;
}

async function editUnderDev(project: string): Promise<void> {
  const file = join(project, "agents/pulse.ts");
  writeFileSync(file, pulse("before"));
  const dev = begin(project, ["dev", "--json"]);
  try {
    await dev.saying(/"words":"before/);
    writeFileSync(file, pulse("after"));
    await dev.saying(/has a new definition/);
    await dev.saying(/"words":"after/);
  } finally {
    await dev.end();
    rmSync(file);
  }
}

/** Lists the tools, reads the network and posts. */
async function talk(client: Client): Promise<void> {
  const { tools } = await client.listTools();
  if (!tools.some(({ name }) => name === "posts_reply"))
    throw new Error(`no tool posts_reply: ${tools.map(({ name }) => name).join(", ")}`);
  const read = await client.callTool({ name: "posts_list", arguments: { limit: 1 } });
  if (read.isError === true) throw new Error(JSON.stringify(read.content));
}

async function talkOverStdio(project: string): Promise<void> {
  const client = new Client({ name: "first-hour", version: "1.0.0" });
  await client.connect(new StdioClientTransport({ command: bin(project), args: ["mcp", "hello"], cwd: project, env: variables() }));
  try {
    await talk(client);
  } finally {
    await client.close();
  }
}

async function talkOverHttp(project: string): Promise<void> {
  const server = begin(project, ["mcp", "hello", "--http", "0", "--json"]);
  try {
    const url = /http:[^"\s]+/.exec(await server.saying(/"type":"mcp"/))?.[0] ?? "";
    const token = readFileSync(join(project, ".retinue", tokenFile(project)), "utf8").trim();
    const client = new Client({ name: "first-hour", version: "1.0.0" });
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { authProvider: { token: () => Promise.resolve(token) } }));
    await talk(client);
    await client.close();
  } finally {
    await server.end();
  }
}

function tokenFile(project: string): string {
  return readdirSync(join(project, ".retinue")).find((name) => name.endsWith("-mcp-token")) ?? "there is no token";
}

/** The template's specialist, which answers posts in place of mentions: those come from residents within seconds. */
async function askModel(project: string): Promise<void> {
  const testing = pathToFileURL(join(project, "node_modules/retinue/dist/testing.js")).href;
  const { scriptedModel } = (await import(testing)) as Pick<typeof Testing, "scriptedModel">;
  await using model = await scriptedModel(WORDS);
  change(join(project, "retinue.config.ts"), /address: "[^"]+"/, `address: "${model.address}"`);
  change(join(project, "agents/helper.ts"), '"mention.created"', '"post.created"');
  change(join(project, "agents/helper.ts"), "  may:", "  watch: { feed: true },\n  may:");
  const dev = begin(project, ["dev", "--json"]);
  try {
    await dev.saying(new RegExp(`"state":"confirmed".*${WORDS}|${WORDS}.*"state":"confirmed"`));
  } finally {
    await dev.end();
  }
  if (model.requests.length === 0) throw new Error("the model was never asked");
}

function change(file: string, from: string | RegExp, to: string): void {
  const before = readFileSync(file, "utf8");
  const after = before.replace(from, to);
  if (after === before) throw new Error(`${file} holds no ${String(from)}`);
  writeFileSync(file, after);
}

/** Proves that npm and every other program can reach this machine alone. */
function isCutOff(isAlone: boolean): void {
  const out = Object.values(networkInterfaces()).flatMap((all) => all?.filter(({ internal }) => !internal) ?? []);
  if (isAlone && out.length > 0) throw new Error(`there is a way out: ${out.map(({ address }) => address).join(", ")}`);
  const { status } = spawnSync("npm", ["ping", "--offline=false", "--fetch-retries=0"], { env: variables(), stdio: "ignore" });
  if (status === 0) throw new Error("npm reached its registry");
}

interface Running {
  /** The first line of either stream that fits, past or to come. */
  saying(pattern: RegExp): Promise<string>;
  end(): Promise<void>;
}

/** `retinue <args>` in the project, until it is ended. */
function begin(project: string, args: readonly string[]): Running {
  const child = spawn(bin(project), args, { cwd: project, env: variables(), stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  const looks = new Set<() => void>();
  const told = (text: string): void => {
    said += text;
    for (const look of looks) look();
  };
  child.stdout.setEncoding("utf8").on("data", told);
  child.stderr.setEncoding("utf8").on("data", told);
  let isOver = false;
  const over = new Promise<void>((resolve) => {
    const end = (): void => {
      isOver = true;
      told("");
      resolve();
    };
    child.once("error", end).once("close", end);
  });
  return {
    saying: (pattern) =>
      new Promise((resolve, reject) => {
        const done = (settle: () => void): void => {
          clearTimeout(late);
          looks.delete(look);
          settle();
        };
        const fail = (): void =>
          done(() => reject(new Error(`retinue ${args.join(" ")} did not say ${pattern.source}: ${said.slice(-1_000)}`)));
        const late = setTimeout(fail, STEP_LIMIT_MS);
        const look = (): void => {
          const line = said.split("\n").find((one) => pattern.test(one));
          if (line !== undefined) done(() => resolve(line));
          else if (isOver) fail();
        };
        looks.add(look);
        look();
      }),
    end() {
      child.kill("SIGINT");
      return over;
    },
  };
}

function bin(project: string): string {
  return join(project, "node_modules/.bin/retinue");
}

function tarballIn(folder: string): string {
  const found = readdirSync(folder).find((name) => name.endsWith(".tgz"));
  if (found === undefined) throw new Error("npm pack made no tarball");
  return found;
}

/** A package at the version that this checkout uses. */
function peer(name: string): string {
  const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    readonly devDependencies: { readonly [name: string]: string };
  };
  return `${name}@${manifest.devDependencies[name]}`;
}

/** Inside, npm is offline and its proxies are dead, so that nothing but its cache answers. */
function variables(): { [name: string]: string } {
  const { PATH = "", HOME = "" } = process.env;
  const own = Object.entries(process.env).flatMap(([name, value]) =>
    /^(?:npm_config_(?:cache|userconfig|offline)|NODE_EXTRA_CA_CERTS)$/.test(name) && value !== undefined ? [[name, value] as const] : [],
  );
  const offline =
    values.inside === undefined ? {} : { npm_config_offline: "true", npm_config_proxy: DEAD_PROXY, npm_config_https_proxy: DEAD_PROXY };
  return { ...Object.fromEntries(own), PATH: `${dirname(process.execPath)}:${PATH}`, HOME, ...offline };
}

/** Runs a command to its end. Throws what it said when it failed. */
function must(command: string, args: readonly string[], cwd: string): void {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: "utf8", env: variables(), timeout: STEP_LIMIT_MS });
  if (status !== 0)
    throw new Error(`${command} ${args.join(" ")} ended with ${status ?? error?.message}: ${`${stdout}\n${stderr}`.slice(-2_000)}`);
}

function report(rows: readonly Row[], firstTestS: number): void {
  const width = Math.max(...rows.map(({ step }) => step.length));
  console.log();
  for (const { step, ms, failure } of rows)
    console.log(
      `${step.padEnd(width)}  ${(ms / 1_000).toFixed(1).padStart(6)} s${failure === undefined ? "" : `  FAILED\n    ${failure}`}`,
    );
  const total = rows.reduce((sum, { ms }) => sum + ms, 0) / 1_000;
  console.log(`${"all".padEnd(width)}  ${total.toFixed(1).padStart(6)} s`);
  console.log(`from an empty folder to the first passing test: ${firstTestS.toFixed(1)} s (at most ${FIRST_TEST_LIMIT_S} s)`);
  if (rows.some(({ failure }) => failure !== undefined) || firstTestS > FIRST_TEST_LIMIT_S) process.exitCode = 1;
}

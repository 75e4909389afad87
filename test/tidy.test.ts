/** The structure of ARCHITECTURE.md as a test: who may import whom, one home for each package and each global, sizes. */
import { readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { posix } from "node:path";
import { describe, expect, test } from "vitest";
import { readSource, readTree, type SourceFile } from "./harness/source-tree.ts";

const ROOT = posix.join(import.meta.dirname, "..");
/** Rooms from the floor up: a room imports only what stands before it. */
const FLOORS: readonly string[] = [
  "core",
  "contract",
  "client",
  "specialist",
  "limits",
  "config",
  "store",
  "gateway",
  "model",
  "polling",
  "outbox",
  "webhooks",
  "schedule",
  "handlers",
  "doctor",
  "runtime",
  "guardian",
  "mcp",
  "signals",
  "console",
];
const below = (room: string): readonly string[] => FLOORS.slice(0, FLOORS.indexOf(room));
/** Stands for every folder. */
const EVERYTHING = "*";

/** The rooms that each room may import beside itself. `room/file.ts` allows that one file. */
const MAY_IMPORT: { readonly [room: string]: readonly string[] } = {
  ...Object.fromEntries(FLOORS.map((room) => [room, below(room)])),
  // Rules are pure: they know the words of the network, and no edge.
  client: ["core", "contract"],
  // A specialist is data: it knows no client.
  specialist: ["core", "contract"],
  limits: ["core", "contract"],
  config: ["core", "contract", "specialist"],
  // The present state, made from facts: pure, without a clock, a socket or a file.
  live: ["core", "contract", "specialist", "limits", "outbox/intent.ts"],
  // The states of an action are stated once, in the outbox; the store keeps them.
  // It opens the address that the settings state.
  store: ["core", "contract", "specialist", "limits", "live", "outbox/intent.ts", "config/postgres-address.ts", "config/store-address.ts"],
  gateway: [...below("gateway"), "outbox/intent.ts"],
  // Models are paid and paced like requests, over sockets of their own.
  model: below("model"),
  // The runtime is below the server, and joins the tools of other servers to its handlers.
  runtime: [...below("runtime"), "mcp/tool-servers.ts"],
  // Networks are written from the interface, not from our client.
  "local-network": ["core", "contract"],
  // The real runtime against the local network, in virtual time.
  simulation: [...FLOORS, "live", "local-network"],
  cli: [EVERYTHING],
  // The doors re-export; only the testing door may also reach the local network.
  "retinue.ts": FLOORS,
  "index.ts": [...FLOORS, "retinue.ts"],
  "model.ts": FLOORS,
  "testing.ts": [...FLOORS, "local-network", "simulation", "index.ts"],
};

/** Packages that are built into the console's page: no user installs them. */
const BUNDLED: readonly string[] = ["preact", "uplot", "@tanstack/virtual-core"];
/** A third-party package (or built-in that counts as one) and the folders or files that may import it. */
const PACKAGE_HOMES: { readonly [name: string]: readonly string[] } = {
  // Optional: loaded by a command or a definition that uses it.
  "@modelcontextprotocol/client": ["src/mcp/"],
  "@modelcontextprotocol/server": ["src/mcp/"],
  // Optional: loaded when the console opens, or where an SDK is set up.
  "prom-client": ["src/signals/"],
  "@opentelemetry/api": ["src/signals/"],
  "node:sqlite": ["src/store/sqlite/", "src/local-network/"],
  // Optional peers, loaded when a model is first asked. Their requests leave through `src/model/model-fetch.ts`.
  ai: ["src/model/provider.ts"],
  "@ai-sdk/anthropic": ["src/model/provider.ts"],
  "@ai-sdk/openai-compatible": ["src/model/provider.ts"],
  bottleneck: ["src/limits/pacing.ts"],
  commander: ["src/cli/"],
  croner: ["src/schedule/cron.ts"],
  dotenv: ["src/config/"],
  eventemitter3: ["src/core/events.ts"],
  fastify: ["src/local-network/", "src/console/", "src/mcp/"],
  // Optional: loaded for a store on a server.
  pg: ["src/store/postgres/open-connection.ts"],
  "p-queue": ["src/runtime/", "src/handlers/", "src/mcp/", "src/cli/commands/mcp.ts"],
  undici: ["src/client/", "src/local-network/"],
  yaml: ["src/config/"],
  zod: ["src/contract/", "src/config/"],
  ...Object.fromEntries(BUNDLED.map((name) => [name, ["src/console/page/"]])),
};

/** The page's own port of the browser. */
const BROWSER = "src/console/page/browser.ts";
const TIMERS = ["src/core/clock.ts", BROWSER];
/** Each global and the files that may touch it. */
const GLOBAL_HOMES: { readonly [name: string]: readonly string[] } = {
  "Date.now": TIMERS,
  "new Date()": TIMERS,
  "performance.now": TIMERS,
  setTimeout: TIMERS,
  clearTimeout: TIMERS,
  setInterval: [],
  clearInterval: [],
  // Virtual time lets the real event loop turn between its steps.
  setImmediate: [...TIMERS, "src/core/virtual-clock.ts"],
  clearImmediate: TIMERS,
  "Math.random": ["src/core/random.ts", BROWSER],
  // Made of constants there; a pattern made of what comes from outside would let anybody choose what it costs.
  RegExp: ["src/doctor/guess-shapes.ts", "src/local-network/"],
  "globalThis.RegExp": [],
  fetch: ["src/runtime/", "src/handlers/worker/worker.ts", BROWSER],
  "globalThis.fetch": ["src/runtime/", "src/handlers/worker/worker.ts"],
  "process.env": ["src/config/environment.ts", "src/cli/"],
  // All printing goes through the one output that makes text of others harmless.
  "process.stdin": ["src/cli/main.ts"],
  "process.stdout": ["src/cli/main.ts"],
  "process.stderr": ["src/cli/main.ts"],
};

const MAX_LINES = 400;
/** Files over the limit, each with its reason. */
const LONGER_FILES: { readonly [path: string]: string } = {};

/** The share of doc comments that may open with a free relative: such a sentence names its subject last, and is read twice. */
const MAX_FREE_RELATIVES = 0.05;
const FREE_RELATIVE = /^(?:What|Who|Where|Whether|Which|How|Whose|Those|Whatever|Whoever|Wherever|Whichever)\b/;

/** Commands share the name of their subject. */
const NAMESAKES: readonly string[] = ["src/cli/commands/"];
/** The folder that implements interfaces of the store and rules of limits, each under its name. */
const SQLITE = "src/store/sqlite/";
const IMPLEMENTED: readonly string[] = ["src/store/", "src/limits/"];

/**
 * Rooms in which each file that decides something has a test of its name, `test/<room>/<file>.test.ts`. A file decides if it exports a
 * function or class and holds a branch: types, tables, schemas and texts are left to the compiler and to those who use them.
 *
 * The others have rules of their own. `store/`: each file of the room itself, a port or what belongs to one, has a contract test, whatever
 * files of `sqlite/` implement it. `cli/`: one command, one test.
 * `console/page/`: components (`.tsx`) are tested together in a browser, by `test/console/page/`; files without one have a test each.
 * `local-network/` and `simulation/` are for development: they are tested by what they serve (the published rows, limits and webhooks; the
 * planted bugs that the oracles must find), not by file.
 */
const TESTED_ROOMS: readonly string[] = [...FLOORS.filter((room) => room !== "store"), "live"];
const THREADS = "a thread is tested whole, with its pool and its runtime: test/promises/isolation/worker-threads";
const BROWSED = "it lives in a browser, where it is tested with the views: test/console/page/views";
/** Files of these rooms without a test of their name, each with its reason. */
const UNTESTED_FILES: { readonly [path: string]: string } = {
  "src/handlers/worker/worker-pool.ts": THREADS,
  "src/handlers/worker/worker-thread.ts": THREADS,
  "src/store/store.ts": "all ports as one type, and nothing else",
  "src/console/page/live.ts": BROWSED,
  "src/console/page/loaded.ts": BROWSED,
  "src/console/page/notices.ts": BROWSED,
  "src/console/page/server.ts": BROWSED,
};

const sources = readTree(ROOT, "src/**/*.{ts,tsx}");
const everything = [...sources, ...readTree(ROOT, "{test,agents,examples,templates,scripts}/**/*.ts")];
const manifest: unknown = JSON.parse(readFileSync(posix.join(ROOT, "package.json"), "utf8"));

const folderOf = (path: string): string => path.split("/")[1] ?? "";
const within = (path: string, homes: readonly string[]): boolean =>
  homes.some((home) => (home.endsWith("/") ? path.startsWith(home) : path === home));
const targetOf = (file: SourceFile, request: string): string => posix.join(posix.dirname(file.path), request);

function forbiddenImports(files: readonly SourceFile[]): string[] {
  const broken: string[] = [];
  for (const file of files)
    for (const request of file.imports.filter((name) => name.startsWith("."))) {
      const target = targetOf(file, request);
      const [from, to] = [folderOf(file.path), folderOf(target)];
      const allowed = MAY_IMPORT[from];
      if (allowed === undefined) broken.push(`${file.path}: the folder is not in the import table`);
      else if (from !== to && !allowed.some((name) => name === EVERYTHING || name === to || `src/${name}` === target))
        broken.push(`${file.path} imports ${request}`);
    }
  return [...new Set(broken)];
}

/** Every import chain that leads back to where it began. */
function cycles(files: readonly SourceFile[]): string[] {
  const next = new Map(
    files.map((file) => [file.path, file.imports.filter((name) => name.startsWith(".")).map((name) => targetOf(file, name))]),
  );
  const found: string[] = [];
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    const seenAt = trail.indexOf(path);
    if (seenAt >= 0) return void found.push([...trail.slice(seenAt), path].join(" -> "));
    if (done.has(path)) return;
    for (const target of next.get(path) ?? []) visit(target, [...trail, path]);
    done.add(path);
  };
  for (const file of files) visit(file.path, []);
  return found;
}

function declaredPackages(): string[] {
  const names: string[] = [...BUNDLED];
  if (typeof manifest !== "object" || manifest === null) return names;
  for (const part of ["dependencies", "peerDependencies"] as const) {
    const list: unknown = Reflect.get(manifest, part);
    if (typeof list === "object" && list !== null) names.push(...Object.keys(list));
  }
  return names;
}

const packageName = (request: string): string => request.match(/^(@[^/]+\/[^/]+|[^/]+)/)?.[0] ?? request;
const isBuiltin = (request: string): boolean => request.startsWith("node:") || builtinModules.includes(request);

function homelessPackages(files: readonly SourceFile[]): string[] {
  const declared = declaredPackages();
  const broken: string[] = [];
  for (const file of files)
    for (const request of file.imports.filter((name) => !name.startsWith("."))) {
      const name = isBuiltin(request) ? request : packageName(request);
      const homes = PACKAGE_HOMES[name];
      if (homes !== undefined && !within(file.path, homes)) broken.push(`${file.path} imports ${name}, whose home is ${homes.join(", ")}`);
      else if (!isBuiltin(request) && !declared.includes(name)) broken.push(`${file.path} imports ${name}, which is no dependency`);
      else if (!isBuiltin(request) && homes === undefined) broken.push(`${file.path} imports ${name}, which has no home`);
      else if (isBuiltin(request) && !request.startsWith("node:")) broken.push(`${file.path} imports ${request} without node:`);
    }
  return broken;
}

function homelessGlobals(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) =>
    file.globals.filter((name) => !within(file.path, GLOBAL_HOMES[name] ?? TIMERS)).map((name) => `${file.path} uses ${name}`),
  );
}

/** The doc comments that open with a free relative, and the number of all. */
function freeRelatives(files: readonly SourceFile[]): { readonly found: readonly string[]; readonly all: number } {
  const docs = files.flatMap(({ path, docs }) => docs.map((text) => ({ path, text })));
  return { found: docs.filter(({ text }) => FREE_RELATIVE.test(text)).map(({ path, text }) => `${path}: ${text}`), all: docs.length };
}

function tooManyFreeRelatives(files: readonly SourceFile[]): readonly string[] {
  const { found, all } = freeRelatives(files);
  return found.length > MAX_FREE_RELATIVES * all ? found : [];
}

/** Paths that share a base name, joined. */
function sharedNames(files: readonly SourceFile[]): readonly string[] {
  const paths = files.map(({ path }) => path);
  const implementsOne = (path: string): boolean =>
    path.startsWith(SQLITE) && IMPLEMENTED.some((room) => paths.includes(path.replace(SQLITE, room)));
  const named = files.filter(({ path }) => !within(path, NAMESAKES) && !implementsOne(path));
  const byName = Map.groupBy(named, ({ path }) => posix.basename(path));
  return [...byName.values()].filter((same) => same.length > 1).map((same) => same.map(({ path }) => path).join(", "));
}

/** The test that a file must have; undefined for a file that needs none. */
function testOf({ path, decides }: SourceFile): string | undefined {
  if (path.endsWith(".tsx")) return undefined;
  const name = posix.basename(path, ".ts");
  const folder = posix.dirname(path);
  if (folder === "src/cli/commands") return `test/cli/${name}.test.ts`;
  if (folder === "src/store") return `test/store/${name}.test.ts`;
  return decides && TESTED_ROOMS.includes(folderOf(path)) ? `test/${folder.slice("src/".length)}/${name}.test.ts` : undefined;
}

/** Files without the test that they must have, and exceptions that are none. */
function withoutTest(files: readonly SourceFile[], tests: readonly string[], exceptions = UNTESTED_FILES): readonly string[] {
  const needs = files.filter((file) => {
    const test = testOf(file);
    return test !== undefined && !tests.includes(test);
  });
  const paths = needs.map(({ path }) => path);
  const stale = Object.keys(exceptions).filter((path) => !paths.includes(path));
  return [...paths.filter((path) => !Object.hasOwn(exceptions, path)), ...stale.map((path) => `${path} is no exception`)];
}

describe("the structure", () => {
  test("the files were read", () => {
    expect(sources.length).toBeGreaterThan(15);
    expect(sources.some((file) => file.imports.length > 0)).toBe(true);
  });

  test("a folder imports only what the table allows, types included", () => expect(forbiddenImports(sources)).toEqual([]));

  test("no file leads back to itself, by values or by types", () => expect(cycles(sources)).toEqual([]));

  test("each third-party package has one home and is declared", () => expect(homelessPackages(sources)).toEqual([]));

  test("time, chance, network, environment and patterns have one home each", () => expect(homelessGlobals(sources)).toEqual([]));

  test("no file re-exports everything of another", () =>
    expect(everything.filter((file) => file.exportsEverything).map((file) => file.path)).toEqual([]));

  test(`no file is longer than ${MAX_LINES} lines without a stated reason`, () =>
    expect(everything.filter((file) => file.lines > MAX_LINES && !Object.hasOwn(LONGER_FILES, file.path)).map((file) => file.path)).toEqual(
      [],
    ));

  test("at most one doc comment in twenty opens with a free relative", () => expect(tooManyFreeRelatives(sources)).toEqual([]));

  test("a base name stands for one thing", () => expect(sharedNames(sources)).toEqual([]));

  test("a file that decides something has a test of its name, and so has a command", () =>
    expect(
      withoutTest(
        sources,
        readTree(ROOT, "test/**/*.test.ts").map(({ path }) => path),
      ),
    ).toEqual([]));

  test("every source file opens with a sentence that says what it is for", () =>
    expect(sources.filter((file) => !/\w+( \S+){2,}[.:]/s.test(file.opening)).map((file) => file.path)).toEqual([]));
});

describe("the check itself", () => {
  const source = (path: string, text: string): SourceFile => readSource(path, text);

  test("sees type-only, dynamic and inline type imports", () => {
    const file = source(
      "src/core/x.ts",
      `import type { A } from "./a.ts"; export { b } from "./b.ts"; let c: import("./c.ts").C; const d = import("./d.ts");`,
    );
    expect(file.imports).toEqual(["./a.ts", "./b.ts", "./c.ts", "./d.ts"]);
  });

  test("names a forbidden import and a folder that is not in the table", () => {
    expect(forbiddenImports([source("src/core/x.ts", `import type { A } from "../store/a.ts";`)])).toHaveLength(1);
    expect(forbiddenImports([source("src/store/x.ts", `import type { A } from "../outbox/intent.ts";`)])).toEqual([]);
    expect(forbiddenImports([source("src/store/x.ts", `import type { A } from "../outbox/send.ts";`)])).toHaveLength(1);
    expect(forbiddenImports([source("src/strange/x.ts", `import "../core/a.ts";`)])).toHaveLength(1);
  });

  test("finds a cycle of types", () => {
    const a = source("src/core/a.ts", `import type { B } from "./b.ts";`);
    const b = source("src/core/b.ts", `import type { A } from "./a.ts";`);
    expect(cycles([a, b])).toEqual(["src/core/a.ts -> src/core/b.ts -> src/core/a.ts"]);
  });

  test("tells a global from a property or type of the same name", () => {
    expect(
      source("x.ts", `act.fetch(); const o = { fetch: 1 }; type T = typeof globalThis.fetch; function f(fetch: T) {}`).globals,
    ).toEqual([]);
    expect(source("x.ts", `const now = Date.now; setTimeout(f, 1); run(fetch); new Date(); new Date(5);`).globals).toEqual([
      "Date.now",
      "setTimeout",
      "fetch",
      "new Date()",
    ]);
  });

  test("names an undeclared package and one away from home", () => {
    expect(homelessPackages([source("src/core/x.ts", `import "zod";`)])).toHaveLength(1);
    expect(homelessPackages([source("src/core/x.ts", `import "vitest";`)])).toHaveLength(1);
    expect(homelessPackages([source("src/contract/x.ts", `import "zod";`)])).toEqual([]);
  });

  test("names doc comments that open with a free relative, once they are more than one in twenty", () => {
    const plain = Array.from({ length: 18 }, (_, i) => `/** Returns the number ${i}. */ const n${i} = ${i};`).join("\n");
    const relative = "/** What is left. */ const a = 1; // What is no doc comment\n";
    expect(tooManyFreeRelatives([source("src/core/x.ts", `${plain}\n${relative}`)])).toEqual(["src/core/x.ts: What is left."]);
    expect(tooManyFreeRelatives([source("src/core/x.ts", `${plain}\n/** Returns one. */ const b = 1;\n${relative}`)])).toEqual([]);
    const long = "/**\n * How long a wait is, in ms.\n * Whatever follows is no opening.\n */ const c = 1;";
    expect(freeRelatives([source("src/core/x.ts", long)])).toMatchObject({ found: [expect.stringMatching(/: How long a wait/)], all: 1 });
  });

  test("names a file without a test of its name, and an exception that is none", () => {
    const code = "export function pick(a: number) { return a > 1 ? a : 1; }";
    const files = ["src/outbox/send.ts", "src/outbox/queue.ts", "src/simulation/x.ts"].map((path) => source(path, code));
    expect(withoutTest(files, ["test/outbox/send.test.ts"], {})).toEqual(["src/outbox/queue.ts"]);
    expect(withoutTest(files, ["test/outbox/send.test.ts"], { "src/outbox/queue.ts": "a thread" })).toEqual([]);
    const stale = { "src/outbox/send.ts": "none", "src/outbox/queue.ts": "a thread", "src/outbox/gone.ts": "gone" };
    expect(withoutTest(files, ["test/outbox/send.test.ts"], stale)).toEqual([
      "src/outbox/send.ts is no exception",
      "src/outbox/gone.ts is no exception",
    ]);
    expect(withoutTest([source("src/cli/commands/halt.ts", "export const command = {};")], [], {})).toHaveLength(1);
  });

  test.each([
    [true, "export function pick(a: number) { if (a > 1) return a; return 1; }"],
    [true, "export const pick = (a?: number) => a ?? 1;"],
    [true, "export class Picker { pick(list: number[]) { for (const one of list) return one; } }"],
    [false, "export function plain(a: number) { return a + 1; }"],
    [false, "export const TABLE = { a: (b?: number) => b ?? 1 };"],
    [false, "function inner(a?: number) { return a ?? 1; } export const N = inner();"],
    [false, "export interface A { readonly b: 1 | 2 }"],
  ])("a file decides: %s, in %s", (decides, text) => {
    expect(source("src/core/x.ts", text).decides).toBe(decides);
  });

  test("names files of one name, but for implementations and commands", () => {
    const named = (...paths: readonly string[]): readonly SourceFile[] => paths.map((path) => source(path, "export {};"));
    expect(sharedNames(named("src/limits/keys.ts", "src/gateway/keys.ts"))).toEqual(["src/limits/keys.ts, src/gateway/keys.ts"]);
    expect(sharedNames(named("src/store/inbox.ts", "src/store/sqlite/inbox.ts", "src/cli/commands/inbox.ts"))).toEqual([]);
    expect(sharedNames(named("src/core/rows.ts", "src/store/sqlite/rows.ts"))).toHaveLength(1);
  });
});

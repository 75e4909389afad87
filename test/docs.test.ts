/** Holds the guides to the code: every block compiles, parses or names what exists, every link leads somewhere, every code is told. */
import { execFile } from "node:child_process";
import { copyFileSync, existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { parse as parseDotenv } from "dotenv";
import { describe, expect, onTestFinished, test } from "vitest";
import { agentRecord, communityRecord, jobRecord, postRecord, resultRecord, statsRecord } from "../src/contract/records.ts";
import { ERROR_CODES } from "../src/core/error-codes.ts";
import { COMMANDS } from "../src/cli/commands.ts";
import { projectFiles } from "../src/cli/new-project.ts";
import { readConfig } from "../src/config/config.ts";
import { loadDefinitions } from "../src/config/definitions.ts";
import { readAnswers, readCrowd, readReplies } from "../src/config/simulation-files.ts";
import { readProfile } from "../src/config/profile-file.ts";
import { GROUPS } from "../site/pages.ts";
import { INTERFACE_PAGE, interfacePage } from "../scripts/interface-page.ts";
import { membersOf } from "./harness/source-tree.ts";

const ROOT = join(import.meta.dirname, "..");
/** The definition that stands beside the blocks. */
const HELLO = join(ROOT, "templates/bot/agents/hello.ts");
const PAGES = ["README.md", ...globSync("docs/*.md", { cwd: ROOT }), ...globSync("examples/**/README.md", { cwd: ROOT })].toSorted();

interface Block {
  readonly page: string;
  readonly line: number;
  readonly language: string;
  readonly text: string;
}

const blocks = PAGES.flatMap(blocksOf);
const inLanguage = (...names: readonly string[]): readonly Block[] => blocks.filter(({ language }) => names.includes(language));
const named = (all: readonly Block[]) => all.map((block) => [`${block.page}:${block.line}`, block] as const);

function blocksOf(page: string): Block[] {
  const text = readFileSync(join(ROOT, page), "utf8");
  return [...text.matchAll(/^```([a-z]*)\n([\s\S]*?)^```$/gm)].map(({ index, 1: language = "", 2: body = "" }) => ({
    page,
    line: text.slice(0, index).split("\n").length + 1,
    language,
    text: body,
  }));
}

/** A folder inside the checkout, so that `retinue` means its sources, and away again with the test. */
function scratch(onTestFinished: (clean: () => void) => void): string {
  mkdirSync(join(ROOT, ".retinue"), { recursive: true });
  const folder = mkdtempSync(join(ROOT, ".retinue/docs-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const LANGUAGES = ["ts", "sh", "yaml", "dotenv", "json"];

test("there are pages, with blocks of every language we check", () => {
  expect(PAGES.length).toBeGreaterThanOrEqual(10);
  for (const language of LANGUAGES) expect([language, inLanguage(language).length > 0]).toEqual([language, true]);
  expect(blocks.filter(({ language }) => !LANGUAGES.includes(language))).toEqual([]);
});

test("docs/interface.md is what the code says: `npm run interface` writes it", () => {
  expect(readFileSync(INTERFACE_PAGE, "utf8")).toBe(interfacePage());
});

test("every TypeScript block compiles against the package by its name", async ({ onTestFinished }) => {
  const folder = scratch(onTestFinished);
  const names = new Map<string, string>();
  for (const [i, { page, line, text }] of inLanguage("ts").entries()) {
    names.set(`block-${i}.ts`, `${page}:${line}`);
    writeFileSync(join(folder, `block-${i}.ts`), text);
  }
  copyFileSync(HELLO, join(folder, "hello.ts"));
  const settings = {
    extends: join(ROOT, "tsconfig.json"),
    include: ["*.ts"],
    compilerOptions: { typeRoots: [join(ROOT, "node_modules/@types")] },
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(settings));
  const told = (await typeMistakes(folder)).replaceAll(/\S*?(block-\d+\.ts)/g, (whole, file: string) => names.get(file) ?? whole);
  expect(told).toBe("");
});

test.each(named(inLanguage("ts").filter(({ text }) => text.includes('from "node:test"'))))(
  "the tests of %s pass",
  async (_name, { text }) => {
    const folder = scratch(onTestFinished);
    copyFileSync(HELLO, join(folder, "hello.ts"));
    writeFileSync(join(folder, "block.test.ts"), text);
    const { stdout } = await promisify(execFile)(process.execPath, ["--conditions=retinue-source", "--test"], { cwd: folder });
    expect(stdout).toMatch(/^(?:ℹ|#) fail 0$/m);
    expect(stdout).not.toMatch(/^(?:ℹ|#) pass 0$/m);
  },
);

function typeMistakes(folder: string): Promise<string> {
  return promisify(execFile)(join(ROOT, "node_modules/.bin/tsc"), ["--pretty", "false", "-p", folder], { cwd: folder }).then(
    ({ stdout }) => stdout,
    (error: { readonly stdout?: string; readonly message: string }) => error.stdout ?? error.message,
  );
}

/** The settings of a desktop client, which start one of our commands. */
const isClientConfig = ({ text }: Block): boolean => text.includes('"mcpServers"');

test.each(named(inLanguage("json").filter(isClientConfig)))("%s starts a command that exists", async (_name, { text }) => {
  const { mcpServers } = JSON.parse(text) as {
    readonly mcpServers: { readonly [name: string]: { readonly command: string; readonly args: string[] } };
  };
  const [{ command, args }] = Object.values(mcpServers) as [{ readonly command: string; readonly args: string[] }];
  expect([command, ...args.slice(0, 1), ...args.slice(2, 6)]).toEqual(["npm", "--prefix", "run", "--silent", "retinue", "--"]);
  expect(await mistakesInOurs(args.slice(6).join(" "))).toEqual([]);
});

test.each(named(inLanguage("json").filter((block) => !isClientConfig(block))))(
  "%s is a tsconfig.json that shows a mistake of a definition, and no other",
  async (_name, { text }) => {
    const folder = scratch(onTestFinished);
    const { compilerOptions, ...rest } = JSON.parse(text) as { readonly compilerOptions: object };
    const inCheckout = { customConditions: ["retinue-source"], typeRoots: [join(ROOT, "node_modules/@types")] };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ ...rest, compilerOptions: { ...compilerOptions, ...inCheckout } }));
    mkdirSync(join(folder, "agents"));
    const definition = inLanguage("ts").find(({ page }) => page === "README.md")?.text ?? "";
    writeFileSync(join(folder, "agents/hello.ts"), definition);
    writeFileSync(join(folder, "agents/wrong.ts"), definition.replace("act.reply(", "act.replly("));
    expect(await typeMistakes(folder)).toMatch(/^agents\/wrong\.ts\(\d+,\d+\): error TS2551: Property 'replly' .*\n$/);
  },
);

/** Command lines, with lines that end in a backslash joined, without comments, redirections and variables in front. */
function commandLines({ text }: Block): readonly string[] {
  return text
    .replaceAll(/\\\n\s*/g, "")
    .split("\n")
    .flatMap((line) => line.split("&&"))
    .map((line) => line.replace(/(^|\s)(?:#.*|> \S+)$/, "").trim())
    .map((line) => line.replace(/^(?:[A-Z_]+=\S+\s+)+/, ""))
    .filter((line) => line !== "");
}

const SCRIPTS = Object.keys((JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { readonly scripts: object }).scripts);
const PROJECT =
  projectFiles("bots", "bot")
    .find(({ path }) => path === "package.json")
    ?.content.toString() ?? "{}";
/** Of the checkout, and of a project that `retinue init` writes. */
const ALL_SCRIPTS = [...SCRIPTS, ...Object.keys((JSON.parse(PROJECT) as { readonly scripts: object }).scripts)];
/** Files that a reader makes from a block. */
const isExample = (path: string): boolean => /^(?:agents|mine)\/hello\.test\.ts$/.test(path);
const OTHER_PROGRAMS = ["cp", "sudo", "docker", "cd", "mkdir"];
const NPM_WORDS = ["ci", "start", "test", "pack", "install", "init", "pkg"];

describe.each(named(inLanguage("sh")))("the commands of %s", (_name, block) => {
  test.each(commandLines(block))("%s", async (line) => {
    expect(await mistakesIn(line)).toEqual([]);
  });
});

async function mistakesIn(line: string): Promise<readonly string[]> {
  const ours = /^(?:npm run )?retinue(?: --)? (.*)$/.exec(line)?.[1];
  if (ours !== undefined) return mistakesInOurs(ours);
  const [program = "", first = "", second = "", ...words] = line.split(/\s+/);
  if (program === "npx") return mistakesIn(line.replace(/^npx (?:-p \S+ )*/, ""));
  if (program === "tsc") return [];
  if (program === "npm")
    return (first === "run" ? ALL_SCRIPTS.includes(second) : NPM_WORDS.includes(first)) ? [] : [`npm ${first} ${second}`];
  if (program === "node")
    return [first, second, ...words].filter((word) => word.endsWith(".ts") && !isExample(word) && !existsSync(join(ROOT, word)));
  return OTHER_PROGRAMS.includes(program) ? [] : [program];
}

/** The command exists, takes these flags, and as many words as these. */
async function mistakesInOurs(line: string): Promise<readonly string[]> {
  const [name = "", ...words] = [...line.matchAll(/'[^']*'|\S+/g)].map(([word]) => word);
  const command = (await COMMANDS.find((one) => one.name === name)?.load())?.command;
  if (command === undefined) return [name];
  const takesValue = new Map([
    ["--json", false],
    ...command.options.map(({ flags }) => [flags.split(" ")[0] ?? "", flags.includes("<")] as const),
  ]);
  const isValue = (at: number): boolean => takesValue.get(words[at - 1] ?? "") === true;
  const unknown = words.filter((word, at) => word.startsWith("--") && !isValue(at) && !takesValue.has(word));
  const operands = words.filter((word, at) => !word.startsWith("--") && !isValue(at)).length;
  const wanted = command.arguments ?? "";
  const fits = operands >= [...wanted.matchAll(/</g)].length && operands <= [...wanted.matchAll(/[<[]/g)].length;
  return [...unknown, ...(fits ? [] : [`${operands} words for ${name} ${wanted}`])];
}

const isProfile = ({ text }: Block): boolean => /^extends:/m.test(text);
/** Files of a simulation say which they are. */
const SIMULATION_FILES = { "# crowd.yaml": readCrowd, "# answers.yaml": readAnswers, "# replies.yaml": readReplies } as const;
const simulationReader = ({ text }: Block) => Object.entries(SIMULATION_FILES).find(([title]) => text.startsWith(title))?.[1];

/** A YAML block as the one file of a folder. */
function asFile(text: string, onTestFinished: (clean: () => void) => void): string {
  const folder = scratch(onTestFinished);
  writeFileSync(join(folder, "block.yaml"), text);
  return folder;
}

test.each(named(inLanguage("yaml").filter(isProfile)))("%s is a profile without a mistake", async (_name, { text }) => {
  const folder = asFile(text, onTestFinished);
  expect((await readProfile(join(folder, "block.yaml"))).problems).toEqual([]);
});

test.each(named(inLanguage("yaml").filter(simulationReader)))("%s is a file of a simulation without a mistake", async (_name, block) => {
  const { problems } = (await simulationReader(block)?.("block.yaml", asFile(block.text, onTestFinished))) ?? { problems: ["not read"] };
  expect(problems).toEqual([]);
});

test.each(named(inLanguage("yaml").filter((block) => !isProfile(block) && simulationReader(block) === undefined)))(
  "%s is a definition without a mistake",
  async (_name, { text }) => {
    const { definitions, problems } = await loadDefinitions(asFile(text, onTestFinished));
    expect([definitions.length, problems]).toEqual([1, []]);
  },
);

test.each(named(inLanguage("dotenv")))("%s holds variables we read", async (_name, { text }) => {
  const env = parseDotenv(text);
  expect(Object.keys(env).length).toBeGreaterThan(0);
  const { problems } = await readConfig({ cwd: join(ROOT, "docs"), env });
  expect(problems).toEqual([]);
});

describe("docs/handlers.md lists what a handler gets and may call", () => {
  const page = readFileSync(join(ROOT, "docs/handlers.md"), "utf8");
  /** The cells of the tables below a heading, each without its marks. */
  const rowsBelow = (title: string): readonly (readonly string[])[] => {
    const [, , section = ""] = new RegExp(`^#+ (${title})\\n([\\s\\S]*?)(?=^#|(?![\\s\\S]))`, "m").exec(page) ?? [];
    return [...section.matchAll(/^\| (`.*) \|$/gm)].map(([, row = ""]) => row.split(" | ").map((cell) => cell.replaceAll("`", "")));
  };
  const namedBelow = (title: string): readonly string[] => rowsBelow(title).map(([name = ""]) => name);
  const formsOf = (file: string, name: string): readonly string[] => membersOf(join(ROOT, "src", file), name).map(({ form }) => form);

  test("every member of act, with its parameters", () => {
    const told = [...namedBelow("Decisions"), ...namedBelow("The rest of `act`")];
    const forms = new Set(formsOf("specialist/act.ts", "Act").map((form) => `act.${form}`)); // overloads have one form
    expect(told.toSorted()).toEqual([...forms].toSorted());
    expect(namedBelow("Reads")).toEqual(formsOf("specialist/act.ts", "Reads").map((form) => `act.read.${form}`));
    expect(namedBelow("Options")).toEqual(formsOf("specialist/act.ts", "IntentOptions"));
  });

  test("every kind of event, with its payload", () => {
    const payloads = membersOf(join(ROOT, "src/contract/event-kinds.ts"), "EventPayloads").map(({ form, type }) => [form, type]);
    expect(payloads.length).toBeGreaterThan(10);
    expect(rowsBelow("Payloads").map((row) => row.slice(0, 2))).toEqual(payloads);
  });

  test.each(["Receipt", "Like", "ApprovalRequest", "ExtraEvent"])("every field of %s", (name) => {
    expect(namedBelow(name)).toEqual(formsOf("contract/event-kinds.ts", name));
  });

  test.each([
    ["Post", postRecord],
    ["Job", jobRecord],
    ["Agent", agentRecord],
    ["Community", communityRecord],
    ["Stats", statsRecord],
    ["SearchResult", resultRecord],
  ] as const)("every field of %s", (name, { shape }) => {
    const fields = Object.entries(shape).map(([field, schema]) => (schema.safeParse(undefined).success ? `${field}?` : field));
    expect(namedBelow(name).toSorted()).toEqual(fields.toSorted());
  });
});

test("every relative link leads somewhere", () => {
  const links = [...PAGES, "ARCHITECTURE.md", "CONTRIBUTING.md"].flatMap((page) =>
    [...readFileSync(join(ROOT, page), "utf8").matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => ({ page, link })),
  );
  expect(links.length).toBeGreaterThan(15);
  const broken = links.filter(({ page, link }) => {
    if (/^[a-z]+:/.test(link)) return false;
    const [path = "", anchor] = link.split("#");
    const file = path === "" ? join(ROOT, page) : join(ROOT, dirname(page), path);
    if (!existsSync(file)) return true;
    return anchor !== undefined && !headings(file).includes(anchor);
  });
  expect(broken).toEqual([]);
});

test("every link of a page in the package leads into the package", () => {
  const { files } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { readonly files: readonly string[] };
  const isWithin = (path: string, entry: string): boolean => path === entry || path.startsWith(`${entry}/`);
  const isPacked = (path: string): boolean =>
    files.some((entry) => isWithin(path, entry)) && !files.some((entry) => entry.startsWith("!") && isWithin(path, entry.slice(1)));
  const pages = globSync("{*,docs/*,examples/**/*}.md", { cwd: ROOT }).filter(isPacked);
  expect(pages.length).toBeGreaterThan(15);
  const lost = pages.flatMap((page) =>
    [...readFileSync(join(ROOT, page), "utf8").matchAll(/\]\((?![a-z]+:)([^)#\s]+)[^)]*\)/g)]
      .map(([, link = ""]) => join(dirname(page), link))
      .filter((path) => !isPacked(path) && !path.endsWith(".png")) // pictures of the console are in the repository alone
      .map((path) => `${page} -> ${path}`),
  );
  expect(lost).toEqual([]);
});

test("every page stands once in the list from which the site makes its sidebar and llms.txt", () => {
  const listed = GROUPS.flatMap(({ pages }) => pages.map(({ path }) => path));
  const others = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "examples/README.md"];
  expect(listed.toSorted()).toEqual([...globSync("docs/*.md", { cwd: ROOT }), ...others].toSorted());
});

test("the site has API pages of every door of the package, read with the package's own versions of what their types come from", () => {
  const read = (path: string): unknown => JSON.parse(readFileSync(join(ROOT, path), "utf8"));
  const { exports, dependencies, devDependencies } = read("package.json") as Manifest;
  const site = read("site/package.json") as Manifest;
  const { entryPoints } = read("site/typedoc.json") as { readonly entryPoints: readonly string[] };
  const doors = Object.values(exports).flatMap((door) => (typeof door === "string" ? [] : [join("..", door["retinue-source"])]));
  expect(entryPoints.toSorted()).toEqual(doors.toSorted());
  expect(site.devDependencies["zod"]).toBe(dependencies["zod"]);
  expect(site.devDependencies["@types/node"]).toBe(devDependencies["@types/node"]);
});

interface Manifest {
  readonly exports: { readonly [path: string]: string | { readonly "retinue-source": string } };
  readonly dependencies: { readonly [name: string]: string };
  readonly devDependencies: { readonly [name: string]: string };
}

test("the folder of the README's first specialist is one that the editor checks, and git leaves out", () => {
  const [, folder = ""] = /with the file `(\w+)\/hello\.ts`/.exec(readFileSync(join(ROOT, "README.md"), "utf8")) ?? [];
  const { include } = JSON.parse(readFileSync(join(ROOT, "tsconfig.json"), "utf8")) as { readonly include: readonly string[] };
  expect(include).toContain(folder);
  expect(readFileSync(join(ROOT, ".gitignore"), "utf8").split("\n")).toContain(`/${folder}/`);
});

function headings(file: string): readonly string[] {
  return [...readFileSync(file, "utf8").matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w -]/g, "")
      .replaceAll(" ", "-"),
  );
}

test("the README names the two commands, and every command there is", () => {
  const readme = readFileSync(join(ROOT, "README.md"), "utf8");
  expect(readme).toContain("npm ci && npm start");
  expect(readme).toContain("npm ci && npm test");
  const [, table = ""] = /^## Commands\n([\s\S]*?)^## /m.exec(readme) ?? [];
  const rows = [...table.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, cell = ""]) => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name));
  expect(new Set(rows)).toEqual(new Set(COMMANDS.map(({ name }) => name)));
});

test("every error code is explained in docs/errors.md, once, and none that is gone", () => {
  const page = readFileSync(join(ROOT, "docs/errors.md"), "utf8");
  const told = [...page.matchAll(/^\| `([a-z_0-9]+)`/gm)].map(([, code = ""]) => code);
  expect(told.toSorted()).toEqual([...ERROR_CODES].toSorted());
  const sources = globSync("src/**/*.ts", { cwd: ROOT }).filter((path) => !path.endsWith("core/error-codes.ts"));
  const texts = sources.map((path) => readFileSync(join(ROOT, path), "utf8"));
  expect(ERROR_CODES.filter((code) => !texts.some((text) => text.includes(`"${code}"`)))).toEqual([]);
});

test("every public name has a docstring", () => {
  const doors = ["src/index.ts", "src/model.ts", "src/testing.ts"].map((door) => readFileSync(join(ROOT, door), "utf8"));
  const names = doors.flatMap((text) =>
    [...text.matchAll(/export (?:type )?\{([^}]*)\} from "\.\/([^"]+)"/g)].flatMap(([, list = "", file = ""]) =>
      list
        .split(",")
        .map((item) => item.replace("type ", "").trim())
        .filter((name) => name !== "")
        .map((name) => ({ name, file })),
    ),
  );
  expect(names.length).toBeGreaterThan(80);
  const bare = names.filter(({ name, file }) => {
    const text = readFileSync(join(ROOT, "src", file), "utf8");
    return !new RegExp(`\\*/\\nexport (?:abstract |async )?(?:class|interface|type|const|function) ${name}\\b`).test(text);
  });
  expect(bare).toEqual([]);
});

test("Node's settings are the same in the first line of the command, in the scripts and in the docs", () => {
  const [line = ""] = readFileSync(join(ROOT, "bin/retinue.js"), "utf8").split("\n", 1);
  const shipped = line.replace("#!/usr/bin/env -S ", "");
  expect(shipped).toMatch(/^MALLOC_ARENA_MAX=\d node --max-semi-space-size=\d+$/);
  const stated = ["package.json", "docs/operating.md"].flatMap((file) =>
    readFileSync(join(ROOT, file), "utf8")
      .split("\n")
      .filter((text) => text.includes("--max-semi-space-size")),
  );
  expect(stated).toHaveLength(3);
  for (const text of stated) expect(text.replace("exec node", "node")).toContain(shipped);
});

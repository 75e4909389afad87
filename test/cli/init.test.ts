/** `retinue init`: a project that works at once, or nothing at all. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { TEMPLATES, type TemplateName } from "../../src/cli/new-project.ts";
import { isObject, parseJson, textIn } from "../../src/core/json.ts";
import { inProcess } from "../harness/cli.ts";
import { project } from "../harness/project.ts";
import { canMake, smallDisk } from "../harness/small-disk.ts";

const ROOT = join(import.meta.dirname, "../..");
const NAMES = Object.keys(TEMPLATES) as TemplateName[];

/** A project made in the checkout, with the link to it that `npm install` makes. */
async function made(template: string): Promise<string> {
  const { root } = project();
  const { code, stderr } = await inProcess(["init", "bots", "--template", template], { cwd: root });
  expect([code, stderr]).toEqual([0, ""]);
  const folder = join(root, "bots");
  mkdirSync(join(folder, "node_modules/@types"), { recursive: true });
  symlinkSync(ROOT, join(folder, "node_modules/retinue"));
  symlinkSync(join(ROOT, "node_modules/@types/node"), join(folder, "node_modules/@types/node"));
  return folder;
}

function run(folder: string, ...args: readonly string[]) {
  const env = { PATH: process.env["PATH"] };
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8", env });
  return { status, said: stdout + stderr };
}

test("no template has a mistake for the compiler", async () => {
  const folders = await Promise.all(NAMES.map(made));
  const [first = ""] = folders;
  // Together, since most of the compiler's time is for what they all import.
  const include = folders.flatMap((folder) => [join(folder, "agents"), join(folder, "*.ts")]);
  writeFileSync(join(first, "all.json"), JSON.stringify({ extends: "./tsconfig.json", include }));
  expect(run(first, join(ROOT, "node_modules/typescript/bin/tsc"), "-p", "all.json")).toEqual({ status: 0, said: "" });
});

describe.each(NAMES)("the template %s", (name) => {
  test("has no mistake for `check`, and its tests pass", async () => {
    const folder = await made(name);
    const checked = run(folder, "--conditions=retinue-source", join(ROOT, "bin/retinue.js"), "check", "--no-keys", "--strict");
    expect(checked.said).toContain("1 specialist, no mistakes");
    expect(checked.status).toBe(0);
    const tested = run(folder, "--conditions=retinue-source", "--test");
    expect(tested.said).toMatch(/^(?:ℹ|#) fail 0$/m);
    expect(tested.said).not.toMatch(/^(?:ℹ|#) pass 0$/m);
    expect(tested.status).toBe(0);
  });
});

test("the day of a model-driven project is simulated with the replies that it brings", async () => {
  const folder = await made("model");
  const manifest = parseJson(readFileSync(join(folder, "package.json"), "utf8"));
  const scripts = isObject(manifest) && isObject(manifest["scripts"]) ? manifest["scripts"] : {};
  const [, args = ""] = / simulate (.*)$/.exec(textIn(scripts, "simulate") ?? "") ?? [];
  const { code, stdout } = await inProcess(["simulate", ...args.split(" "), "--for", "1h", "--faults", "none"], { cwd: folder });
  expect([code, stdout]).toEqual([0, expect.stringMatching(/Actions: posts\.reply \d+ confirmed/)]);
});

test("a project holds what it needs: settings, tests, a unit, an image, and an .env that only its owner reads", async () => {
  const folder = await made("webhook");
  expect(readdirSync(folder).toSorted()).toEqual([
    ".dockerignore",
    ".env",
    ".gitignore",
    "Dockerfile",
    "README.md",
    "agents",
    "node_modules",
    "package.json",
    "retinue.config.ts",
    "retinue.service",
    "tsconfig.json",
  ]);
  expect(statSync(join(folder, ".env")).mode & 0o777).toBe(0o600);
  expect(readFileSync(join(folder, ".gitignore"), "utf8").split("\n")).toContain(".env");
  const manifest = parseJson(readFileSync(join(folder, "package.json"), "utf8"));
  expect(manifest).toMatchObject({ name: "bots", private: true, type: "module", dependencies: { retinue: `file:${ROOT}` } });
  const all = isObject(manifest) ? Object.values({ ...Object(manifest["dependencies"]), ...Object(manifest["devDependencies"]) }) : [];
  expect(all.filter((version) => !/^(?:file:|\d+\.\d+\.\d+$)/.test(String(version)))).toEqual([]);
  const texts = readdirSync(folder).filter((name) => !name.startsWith("node_modules") && name !== "agents");
  for (const name of texts) expect([name, readFileSync(join(folder, name), "utf8")]).not.toEqual([name, expect.stringContaining("{{")]);
  const secrets = /RETINUE_WEBHOOK_SECRET=(\S{32,})/.exec(readFileSync(join(folder, ".env"), "utf8"));
  expect(secrets).not.toBeNull();
});

test("it says what to type next, also for a folder whose name a shell would split", async () => {
  const { root } = project();
  const { stdout } = await inProcess(["init", "my bots", "--json"], { cwd: root });
  expect(JSON.parse(stdout)).toMatchObject({
    ok: true,
    template: "bot",
    next: ["cd 'my bots'", "npm install", "npm test", "npm run check", "npm run dev"],
  });
  expect(parseJson(readFileSync(join(root, "my bots/package.json"), "utf8"))).toMatchObject({ name: "my-bots" });
  const here = project();
  const inPlace = await inProcess(["init", ".", "--json"], { cwd: here.root });
  expect(JSON.parse(inPlace.stdout)).toMatchObject({ next: ["npm install", "npm test", "npm run check", "npm run dev"] });
});

test("the name of a project is one that npm takes", async () => {
  for (const [name, wanted] of [
    ["retinue", "my-specialists"],
    ["Übung 7", "bung-7"],
    ["___", "my-specialists"],
  ] as const) {
    const { root } = project();
    await inProcess(["init", name], { cwd: root });
    expect(parseJson(readFileSync(join(root, name, "package.json"), "utf8"))).toMatchObject({ name: wanted });
  }
});

test("an unknown template is taught", async () => {
  const { root } = project();
  const { code, stderr } = await inProcess(["init", "bots", "--template", "agent"], { cwd: root });
  expect(code).toBe(2);
  expect(stderr).toContain('there is no template "agent"');
  expect(stderr).toContain("bot or worker or model or webhook");
  expect(readdirSync(root)).toEqual([]);
});

test("a folder that holds something is refused, with what would be overwritten", async () => {
  const { root } = project({ "bots/package.json": "{}", "bots/notes.md": "mine" });
  const { code, stdout, stderr } = await inProcess(["init", "bots", "--json"], { cwd: root });
  expect([code, stderr]).toEqual([2, ""]);
  expect(JSON.parse(stdout)).toMatchObject({
    error: { code: "folder_taken", message: expect.stringContaining("package.json would be overwritten") },
  });
  expect(readFileSync(join(root, "bots/package.json"), "utf8")).toBe("{}");
  expect(readdirSync(join(root, "bots")).toSorted()).toEqual(["notes.md", "package.json"]);
});

test("a fresh repository is an empty folder", async () => {
  const { root } = project({ "bots/.git/HEAD": "ref: refs/heads/main" });
  expect((await inProcess(["init", "bots"], { cwd: root })).code).toBe(0);
});

test("a file in the place of the folder is an error that says so", async () => {
  const { root } = project({ bots: "a file" });
  const { code, stderr } = await inProcess(["init", "bots"], { cwd: root });
  expect(code).toBe(2);
  expect(stderr).toContain("cannot be written, and nothing of it is left");
  expect(readFileSync(join(root, "bots"), "utf8")).toBe("a file");
});

test.skipIf(process.platform !== "linux")("a folder that takes no files is an error that says so", async () => {
  const { root } = project();
  const { code, stderr } = await inProcess(["init", "/proc/bots"], { cwd: root });
  expect(code).toBe(2);
  expect(stderr).toMatch(/the project cannot be written, and nothing of it is left: E\w+/);
});

test.skipIf(!canMake("full"))("a full disk leaves nothing half-written", async (context) => {
  const { root } = project();
  const disk = await smallDisk(context, root);
  disk.breakDown();
  const command = [...disk.under, process.execPath, "--conditions=retinue-source", join(ROOT, "bin/retinue.js"), "init", "disk/a/bots"];
  const { status, stderr } = spawnSync(command[0] ?? "", command.slice(1), { encoding: "utf8", env: { PATH: process.env["PATH"] } });
  expect(status).toBe(2);
  expect(stderr).toContain("ENOSPC");
  expect(readdirSync(disk.seen)).toEqual(["filler"]);
});

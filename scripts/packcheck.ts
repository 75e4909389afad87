/** Checks the package as its users get it: built, packed, linted, then installed elsewhere, where a new project is made, tested and run. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const tools = join(root, "node_modules/.bin");

function run(command: string, args: readonly string[], cwd: string): void {
  console.log(`$ ${command} ${args.join(" ")}`);
  const env = { ...process.env, NODE_OPTIONS: "" };
  const { status } = spawnSync(command, args, { cwd, env, stdio: "inherit" });
  if (status !== 0) throw new Error(`${command} ${args[0] ?? ""} ended with ${status}`);
}

const MAX_TARBALL_BYTES = 1_000_000;
const MAX_INSTALLED_BYTES = 30_000_000;

function within(name: string, bytes: number, max: number): void {
  console.log(`${name}: ${bytes.toLocaleString("en")} bytes`);
  if (bytes > max) throw new Error(`expected ${name} to have at most ${max.toLocaleString("en")} bytes, got ${bytes.toLocaleString("en")}`);
}

function bytesBelow(path: string): number {
  const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}

run(process.execPath, ["scripts/build.ts"], root);
run(join(tools, "publint"), ["--strict"], root);
run(join(tools, "attw"), ["--pack", ".", "--profile", "esm-only"], root);

const folder = mkdtempSync(join(tmpdir(), "retinue-pack-"));
const npm = (...args: readonly string[]): void => run("npm", args, folder);
const inProject = (...args: readonly string[]): void => run("npm", args, join(folder, "bots"));
/** What is in the cache is not asked for. */
const INSTALL = ["install", "--prefer-offline", "--no-audit", "--no-fund"];
try {
  run("npm", ["pack", "--silent", "--pack-destination", folder], root);
  const tarball = readdirSync(folder).find((name) => name.endsWith(".tgz"));
  if (tarball === undefined) throw new Error("npm pack made no tarball");
  within("the package", statSync(join(folder, tarball)).size, MAX_TARBALL_BYTES);
  npm("init", "--yes", "--silent");
  npm(...INSTALL, "--omit=optional", "--omit=peer", `./${tarball}`);
  within("the package installed, without peers", bytesBelow(join(folder, "node_modules")), MAX_INSTALLED_BYTES);
  npm("exec", "retinue", "init", "bots");
  const began = performance.now();
  inProject(...INSTALL);
  inProject("test");
  console.log(`from a new project to its first passing test: ${Math.round((performance.now() - began) / 1_000)} s`);
  inProject("run", "types", "--", "--skipLibCheck", "false");
  inProject("run", "check");
  inProject("run", "simulate", "--", "--for", "2h");
  inProject("run", "dev", "--", "--for", "5s", "--plain");
  npm("exec", "--", "retinue", "check", "--no-keys", "--agents", join(folder, "node_modules/retinue/dist/agents"));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Checks the package as its users get it: built, packed, linted, then used as in the first hour of a user (`first-hour.ts`, its short form). */
import { spawnSync } from "node:child_process";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const tools = join(root, "node_modules/.bin");

function run(command: string, args: readonly string[], cwd: string): void {
  console.log(`$ ${command} ${args.join(" ")}`);
  const env = { ...process.env, NODE_OPTIONS: "" };
  const { status } = spawnSync(command, args, { cwd, env, stdio: "inherit" });
  if (status !== 0) throw new Error(`${command} ${args[0] ?? ""} ended with ${status}`);
}

run(process.execPath, ["scripts/build.ts"], root);
run(join(tools, "publint"), ["--strict"], root);
run(join(tools, "attw"), ["--pack", ".", "--profile", "esm-only"], root);
run(process.execPath, ["scripts/first-hour.ts", "--built", "--short"], root);

/** Checks the package as its users get it: built, packed, linted, then unpacked elsewhere and run. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
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

/** The package in a folder of its own, beside the packages it depends on: no sources, no development condition. */
function unpack(tarball: string, project: string): void {
  run("tar", ["xzf", tarball], project);
  const modules = join(project, "node_modules");
  mkdirSync(modules);
  renameSync(join(project, "package"), join(modules, "retinue"));
  for (const name of readdirSync(join(root, "node_modules")))
    if (name !== "retinue" && !name.startsWith(".")) symlinkSync(join(root, "node_modules", name), join(modules, name));
}

run(process.execPath, ["scripts/build.ts"], root);
run(join(tools, "publint"), ["--strict"], root);
run(join(tools, "attw"), ["--pack", ".", "--profile", "esm-only"], root);

const project = mkdtempSync(join(tmpdir(), "retinue-pack-"));
try {
  run("npm", ["pack", "--silent", "--pack-destination", project], root);
  const tarball = readdirSync(project).find((name) => name.endsWith(".tgz"));
  if (tarball === undefined) throw new Error("npm pack made no tarball");
  unpack(tarball, project);
  mkdirSync(join(project, "agents"));
  writeFileSync(
    join(project, "agents/scout.ts"),
    `import { credits, defineSpecialist } from "retinue";\nexport default defineSpecialist({ handle: "scout", spend: { perDay: credits(5) } });\n`,
  );
  const bin = join(project, "node_modules/retinue/bin/retinue.js");
  run(process.execPath, [bin, "check", "--no-keys", "--strict"], project);
  run(process.execPath, [bin, "check", "--no-keys", "--agents", join(project, "node_modules/retinue/dist/agents")], project);
} finally {
  rmSync(project, { recursive: true, force: true });
}

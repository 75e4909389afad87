/** Builds the package: the runtime as JavaScript and declarations, the console's page, then the cast as JavaScript, as Node strips no types under node_modules. */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { buildPage } from "./build-page.ts";

const root = join(import.meta.dirname, "..");
const tsc = join(root, "node_modules/typescript/bin/tsc");

function compile(project: string, ...options: readonly string[]): boolean {
  return spawnSync(process.execPath, [tsc, "-p", project, ...options], { cwd: root, stdio: "inherit" }).status === 0;
}

/** Comments are in the declarations, which editors show, and not in the code as well: there they are a tenth of the tarball. */
function compileRuntime(): boolean {
  const project = "tsconfig.build.json";
  return compile(project, "--emitDeclarationOnly") && compile(project, "--declaration", "false", "--removeComments");
}

/** The plugin notes at each build how it would compile, and it compiles nothing here. */
const ONLY_ERRORS = { info: () => undefined, warn: () => undefined, error: console.error };

/** Leaves the declarations that a door of the package leads to, each once: what no user can name was a seventh of the tarball. */
async function bundleDeclarations(): Promise<void> {
  const dist = join(root, "dist");
  const doors = Object.fromEntries(["index", "model", "testing"].map((door) => [door, join(dist, `${door}.d.ts`)]));
  const { rolldown } = await import("rolldown");
  const { dts } = await import("rolldown-plugin-dts");
  const plugins = [dts({ dtsInput: true, tsconfig: join(root, "tsconfig.build.json"), logger: ONLY_ERRORS })];
  const bundle = await rolldown({ input: doors, plugins, external: (id) => !id.startsWith(".") && !isAbsolute(id) });
  const { output } = await bundle.generate({ entryFileNames: "[name].d.ts", chunkFileNames: "types/[name].d.ts" });
  await bundle.close();
  for (const file of globSync(join(dist, "**/*.d.ts"))) rmSync(file);
  for (const file of output) {
    if (file.type !== "chunk") throw new Error(`${file.fileName} is no declaration`);
    mkdirSync(dirname(join(dist, file.fileName)), { recursive: true });
    writeFileSync(join(dist, file.fileName), file.code);
  }
}

/** Indents the code by tabs: four spaces a level are a seventieth of the tarball. Text that goes over several lines stays as it is. */
function indentByTabs(): void {
  for (const file of globSync(join(root, "dist/**/*.js"))) {
    let isText = false;
    const lines = readFileSync(file, "utf8")
      .split("\n")
      .map((line) => {
        const wasText = isText;
        if ([...line.replaceAll("\\`", "").matchAll(/`/g)].length % 2 === 1) isText = !isText;
        return wasText ? line : line.replace(/^(?: {4})+/, (spaces) => "\t".repeat(spaces.length / 4));
      });
    if (!isText) writeFileSync(file, lines.join("\n"));
  }
}

async function build(): Promise<boolean> {
  rmSync(join(root, "dist"), { recursive: true, force: true });
  if (!compileRuntime()) return false;
  await bundleDeclarations();
  indentByTabs();
  await buildPage(join(root, "dist/console-page"));
  if (!existsSync(join(root, "agents"))) return true;
  // The cast is compiled against what was just built: it uses the package as a user does.
  if (!compile("tsconfig.cast.json")) return false;
  cpSync(join(root, "agents"), join(root, "dist/agents"), { recursive: true, filter: (path) => !path.endsWith(".ts") });
  return true;
}

process.exitCode = (await build()) ? 0 : 1;

/** Builds the console's page with the licences of what it holds. Where vite is not installed there is nothing to build with: a user gets it built. */
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const root = join(import.meta.dirname, "..");
const BUNDLED = ["preact", "uplot", "@tanstack/virtual-core"];

/** Writes the page to a folder, which is emptied before. */
export async function buildPage(outDir: string): Promise<void> {
  const { build } = await import("vite");
  await build({
    configFile: false,
    root: join(root, "src/console/page"),
    base: "./",
    logLevel: "warn",
    publicDir: false,
    // The oldest browsers that have all the page's features: 2024.
    build: { outDir, emptyOutDir: true, target: "es2024", assetsInlineLimit: 0, modulePreload: { polyfill: false } },
    oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  });
  writeFileSync(join(outDir, "LICENSES.txt"), BUNDLED.map(licenceOf).join("\n\n---\n\n"));
}

function licenceOf(name: string): string {
  const folder = join(root, "node_modules", name);
  const [file] = globSync("LICENSE*", { cwd: folder });
  if (file === undefined) throw new Error(`${name} has no licence file`);
  return `${name}\n\n${readFileSync(join(folder, file), "utf8").trim()}`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href && existsSync(join(root, "node_modules/vite")))
  await buildPage(join(root, "dist/console-page"));

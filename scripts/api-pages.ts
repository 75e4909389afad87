/** Writes api/*.md: the package's public names with their declarations, so that a change of the surface is a change of a file. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";

const ROOT = join(import.meta.dirname, "..");
/** The doors of the package, with the name of their page and their source. */
function doors(): readonly { readonly page: string; readonly specifier: string; readonly source: string }[] {
  const { exports } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    readonly exports: Readonly<Record<string, unknown>>;
  };
  return Object.entries(exports).flatMap(([path, door]) => {
    if (typeof door !== "object" || door === null || !("retinue-source" in door)) return [];
    const source = posix.basename(String(door["retinue-source"]), ".ts");
    return [{ page: path === "." ? "retinue" : path.slice(2), specifier: posix.join("retinue", path), source }];
  });
}

/** The text of each page, by its path. */
export function apiPages(): ReadonlyMap<string, string> {
  const folder = mkdtempSync(join(tmpdir(), "retinue-api-"));
  try {
    const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
    const { status, stdout } = spawnSync(
      process.execPath,
      [tsc, "-p", join(ROOT, "tsconfig.build.json"), "--emitDeclarationOnly", "--outDir", folder],
      { encoding: "utf8" },
    );
    if (status !== 0) throw new Error(`the declarations were not written: ${stdout}`);
    return new Map(doors().map(({ page, specifier, source }) => [`api/${page}.md`, pageOf(folder, specifier, source)]));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function pageOf(folder: string, specifier: string, source: string): string {
  const names = exportsOf(readFileSync(join(ROOT, `src/${source}.ts`), "utf8"));
  const files = new Map<string, readonly string[]>();
  const declared = names.map(({ name, from }) => {
    const file = posix.join(posix.dirname(source), from).replace(/\.ts$/, ".d.ts");
    const statements = files.get(file) ?? statementsOf(readFileSync(join(folder, file), "utf8"));
    files.set(file, statements);
    const found = statements.filter((text) =>
      new RegExp(`^export (?:declare |abstract )*(?:interface|type|class|function|const) ${name}\\b`).test(text),
    );
    if (found.length === 0) throw new Error(`${file} does not declare ${name}`);
    return { name, text: found.join("\n") };
  });
  const parts = declared
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, text }) => `## ${name}\n\n\`\`\`ts\n${text}\n\`\`\`\n`);
  return `# ${specifier}\n\nThe public names of \`${specifier}\`, as the compiler sees them. \`npm run api\` writes this page.\n\n${parts.join("\n")}`;
}

/** The names that a door exports, with the module of each. */
function exportsOf(text: string): readonly { readonly name: string; readonly from: string }[] {
  return [...text.matchAll(/^export (?:type )?\{([^}]*)\} from "(.+?)";/gm)].flatMap(([, names = "", from = ""]) =>
    names
      .split(",")
      .map((name) => name.trim().replace(/^type /, ""))
      .filter((name) => name !== "")
      .map((name) => ({ name, from })),
  );
}

/** The statements of a declaration file without comments: each begins at the first column. */
function statementsOf(text: string): readonly string[] {
  const lines = text.replaceAll(/[ \t]*\/\*[^]*?\*\/[ \t]*\n?/g, "").split("\n");
  const statements: string[] = [];
  for (const line of lines) {
    if (line.trim() === "") continue;
    if (/^[\s})]/.test(line) && statements.length > 0) statements.push(`${statements.pop() ?? ""}\n${line}`);
    else statements.push(line);
  }
  return statements;
}

if (import.meta.main) {
  mkdirSync(join(ROOT, "api"), { recursive: true });
  for (const [path, text] of apiPages()) writeFileSync(join(ROOT, path), text);
}

/** The files of a new project: those that every project has, those of a template, and this package by what it was installed from. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { isObject, parseJson, textIn, type JsonObject } from "../core/json.ts";
import { systemRandom } from "../core/random.ts";

/** Templates by name, each with its specialist. */
export const TEMPLATES = {
  bot: { handle: "hello", does: "answers posts of newcomers" },
  worker: { handle: "finder", does: "takes jobs, does them and is paid" },
  model: { handle: "helper", does: "answers mentions in the words of a language model" },
  webhook: { handle: "answerer", does: "answers mentions, which webhooks report at once" },
} as const;

export type TemplateName = keyof typeof TEMPLATES;

export interface ProjectFile {
  /** With `/` between its parts. */
  readonly path: string;
  readonly content: string | Buffer;
  readonly mode: number;
}

const PACKAGE = fileURLToPath(new URL("../..", import.meta.url)).replace(/[\\/]$/, "");
const MODE = 0o644;
const SECRET_MODE = 0o600;
/** Names that npm or git would take for their own in the package. */
const DOTTED: { readonly [name: string]: string } = { gitignore: ".gitignore", env: ".env" };
/** Files of which each layer has a part. */
const JOINED: readonly string[] = [".env", "README.md"];
const SECRET_LENGTH = 40;

/** All files of a project in a folder of this name. Reads the package, and nothing else. */
export function projectFiles(folder: string, template: TemplateName): readonly ProjectFile[] {
  const origin = installedFrom();
  const name = projectName(folder);
  const words = { name, HANDLE: TEMPLATES[template].handle.toUpperCase(), secret: systemRandom().word(SECRET_LENGTH) };
  const texts = new Map<string, string>();
  for (const layer of ["templates/common", `templates/${template}`, "docs/deploy"])
    for (const [path, text] of textsOf(join(PACKAGE, layer))) {
      const filled = text.replaceAll(
        /\{\{(\w+)\}\}/g,
        (whole, word: string) => Object.entries(words).find(([key]) => key === word)?.[1] ?? whole,
      );
      texts.set(path, JOINED.includes(path) ? (texts.get(path) ?? "") + filled : filled);
    }
  texts.set("package.json", asText(manifestOf(name, origin, template)));
  if (origin.isSource) texts.set("tsconfig.json", forSources(texts.get("tsconfig.json") ?? "{}"));
  const files = [...texts].map(([path, content]) => ({ path, content, mode: path === ".env" ? SECRET_MODE : MODE }));
  if (origin.tarball === undefined) return files;
  return [...files, { path: basename(origin.tarball), content: readFileSync(origin.tarball), mode: MODE }];
}

/** The files below a folder, by path, in order of their names. */
function textsOf(folder: string): readonly (readonly [path: string, text: string])[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .toSorted()
    .map((file) => {
      const parts = file.slice(folder.length + 1).split(/[\\/]/);
      return [parts.map((part) => DOTTED[part] ?? part).join("/"), readFileSync(file, "utf8")] as const;
    });
}

interface Origin {
  /** The address of this package for package.json. */
  readonly address: string;
  /** The file it was installed from, to be kept beside package.json. */
  readonly tarball?: string;
  /** True in a checkout, which is used by its sources. */
  readonly isSource: boolean;
}

/** Finds what this package was installed from: npm keeps it beside the installed packages. A checkout, or a global one, is linked. */
function installedFrom(): Origin {
  const modules = dirname(PACKAGE);
  const linked = { address: `file:${PACKAGE}`, isSource: existsSync(join(PACKAGE, "src")) };
  const lock = join(modules, ".package-lock.json");
  if (linked.isSource || !existsSync(lock)) return linked;
  const packages = memberOf(parseJson(readFileSync(lock, "utf8")), "packages");
  const resolved = textIn(memberOf(packages, `node_modules/${basename(PACKAGE)}`), "resolved");
  if (resolved?.startsWith("https:") === true) return { address: resolved, isSource: false };
  const tarball = resolved?.startsWith("file:") === true ? resolve(dirname(modules), resolved.slice("file:".length)) : undefined;
  if (tarball?.endsWith(".tgz") !== true || !existsSync(tarball)) return linked;
  return { address: `file:${basename(tarball)}`, tarball, isSource: false };
}

function memberOf(value: unknown, name: string): JsonObject | undefined {
  const member = isObject(value) ? value[name] : undefined;
  return isObject(member) ? member : undefined;
}

const CONDITION = "retinue-source";

/** Packages of this package's optional peers that a template uses. */
const PEERS: { readonly [template in TemplateName]?: readonly string[] } = { model: ["ai", "@ai-sdk/openai-compatible"] };

function manifestOf(name: string, { address, isSource }: Origin, template: TemplateName): JsonObject {
  const own = parseJson(readFileSync(join(PACKAGE, "package.json"), "utf8"));
  const tools = memberOf(own, "devDependencies");
  const command = isSource ? `node --conditions=${CONDITION} node_modules/retinue/bin/retinue.js` : "retinue";
  const node = broughtNode();
  return {
    name,
    private: true,
    type: "module",
    scripts: {
      test: isSource ? `node --conditions=${CONDITION} --test` : "node --test",
      types: "tsc",
      check: `${command} check --no-keys`,
      dev: `${command} dev`,
      demo: `${command} demo`,
      simulate: `${command} simulate --for 1d${template === "model" ? " --crowd crowd.yaml --models replies.yaml" : ""}`,
      start: `${command} run`,
      retinue: command,
    },
    dependencies: {
      ...Object.fromEntries((PEERS[template] ?? []).map((peer) => [peer, textIn(tools, peer)])),
      ...(node === undefined ? {} : { node }),
      retinue: address,
    },
    devDependencies: { "@types/node": textIn(tools, "@types/node"), typescript: textIn(tools, "typescript") },
    ...(node === undefined ? {} : { allowScripts: { node: true } }),
  };
}

/** The version of Node, if it came from npm: then the machine's own may be too old. */
function broughtNode(): string | undefined {
  return /[\\/]node_modules[\\/]/.test(process.execPath) ? process.versions.node : undefined;
}

/** The compiler then reads our sources, which are written for these options. */
function forSources(tsconfig: string): string {
  const settings = parseJson(tsconfig);
  const compilerOptions = { ...memberOf(settings, "compilerOptions"), exactOptionalPropertyTypes: true, customConditions: [CONDITION] };
  return asText({ ...(isObject(settings) ? settings : {}), compilerOptions });
}

/** A name that npm takes. It refuses a package that has the name of its dependency. */
function projectName(folder: string): string {
  const name = basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, "-")
    .replaceAll(/^[._-]+|[._-]+$/g, "")
    .slice(0, 100);
  return name === "" || name === "retinue" || name === "node_modules" ? "my-specialists" : name;
}

function asText(value: JsonObject): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

/** `retinue init`: writes a new project with one specialist and its test, without asking the network. */
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { Misconfigured, messageOf } from "../../core/errors.ts";
import { choiceOption } from "../args.ts";
import { EXIT, type Command } from "../command.ts";
import { projectFiles, TEMPLATES, type ProjectFile, type TemplateName } from "../new-project.ts";

const NAMES = Object.keys(TEMPLATES).filter((name): name is TemplateName => Object.hasOwn(TEMPLATES, name));
const DEFAULT: TemplateName = "bot";
/** Names of files that a refusal lists. */
const MAX_NAMED = 5;

export const command: Command = {
  name: "init",
  arguments: "<dir>",
  describe:
    "Writes a project: a specialist and its test, settings, .env, README, package.json, tsconfig.json, a systemd unit and a Dockerfile. " +
    "It asks no network, and writes only into that folder, which must be new or empty.",
  options: [
    {
      flags: `--template <${NAMES.join("|")}>`,
      describe: `the first specialist: ${NAMES.map((name) => `${name} ${TEMPLATES[name].does}`).join("; ")} (default: ${DEFAULT})`,
    },
  ],
  examples: ["retinue init bots", "retinue init bots --template worker"],
  async run({ args, cwd, options, out, command: name, version }) {
    const template = choiceOption(options, "template", NAMES) ?? DEFAULT;
    const folder = resolve(cwd, args[0] ?? "");
    const files = projectFiles(folder, template);
    writeProject(folder, files);
    const paths = files.map(({ path }) => path);
    const isCode = (path: string): boolean => path.startsWith("agents/");
    out.line(`${TEMPLATES[template].handle} ${TEMPLATES[template].does}:`);
    for (const path of paths.filter(isCode)) out.line(`  ${path}`);
    out.line(`Beside agents/: ${paths.filter((path) => !isCode(path)).join(", ")}`);
    out.line();
    out.line("Next:");
    const next = [
      ...(folder === resolve(cwd) ? [] : [`cd ${quoted(args[0] ?? "")}`]),
      "npm install",
      "npm test",
      "npm run check",
      "npm run dev",
    ];
    for (const line of next) out.line(`  ${line}`);
    out.result({ version, command: name, ok: true, folder, template, files: paths, next });
    return EXIT.done;
  },
};

/** Writes all files, or none: what was written before a failure is removed. Throws `Misconfigured` (`folder_taken`, `folder_unwritable`). */
function writeProject(folder: string, files: readonly ProjectFile[]): void {
  const made: string[] = [];
  try {
    if (!makeFolder(folder, made)) refuseTaken(folder, files);
    for (const { path, content, mode } of files) {
      const file = join(folder, path);
      makeFolder(dirname(file), made);
      const opened = openSync(file, "wx", mode);
      made.push(file);
      try {
        writeFileSync(opened, content);
      } finally {
        closeSync(opened);
      }
    }
  } catch (error) {
    for (const path of made.reverse()) rmSync(path, { recursive: true, force: true });
    if (error instanceof Misconfigured) throw error;
    throw new Misconfigured("folder_unwritable", `the project cannot be written, and nothing of it is left: ${messageOf(error)}`, {
      file: folder,
      hint: "name a folder on a disk with room, in which you may write",
      cause: error,
    });
  }
}

/**
 * Makes a folder and those above it, each noted in `made`; false if it was there. By hand, because Node's `recursive` never returns where a
 * file system refuses a folder as missing, as /proc does.
 */
function makeFolder(folder: string, made: string[]): boolean {
  if (existsSync(folder)) return false;
  makeFolder(dirname(folder), made);
  mkdirSync(folder);
  made.push(folder);
  return true;
}

/** An empty folder, or one that only a version control uses, may become a project. */
function refuseTaken(folder: string, files: readonly ProjectFile[]): void {
  const found = readdirSync(folder).filter((name) => name !== ".git");
  if (found.length === 0) return;
  const written = new Set(files.map(({ path }) => path.split("/")[0]));
  const lost = found.filter((name) => written.has(name));
  const overwritten = lost.length === 0 ? "" : `, and ${listed(lost)} would be overwritten`;
  throw new Misconfigured("folder_taken", `the folder is not empty: it holds ${listed(found)}${overwritten}`, {
    file: folder,
    hint: "name a new folder, and move what you need into it",
  });
}

function listed(names: readonly string[]): string {
  const more = names.length - MAX_NAMED;
  return names.slice(0, MAX_NAMED).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

/** A path as one word of a shell. */
function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}

/** Loads the folder of definitions: one specialist per file, or per folder with an index file. */
import { readdir, realpath, stat } from "node:fs/promises";
import { basename, extname, join, sep } from "node:path";
import { systemClock, type Clock } from "../core/clock.ts";
import { EVENT_KINDS } from "../contract/event-kinds.ts";
import { defined } from "../core/defined.ts";
import { messageOf } from "../core/errors.ts";
import type { SpecialistDefinition } from "../specialist/definition.ts";
import { createSpecialist, type Source, type Specialist } from "../specialist/specialist.ts";
import { DATA_EXTENSIONS, readDataFile } from "./data-file.ts";
import { codeDefinition, dataDefinition } from "./definition-schema.ts";
import { checkParts, type CheckedParts } from "./mistakes.ts";
import { fileSignature } from "./folder-signature.ts";
import { IGNORED } from "./known-handles.ts";
import { loadModule, MODULE_EXTENSIONS, type LoadedModule } from "./module-file.ts";
import { mistake, nearest, problemOf, throwMistakes, type Problem } from "./problem.ts";

export interface LoadedDefinition {
  /** The absolute path of its file; for one given in code, its place, such as `specialists[0]`. */
  readonly file: string;
  readonly specialist: Specialist;
  /** The number of its load by one loader: the same while none of its files has changed. */
  readonly load?: number;
}

export interface LoadedDefinitions {
  readonly definitions: readonly LoadedDefinition[];
  /** Definitions of files with mistakes, without the mistaken parts: for further checks, never to run. */
  readonly drafts: readonly LoadedDefinition[];
  /** Every mistake of every file; a file with one yields no definition. */
  readonly problems: readonly Problem[];
}

/** One loaded file: a definition, or its mistakes and, if it is usable without them, a draft. */
interface Loaded {
  readonly definition?: LoadedDefinition;
  readonly draft?: LoadedDefinition;
  readonly problems: readonly Problem[];
  /** The signatures of the files that it was made of. */
  readonly files: ReadonlyMap<string, string>;
}

/** A module's exports, or stand-ins for them if its code runs elsewhere, and the number by which that place knows this load. */
export type EvaluatedModule = LoadedModule & { readonly version?: number };
export type EvaluateModule = (file: string) => Promise<EvaluatedModule>;

/** Loads definitions, and gives the one it has while none of its files has changed. */
export interface DefinitionLoader {
  /** Loads these files, and forgets all others. */
  load(files: readonly string[]): Promise<readonly Checked[]>;
  /** The signatures of all files that the definitions, also the broken ones, were made of. */
  files(): ReadonlyMap<string, string>;
  /** Loads each definition with such a file afresh the next time, without one all of them: something that they may have read has changed. */
  renew(isAffected?: (file: string) => boolean): void;
}

export function createDefinitionLoader(clock: Clock = systemClock(), evaluate?: EvaluateModule): DefinitionLoader {
  let known = new Map<string, Loaded>();
  let loads = 0;
  const loadOne = async (file: string): Promise<Loaded> => {
    const before = known.get(file);
    if (before !== undefined && before.problems.length === 0 && (await isUnchanged(before))) return before;
    const loaded = await loadDefinition(file, clock, evaluate);
    const load = ++loads;
    return loaded.definition === undefined ? loaded : { ...loaded, definition: { ...loaded.definition, load } };
  };
  return {
    async load(files) {
      const loaded = new Map<string, Loaded>();
      for (const file of files) loaded.set(file, await loadOne(file));
      known = loaded;
      return [...loaded.values()];
    },
    files: () => new Map([...known.values()].flatMap(({ files }) => [...files])),
    renew(isAffected = () => true) {
      for (const [file, { files }] of known) if ([...files.keys()].some(isAffected)) known.delete(file);
    },
  };
}

async function isUnchanged({ files }: Loaded): Promise<boolean> {
  for (const [path, signature] of files) if ((await fileSignature(path)) !== signature) return false;
  return true;
}

const EXTENSIONS: readonly string[] = [...MODULE_EXTENSIONS, ...DATA_EXTENSIONS];
const MAX_ENTRIES = 20_000;

/** Loads all definitions of a folder; without a loader, all of them afresh. Never throws for mistakes in a file. */
export async function loadDefinitions(
  folder: string,
  clock: Clock = systemClock(),
  loader: Pick<DefinitionLoader, "load"> = createDefinitionLoader(clock),
): Promise<LoadedDefinitions> {
  const { files, problems } = await findDefinitionFiles(folder);
  return joined(await loader.load(files), problems);
}

/** Checks definitions given by a program in place of files, by the same rules. Never throws for a mistake in one. */
export function givenDefinitions(given: readonly unknown[]): LoadedDefinitions {
  return joined(
    given.map((value, index) => checkCode(value, `specialists[${index}]`, undefined)),
    [],
  );
}

/** The specialists of definitions given by a test. Throws `Misconfigured` for the first mistake. */
export function checkedDefinitions(given: readonly unknown[]): readonly Specialist[] {
  const { definitions, problems } = givenDefinitions(given);
  throwMistakes(problems);
  return definitions.map(({ specialist }) => specialist);
}

function joined(loaded: readonly Checked[], problems: readonly Problem[]): LoadedDefinitions {
  return withoutTwins({
    definitions: loaded.flatMap(({ definition }) => (definition === undefined ? [] : [definition])),
    drafts: loaded.flatMap(({ draft }) => (draft === undefined ? [] : [draft])),
    problems: [...problems, ...loaded.flatMap((one) => one.problems)],
  });
}

/** Keeps the first definition of each handle, and reports the others. */
function withoutTwins(loaded: LoadedDefinitions): LoadedDefinitions {
  const problems = [...loaded.problems];
  const first = new Map<string, string>();
  const isFirst = ({ file, specialist }: LoadedDefinition): boolean => {
    const other = first.get(specialist.handle);
    first.set(specialist.handle, other ?? file);
    if (other === undefined) return true;
    problems.push(
      mistake("handle_twice", `the handle "${specialist.handle}" is already used in ${other}`, {
        file,
        hint: "give one of the two another handle",
      }),
    );
    return false;
  };
  return { definitions: loaded.definitions.filter(isFirst), drafts: loaded.drafts.filter(isFirst), problems };
}

/** Lists the definition files of a folder, in order of their names. */
export async function findDefinitionFiles(
  folder: string,
): Promise<{ readonly files: readonly string[]; readonly problems: readonly Problem[] }> {
  let root: string;
  let names: string[];
  try {
    root = await realpath(folder);
    names = (await readdir(root)).filter((name) => !IGNORED.test(name) && name !== "node_modules").sort();
  } catch (error) {
    return {
      files: [],
      problems: [
        mistake("agents_unreadable", `the folder of definitions cannot be read: ${messageOf(error)}`, {
          file: folder,
          hint: "create it, or name another with --agents",
        }),
      ],
    };
  }
  if (names.length > MAX_ENTRIES)
    return {
      files: [],
      problems: [mistake("agents_too_many", `more than ${MAX_ENTRIES} entries`, { file: folder, hint: "split the folder" })],
    };
  const files: string[] = [];
  const problems: Problem[] = [];
  for (const name of names) {
    const entry = await definitionAt(join(root, name));
    if (entry === undefined) continue;
    if ("code" in entry) problems.push(entry);
    else if ((await realpath(entry.file)).startsWith(root + sep)) files.push(entry.file);
    else
      problems.push(
        mistake("outside_folder", "the link leads out of the folder of definitions", {
          file: entry.file,
          hint: "copy the file here, or point --agents at its folder",
        }),
      );
  }
  return { files, problems };
}

/** Returns the definition file of a folder's entry, if it has one. */
async function definitionAt(path: string): Promise<{ readonly file: string } | Problem | undefined> {
  try {
    const status = await stat(path);
    if (status.isFile()) return EXTENSIONS.includes(extname(path)) ? { file: path } : undefined;
    if (!status.isDirectory()) return undefined;
    const [index, second] = (await readdir(path))
      .filter((name) => name.startsWith("index.") && EXTENSIONS.includes(extname(name)) && !IGNORED.test(name))
      .sort();
    if (index === undefined) return undefined;
    if (second !== undefined)
      return mistake("index_twice", `has both ${index} and ${second}`, {
        file: path,
        hint: "keep one index file: a folder is one specialist",
      });
    return { file: join(path, index) };
  } catch (error) {
    return mistake("file_unreadable", `cannot be read: ${messageOf(error)}`, {
      file: path,
      hint: "fix the link or the permissions, or remove it",
    });
  }
}

/** Loads one file. A file with mistakes yields no definition, and all of its mistakes. */
export async function loadDefinition(file: string, clock: Clock = systemClock(), evaluate?: EvaluateModule): Promise<Loaded> {
  if (!MODULE_EXTENSIONS.includes(extname(file))) {
    const files = new Map([[file, await fileSignature(file)]]);
    return { ...(await loadData(file)), files };
  }
  const loaded = await (evaluate === undefined ? loadModule(file, clock) : evaluate(file));
  const files = new Map([...loaded.files].map(([path, { signature }]) => [path, signature]));
  if (!("problem" in loaded)) return { ...checkExports(file, loaded), files };
  const { problem } = loaded;
  const isElsewhere = problem.file !== undefined && problem.file !== file;
  return { problems: [isElsewhere ? { ...problem, definition: file } : problem], files };
}

type Checked = Omit<Loaded, "files">;

function checkExports(file: string, { exports, version }: { readonly exports: object; readonly version?: number }): Checked {
  const value: unknown = Reflect.get(exports, "default");
  const hint = "write: export default defineSpecialist({ handle: … })";
  if (value === undefined) {
    const helper = basename(file).startsWith("index.") ? "" : "; a file that is not a specialist belongs in a subfolder";
    return { problems: [mistake("default_missing", "has no default export", { file, hint: hint + helper })] };
  }
  if (typeof value === "function")
    return {
      problems: [mistake("default_function", "the default export is a function, not a definition", { file, expected: "an object", hint })],
    };
  if (typeof value === "object" && value !== null && "then" in value)
    return {
      problems: [
        mistake("default_async", "the default export is a promise", {
          file,
          expected: "an object",
          hint: "await it at the top of the file",
        }),
      ],
    };
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return { problems: [mistake("default_not_object", "the default export is not an object", { file, expected: "an object", hint })] };
  return checkCode(value, file, { file, ...defined({ version }) });
}

/** `source` is the file from which a worker thread can load it. */
function checkCode(value: unknown, file: string, source: Source | undefined): Checked {
  const checked = checkParts(codeDefinition, value, { code: "definition_invalid", file });
  return finish(file, { ...checked, problems: checked.problems.map(withEventNamed) }, source);
}

/** A handler of an event that does not exist would never be called, and nothing else would show it. */
function withEventNamed(problem: Problem): Problem {
  const [, kind] = /^on(?:\.|\[")(.+?)(?:"\])?: no such setting$/.exec(problem.message) ?? [];
  if (problem.code !== "key_unknown" || kind === undefined) return problem;
  const near = nearest(kind, EVENT_KINDS);
  return {
    ...problem,
    code: "event_unknown",
    message: `on: there is no event "${kind}"`,
    hint: near === undefined ? "remove the handler; an event of the network's profile is named x:<name>" : `did you mean "${near}"?`,
  };
}

async function loadData(file: string): Promise<Checked> {
  const { data, problems } = await readDataFile(file);
  if (data === undefined) return { problems };
  const { body } = data;
  const value = withBody(data.value, body);
  if (value === undefined)
    return {
      problems: [
        mistake("instructions_twice", "has instructions in the front matter and in the text below it", { file, hint: "keep one of them" }),
      ],
    };
  const checked = checkParts(dataDefinition, value, { code: "definition_invalid", file, lineOf: (path) => data.lineOf(path) });
  const advised = checked.problems.map((problem) => {
    if (/^on\b/.test(problem.message))
      return { ...problem, hint: "a data file lists the events that its model answers; behaviour is a .ts or .js file" };
    const behaviour = problem.code === "key_unknown" && /^(schedules|isolate)\b/.test(problem.message);
    return behaviour ? { ...problem, hint: "data files cannot hold behaviour: write a .ts or .js file" } : problem;
  });
  return finish(file, { ...checked, problems: advised }, { file });
}

/** Adds the text below the front matter as `instructions`. Undefined if both state them. */
function withBody(value: unknown, body: string | undefined): unknown {
  if (body === undefined || body === "" || typeof value !== "object" || value === null) return value;
  return "instructions" in value ? undefined : { ...value, instructions: body };
}

function finish(file: string, { rest, problems }: CheckedParts<object>, source: Source | undefined): Checked {
  if (rest === undefined) return { problems };
  try {
    // The schema has accepted it; the types differ only in an explicit `undefined`, which means "not given".
    const loaded = { file, specialist: createSpecialist(rest as SpecialistDefinition, source) };
    return problems.length === 0 ? { definition: loaded, problems } : { draft: loaded, problems };
  } catch (error) {
    return { problems: [...problems, problemOf(error, { file })] };
  }
}

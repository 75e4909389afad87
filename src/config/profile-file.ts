/** Loads a profile: one of the shipped ones by name, or a file on top of one. */
import type { AnyCode } from "../core/error-codes.ts";
import { existsSync, statSync } from "node:fs";
import { extname } from "node:path";
import { resolveProfile, shippedProfile, type Profile } from "../contract/profile/profile.ts";
import { ProfileInvalid, type ProfileProblem } from "../contract/profile/profile-problem.ts";
import { profileSource } from "../contract/profile/source.ts";
import { Misconfigured } from "../core/errors.ts";
import { DATA_EXTENSIONS, readDataFile } from "./data-file.ts";
import { loadModule, MODULE_EXTENSIONS } from "./module-file.ts";
import { checkShape, show } from "./mistakes.ts";
import { mistake, nearest, throwMistakes, type Problem } from "./problem.ts";

/** A profile by name or absolute path. Throws `Misconfigured` with the first mistake. */
export async function loadProfile(name: string): Promise<Profile> {
  const { profile, problems } = await readProfile(name);
  throwMistakes(problems);
  if (profile === undefined) throw new Misconfigured("profile_invalid", "the profile cannot be used", { file: name });
  return profile;
}

const HINT = 'write: export default { extends: "set-b", … }';

/** A profile by name or absolute path (`.yaml`, `.json`, `.ts`, …), with every mistake in it. */
export async function readProfile(name: string): Promise<{ readonly profile?: Profile; readonly problems: readonly Problem[] }> {
  if (name === "set-a") return { profile: shippedProfile("a"), problems: [] };
  if (name === "set-b") return { profile: shippedProfile("b"), problems: [] };
  const expected = `set-a, set-b, or the path of a file: ${[...PROFILE_DATA, ...MODULE_EXTENSIONS].join(", ")}`;
  if (!existsSync(name)) return { problems: [mistake("profile_missing", "there is no such profile", { file: name, expected })] };
  if (PROFILE_DATA.includes(extname(name))) {
    const { data, problems } = await readDataFile(name);
    return data === undefined ? { problems } : resolve(name, data.value, (path) => data.lineOf(path));
  }
  if (!MODULE_EXTENSIONS.includes(extname(name)) || !statSync(name).isFile())
    return { problems: [mistake("profile_format", "is no file that a profile can be read from", { file: name, expected })] };
  const loaded = await loadModule(name);
  if ("problem" in loaded) {
    const { problem } = loaded;
    return {
      problems: [problem.code === "definition_threw" ? { ...problem, hint: "a profile is data: it does nothing that may fail" } : problem],
    };
  }
  const exported: unknown = Reflect.get(loaded.exports, "default");
  const failed = (code: AnyCode, message: string, hint: string): { readonly problems: readonly Problem[] } => ({
    problems: [mistake(code, message, { file: name, expected: "an object", hint })],
  });
  if (exported === undefined) return failed("default_missing", "has no default export", HINT);
  if (typeof exported === "function") return failed("default_function", "the default export is a function, not a profile", HINT);
  if (exported instanceof Promise) return failed("default_async", "the default export is a promise", "await it at the top of the file");
  return resolve(name, exported, () => undefined);
}

/** Markdown is for definitions only. */
const PROFILE_DATA = DATA_EXTENSIONS.filter((extension) => extension !== ".md");

function resolve(
  file: string,
  source: unknown,
  lineOf: (path: readonly PropertyKey[]) => number | undefined,
): { readonly profile?: Profile; readonly problems: readonly Problem[] } {
  const { problems } = checkShape(profileSource, source, { code: "profile_invalid", file, lineOf });
  if (problems.length > 0) return { problems };
  try {
    return { profile: resolveProfile(source), problems: [] };
  } catch (error) {
    if (!(error instanceof ProfileInvalid)) throw error;
    return { problems: error.problems.map((problem) => told(problem, file, lineOf(problem.path))) };
  }
}

function told({ path, message, mistyped }: ProfileProblem, file: string, line: number | undefined): Problem {
  const near = mistyped === undefined ? undefined : nearest(mistyped.name, mistyped.known);
  return mistake("profile_invalid", `${path.length === 0 ? "the profile" : show(path)}: ${message}`, {
    file,
    ...(line === undefined ? {} : { line }),
    ...(near === undefined ? {} : { hint: `did you mean "${near}"?` }),
  });
}

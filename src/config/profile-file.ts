/** Loads a profile: one of the shipped ones by name, or a file on top of one. */
import { existsSync } from "node:fs";
import { extname } from "node:path";
import { resolveProfile, shippedProfile, type Profile } from "../contract/profile.ts";
import { ProfileInvalid } from "../contract/profile-problem.ts";
import { Misconfigured } from "../core/errors.ts";
import { DATA_EXTENSIONS, readDataFile } from "./data-file.ts";
import { loadModule } from "./module-file.ts";
import { show } from "./mistakes.ts";
import { mistake, throwMistakes, type Problem } from "./problem.ts";

/** A profile by name or absolute path. Throws `Misconfigured` with the first mistake. */
export async function loadProfile(name: string): Promise<Profile> {
  const { profile, problems } = await readProfile(name);
  throwMistakes(problems);
  if (profile === undefined) throw new Misconfigured("profile_invalid", "the profile cannot be used", { file: name });
  return profile;
}

/** A profile by name or absolute path (`.yaml`, `.json`, `.ts`, …), with every mistake in it. */
export async function readProfile(name: string): Promise<{ readonly profile?: Profile; readonly problems: readonly Problem[] }> {
  if (name === "set-a") return { profile: shippedProfile("a"), problems: [] };
  if (name === "set-b") return { profile: shippedProfile("b"), problems: [] };
  if (!existsSync(name))
    return {
      problems: [mistake("profile_missing", "there is no such profile", { file: name, expected: "set-a, set-b, or the path of a file" })],
    };
  if (DATA_EXTENSIONS.includes(extname(name))) {
    const { data, problems } = await readDataFile(name);
    return data === undefined ? { problems } : resolve(name, data.value, (path) => data.lineOf(path));
  }
  const loaded = await loadModule(name);
  return "problem" in loaded ? { problems: [loaded.problem] } : resolve(name, Reflect.get(loaded.exports, "default"), () => undefined);
}

function resolve(
  file: string,
  source: unknown,
  lineOf: (path: readonly PropertyKey[]) => number | undefined,
): { readonly profile?: Profile; readonly problems: readonly Problem[] } {
  try {
    return { profile: resolveProfile(source), problems: [] };
  } catch (error) {
    if (!(error instanceof ProfileInvalid)) throw error;
    return {
      problems: error.problems.map(({ path, message }) => {
        const line = lineOf(path);
        const where = path.length === 0 ? "the profile" : show(path);
        return mistake("profile_invalid", `${where}: ${message}`, {
          file,
          ...(line === undefined ? {} : { line }),
          hint: "mend the profile at that place",
        });
      }),
    };
  }
}

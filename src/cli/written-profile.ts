/** Reads a profile as a person wrote it, so that a draft can be added. */
import { extname } from "node:path";
import { DATA_EXTENSIONS, readDataFile } from "../config/data-file.ts";
import { throwMistakes } from "../config/problem.ts";
import type { ProfileSource } from "../contract/profile/source.ts";
import { Misconfigured } from "../core/errors.ts";
import { isObject } from "../core/json.ts";

/** By name or absolute path. Throws `Misconfigured` (`profile_not_data`, `profile_invalid`). */
export async function writtenProfile(file: string): Promise<ProfileSource> {
  if (file === "set-a" || file === "set-b") return { extends: file };
  if (!DATA_EXTENSIONS.includes(extname(file)))
    throw new Misconfigured("profile_not_data", "the doctor only extends a profile that is data", {
      file,
      expected: "a .yaml or .json profile",
      hint: "write the module's result into a YAML file",
    });
  const { data, problems } = await readDataFile(file);
  throwMistakes(problems);
  const value = data?.value;
  if (!isProfileSource(value)) throw new Misconfigured("profile_invalid", "this file holds no profile", { file });
  return value;
}

function isProfileSource(value: unknown): value is ProfileSource {
  return isObject(value) && (value["extends"] === "set-a" || value["extends"] === "set-b");
}

/** A profile as a person wrote it: what a drafted one is added to. */
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
    throw new Misconfigured("profile_not_data", "the doctor adds to a profile of data only", {
      file,
      expected: "a .yaml or .json profile",
      hint: "write what the module computes into a YAML file",
    });
  const { data, problems } = await readDataFile(file);
  throwMistakes(problems);
  const value = data?.value;
  if (!isProfileSource(value)) throw new Misconfigured("profile_invalid", "there is no profile in this file", { file });
  return value;
}

function isProfileSource(value: unknown): value is ProfileSource {
  return isObject(value) && (value["extends"] === "set-a" || value["extends"] === "set-b");
}

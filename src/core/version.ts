/** The version of this package, as its manifest states it. */
import { readFileSync } from "node:fs";
import { isObject, parseJson } from "./json.ts";

export function readVersion(): string {
  const manifest = parseJson(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  return isObject(manifest) && typeof manifest["version"] === "string" ? manifest["version"] : "unknown";
}

/** A digest of definitions and the Guardian's settings, by which processes with different ones are told apart. */
import type { Config } from "../config/config.ts";
import { sha256 } from "../core/json.ts";
import { textOfCode } from "../specialist/code-text.ts";
import type { Specialist } from "../specialist/specialist.ts";

const LENGTH = 12;

/** The same for the same data and the same text of handlers; what a handler imports is not seen, nor where the file is. */
export function definitionsDigest(specialists: Iterable<Specialist>, guardian: Config["guardian"]): string {
  const texts = Array.from(specialists, ({ file: _file, version: _version, ...specialist }) => JSON.stringify(specialist, textOfCode));
  return sha256([JSON.stringify(guardian), ...texts.toSorted()].join("\n")).slice(0, LENGTH);
}

/** The words of a search, within bounds. */
import { Misconfigured } from "../core/errors.ts";

const MAX_WORDS = 10;
const MAX_LENGTH = 200;

/** Throws `Misconfigured` (`option_invalid`). */
export function wordsIn(search: string | undefined): readonly string[] | undefined {
  if (search === undefined) return undefined;
  const words = search.split(/\s+/).filter((word) => word !== "");
  if (words.length > 0 && words.length <= MAX_WORDS && search.length <= MAX_LENGTH) return words;
  throw new Misconfigured("option_invalid", "the search has no words, or too many", {
    expected: `1 to ${MAX_WORDS} words, with at most ${MAX_LENGTH} characters together`,
  });
}

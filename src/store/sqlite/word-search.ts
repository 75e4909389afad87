/** Search for words in texts: each is a pattern of LIKE, which heeds no case of ASCII letters. */

/** The condition that all patterns of a JSON list occur in a text; true for NULL. The inner query hides the columns of `json_each`. */
export function allOccurIn(text: string, patterns: string): string {
  const words = `(SELECT value AS wanted FROM json_each(${patterns}))`;
  return `(${patterns} IS NULL OR NOT EXISTS (SELECT 1 FROM ${words} WHERE ${text} NOT LIKE wanted ESCAPE '\\'))`;
}

/** A JSON list; null for no words. `asStored` changes a word to the form it has in the text. */
export function patternsOf(words: readonly string[] | undefined, asStored: (word: string) => string = (word) => word): string | null {
  if (words === undefined || words.length === 0) return null;
  return JSON.stringify(words.map((word) => `%${asStored(word).replaceAll(/[\\%_]/g, String.raw`\$&`)}%`));
}

/** A word as it stands in a JSON text. */
export function inJson(word: string): string {
  return JSON.stringify(word).slice(1, -1);
}

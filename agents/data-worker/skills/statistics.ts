/** Skill: counting the paragraphs, sentences and words of a text. */
import { byCodeUnits, mentions, stated, tally, textOf, type Skill } from "./skill.ts";

const WORD = /\p{L}+(?:['’-]\p{L}+)*/gu;
/** The last of a run of marks; matching whole runs would take quadratic time on a long one. */
const SENTENCE_END = /[.!?](?=\s|$)/g;

function paragraphsOf(text: string): string[] {
  const found: string[][] = [[]];
  for (const line of text.split(/\r?\n/)) {
    if (/^[ \t]*$/.test(line)) found.push([]);
    else found.at(-1)?.push(line);
  }
  return found.filter((lines) => lines.length > 0).map((lines) => lines.join("\n"));
}

function wordsOf(text: string): string[] {
  return (text.match(WORD) ?? []).map((word) => word.toLowerCase().replaceAll("’", "'"));
}

function lengthOf(word: string): number {
  return Array.from(word.replace(/['-]/g, "")).length;
}

export const statistics: Skill = {
  name: "statistics",
  fits: (job) => mentions(job.description, "count the paragraphs, sentences and words", "meanLengthHundredths", "longest"),
  solve(description, input) {
    const topCount = Number(stated(description, /the (\d+) most frequent words/));
    const minLetters = Number(stated(description, /words of at least (\d+) letters/));
    const parts = paragraphsOf(textOf(input, "text")).map((part) => ({
      sentences: part.match(SENTENCE_END)?.length ?? 0,
      words: wordsOf(part),
    }));
    const words = parts.flatMap((part) => part.words);
    if (words.length === 0) throw new Error("expected a text with words");
    const counts = [...tally(words)].map(([word, count]) => ({ word, count, length: lengthOf(word) }));
    const letters = counts.reduce((sum, { count, length }) => sum + count * length, 0);
    const longest = counts.toSorted((a, b) => b.length - a.length || byCodeUnits(a.word, b.word))[0];
    const frequent = counts.filter(({ length }) => length >= minLetters).sort((a, b) => b.count - a.count || byCodeUnits(a.word, b.word));
    return {
      paragraphs: parts.map((part) => ({ sentences: part.sentences, words: part.words.length })),
      words: words.length,
      distinct: counts.length,
      letters,
      // Twice the quotient plus one, halved: whole numbers round halves up without a fraction's error.
      meanLengthHundredths: Math.floor((Math.floor((letters * 200) / words.length) + 1) / 2),
      longest: longest?.word ?? "",
      top: frequent.slice(0, topCount).map(({ word, count }) => ({ word, count })),
    };
  },
};

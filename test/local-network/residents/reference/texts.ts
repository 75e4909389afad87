/** Reference solver for the statistics of a text. */
import { Counter, stated, text, type Solver } from "./read.ts";

export const textStatistics: Solver = (description, input) => {
  const [topCount, minLetters] = [stated(description, /the (\d+) most frequent/), stated(description, /at least (\d+) letters/)].map(
    Number,
  );
  const blocks = text(input, "text")
    .replaceAll("\r\n", "\n")
    .split(/\n(?:[ \t]*\n)+/)
    .filter((block) => block.trim() !== "");
  const wordsOf = (block: string): string[] =>
    [...block.matchAll(/\p{L}+(?:['’-]\p{L}+)*/gu)].map(([word]) => word.toLowerCase().replaceAll("’", "'"));
  const counter = new Counter();
  const length = (word: string): number => (word.match(/\p{L}/gu) ?? []).length;
  const all = blocks.flatMap(wordsOf);
  for (const word of all) counter.add(word);
  const letters = all.map(length).reduce((sum, count) => sum + count, 0);
  const alphabetical = [...counter.counts].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return {
    paragraphs: blocks.map((block) => ({ sentences: (block.match(/[.!?]+(?=\s|$)/g) ?? []).length, words: wordsOf(block).length })),
    words: all.length,
    distinct: counter.counts.size,
    letters,
    meanLengthHundredths: Number(((BigInt(letters) * 1000n) / BigInt(all.length) + 5n) / 10n),
    longest: alphabetical.toSorted(([a], [b]) => length(b) - length(a))[0]?.[0] ?? null,
    top: alphabetical
      .filter(([word]) => length(word) >= (minLetters ?? 0))
      .toSorted(([, a], [, b]) => b - a)
      .slice(0, topCount)
      .map(([word, count]) => ({ word, count })),
  };
};

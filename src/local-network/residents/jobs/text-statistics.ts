/** Task: count the paragraphs, sentences and words of a text. */
import type { Random } from "../../../core/random.ts";
import { between, byCodeUnits, bullets, chance, EXACTLY, type Kind, paragraphs } from "./job-draft.ts";
import { COMPANIES, WORDS } from "./vocabulary.ts";

function description(topCount: number, minLetters: number): string {
  return paragraphs(
    "Count the paragraphs, sentences and words of the text `input.text`.",
    bullets("What is what:", [
      "Lines end with LF or CR LF. A paragraph is a run of lines that are not blank; a blank line is empty or holds only spaces and tabs.",
      "A sentence ends at `.`, `!` or `?`, or a run of these, when white space or the end of the text follows. Every paragraph ends with a sentence's end.",
      "A letter is a character of Unicode category L. A word is letters in a row; a single apostrophe (' or ’) or hyphen (-) between two letters belongs to the word. " +
        "Digits are not letters, so `3.5` is no word.",
      "Words are compared in lower case, with ’ written as '. The length of a word is its number of letters, without apostrophes and hyphens.",
    ]),
    bullets("Deliver an object with these fields:", [
      '`paragraphs`: one {"sentences": 3, "words": 41} for each paragraph, in order.',
      "`words`: the number of words; `distinct`: the number of different words; `letters`: the sum of the lengths of all words.",
      "`meanLengthHundredths`: `letters` divided by `words`, in hundredths, rounded to a whole number, halves up (4.125 letters are 413).",
      "`longest`: the longest word; of several, the first by UTF-16 code units.",
      `\`top\`: the ${topCount} most frequent words of at least ${minLetters} letters, as {"word": "river", "count": 12}, most frequent first; ` +
        "of equally frequent words, the first by UTF-16 code units first. All words are in lower case.",
    ]),
    EXACTLY,
  );
}

/** Counts of the text while it is written. */
interface Tally {
  text: string;
  /** Characters since the last line break, to wrap lines. */
  column: number;
  readonly counts: Map<string, number>;
  words: number;
}

function gap(random: Random, tally: Tally, lineBreak: string): void {
  const wrap = tally.column > 78;
  tally.text += wrap ? lineBreak : chance(random, 0.02) ? "  " : " ";
  if (wrap) tally.column = 0;
}

function put(tally: Tally, written: string): void {
  tally.text += written;
  tally.column += written.length;
}

function putWord(random: Random, tally: Tally, first: boolean): void {
  const word = random.pick(WORDS);
  tally.counts.set(word, (tally.counts.get(word) ?? 0) + 1);
  tally.words++;
  const cased = first ? word.charAt(0).toUpperCase() + word.slice(1) : chance(random, 0.02) ? word.toUpperCase() : word;
  const shown = chance(random, 0.3) ? cased.replaceAll("'", "’") : cased;
  put(tally, random.next() < 0.03 ? random.pick([`"${shown}"`, `(${shown})`, `'${shown}'`, `_${shown}_`]) : shown);
}

/** One sentence without the space after it. */
function putSentence(random: Random, tally: Tally, lineBreak: string): void {
  const length = between(random, 4, 18);
  for (let i = 0; i < length; i++) {
    putWord(random, tally, i === 0);
    if (i === length - 1) break;
    if (chance(random, 0.08)) put(tally, random.pick([",", ";", ":", " –", " —"]));
    if (chance(random, 0.05)) {
      gap(random, tally, lineBreak);
      put(tally, random.pick(["17", "3.5", "2026", "1,200", "40%", "10:30", "&"]));
    }
    gap(random, tally, lineBreak);
  }
  put(tally, random.pick([".", ".", ".", ".", "!", "?", "...", "?!"]));
}

function lettersOf(word: string): number {
  return word.replace(/['-]/g, "").length;
}

export const textStatistics: Kind = {
  name: "text-statistics",
  draft(random) {
    const topCount = between(random, 5, 20);
    const minLetters = between(random, 3, 6);
    const lineBreak = random.pick(["\n", "\r\n"]);
    const tally: Tally = { text: "", column: 0, counts: new Map(), words: 0 };
    const shape: { sentences: number; words: number }[] = [];
    for (let left = between(random, 20, 90); left > 0; left--) {
      const before = tally.words;
      const sentences = between(random, 1, 8);
      for (let i = 1; i <= sentences; i++) {
        putSentence(random, tally, lineBreak);
        if (i < sentences) gap(random, tally, lineBreak);
      }
      shape.push({ sentences, words: tally.words - before });
      if (left > 1) tally.text += random.pick([lineBreak + lineBreak, `${lineBreak} \t${lineBreak}`, lineBreak + lineBreak + lineBreak]);
      tally.column = 0;
    }
    const counted = [...tally.counts].map(([word, count]) => ({ word, count }));
    const letters = counted.reduce((sum, { word, count }) => sum + lettersOf(word) * count, 0);
    const byLength = [...tally.counts.keys()].sort((a, b) => lettersOf(b) - lettersOf(a) || byCodeUnits(a, b));
    return {
      title: `Word statistics of a text of ${tally.words} words for ${random.pick(COMPANIES)}`,
      description: description(topCount, minLetters),
      skills: ["text", "statistics"],
      input: { text: tally.text + random.pick(["", lineBreak]) },
      answer: {
        paragraphs: shape,
        words: tally.words,
        distinct: tally.counts.size,
        letters,
        meanLengthHundredths: Math.floor((200 * letters + tally.words) / (2 * tally.words)),
        longest: byLength[0] ?? "",
        top: counted
          .filter(({ word }) => lettersOf(word) >= minLetters)
          .sort((a, b) => b.count - a.count || byCodeUnits(a.word, b.word))
          .slice(0, topCount),
      },
      reward: 4 + Math.ceil(tally.words / 400),
    };
  },
};

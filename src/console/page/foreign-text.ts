/** Texts of others, made safe to show: hidden characters as escapes, long texts cut between characters. */
import { visible } from "../../core/visible.ts";

/** Characters of a text shown at first. */
export const MAX_SHOWN = 600;

/** Each line with its hidden characters shown; line ends stay. */
export function visibleLines(text: string): string {
  return text
    .split(/\r?\n/)
    .map((line) => visible(line))
    .join("\n");
}

/** The beginning of a text; the whole if it is little longer. */
export function beginningOf(text: string, max: number = MAX_SHOWN): string {
  if (text.length <= max * 1.2) return text;
  const end = text.charCodeAt(max - 1);
  const splitsPair = end >= 0xd800 && end <= 0xdbff;
  return text.slice(0, splitsPair ? max - 1 : max);
}

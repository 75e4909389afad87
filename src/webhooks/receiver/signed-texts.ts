/** The texts a signature inside a body may cover: the body without it. Text search only: a pattern made of it would be the sender's. */
import { canonicalJson, type JsonObject } from "../../core/json.ts";

/** Places examined for the member, and blanks skipped beside it. */
const MAX_PLACES = 3;
const MAX_BLANKS = 99;
/** A longer body is not serialized again to compare: that takes ten times as long as parsing it. */
const MAX_REWRITTEN_LENGTH = 64 * 1_024;

/** Every form in which a sender may have written the body before it added the signature. Bounded. */
export function* coveredTexts(text: string, parsed: JsonObject, member: string, signature: string): Generator<string> {
  for (const place of placesOf(text, JSON.stringify(member), JSON.stringify(signature))) yield without(text, place);
  if (text.length > MAX_REWRITTEN_LENGTH) return;
  const { [member]: _signature, ...rest } = parsed;
  yield JSON.stringify(rest);
  yield canonicalJson(rest);
}

interface Place {
  readonly start: number;
  readonly end: number;
}

/** Finds `name: value` in the text, both as they are written. */
function* placesOf(text: string, name: string, value: string): Generator<Place> {
  let at = text.indexOf(value);
  for (let places = 0; at >= 0 && places < MAX_PLACES; places++) {
    const colon = blanksBefore(text, at) - 1;
    const start = blanksBefore(text, colon) - name.length;
    if (text[colon] === ":" && text.startsWith(name, start)) yield { start, end: at + value.length };
    at = text.indexOf(value, at + value.length);
  }
}

/** With the comma before it or, as the first member, the one after it. */
function without(text: string, { start, end }: Place): string {
  const before = blanksBefore(text, start);
  if (text[before - 1] === ",") return text.slice(0, before - 1) + text.slice(end);
  const after = blanksAfter(text, end);
  return text.slice(0, start) + text.slice(text[after] === "," ? blanksAfter(text, after + 1) : end);
}

const BLANKS = " \n\r\t";

function blanksBefore(text: string, end: number): number {
  let start = end;
  while (start > 0 && end - start < MAX_BLANKS && BLANKS.includes(text[start - 1] ?? "")) start--;
  return start;
}

function blanksAfter(text: string, start: number): number {
  let end = start;
  while (end < text.length && end - start < MAX_BLANKS && BLANKS.includes(text[end] ?? "")) end++;
  return end;
}

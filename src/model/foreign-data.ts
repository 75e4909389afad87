/** Data of others for a prompt: without raw fields, cut by bytes, and escaped so that no text can end its own mark. */
import { isObject, type Json } from "../core/json.ts";

/** Longest single text. */
const MAX_TEXT_BYTES = 4_096;
const LEAST_TEXT_BYTES = 64;
const MAX_ITEMS = 100;
const CUT = " [cut]";

/** JSON of at most `maxBytes`, in which every text is cut before a member is lost; undefined if no room is left. */
export function foreignData(value: Json, maxBytes: number): string | undefined {
  for (let most = MAX_TEXT_BYTES; most >= LEAST_TEXT_BYTES; most /= 2) {
    const text = escaped(JSON.stringify(shortened(value, most)));
    if (Buffer.byteLength(text) <= maxBytes) return text;
  }
  return undefined;
}

/** No tag of a mark can stand in it: JSON may escape each of these characters. */
function escaped(json: string): string {
  return json.replaceAll("<", "\\u003c").replaceAll(">", "\\u003e");
}

function shortened(value: Json, most: number): Json {
  if (typeof value === "string") return cutText(value, most);
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map((item: Json) => shortened(item, most));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]): [string, Json][] =>
      // Fields that no profile reads are the network's own, and mostly long.
      name === "raw" || member === undefined ? [] : [[cutText(name, LEAST_TEXT_BYTES), shortened(member, most)]],
    ),
  );
}

/** Cut between characters, at most `most` bytes. */
function cutText(text: string, most: number): string {
  if (text.length * 3 <= most || Buffer.byteLength(text) <= most) return text;
  const bytes = Buffer.from(text).subarray(0, Math.max(0, most - CUT.length));
  return bytes.toString("utf8").replace(/\uFFFD+$/, "") + CUT;
}

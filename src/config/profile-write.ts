/** Writes a profile as YAML for a person to read: every guess is marked in place. */
import { Document, isMap, isNode, parseDocument } from "yaml";
import { resolveProfile } from "../contract/profile/profile.ts";
import type { ProfileSource } from "../contract/profile/source.ts";
import { isObject, textsIn } from "../core/json.ts";

const DOUBT = "check it, and remove it from `guesses` once it is right";

/** The text of a profile file. `header` lines come first, as comments; `markOf` says of a guess what it rests on. */
export function profileYaml(
  source: ProfileSource,
  header: readonly string[],
  markOf: (guess: string) => string | undefined = () => undefined,
): string {
  const document = new Document(source);
  document.commentBefore = header.map((line) => ` ${line}`).join("\n");
  for (const guess of source.guesses ?? []) mark(document, placeOf(source, guess), markOf(guess));
  return document.toString({ lineWidth: 120 });
}

/** The text of a profile file with everything of `source` that it does not state; its own lines and comments stay as they are. */
export function withAdded(text: string, source: ProfileSource, markOf: (guess: string) => string | undefined): string {
  const document = parseDocument(text);
  const before: unknown = document.toJS();
  const known = new Set(isObject(before) ? (textsIn(before, "guesses") ?? []) : []);
  const { guesses = [], ...rest } = source;
  addMissing(document, rest, []);
  if (guesses.length > 0) document.set("guesses", document.createNode(guesses));
  for (const guess of guesses.filter((one) => !known.has(one))) mark(document, placeOf(source, guess), markOf(guess));
  return document.toString({ lineWidth: 120 });
}

function mark(document: Document, place: readonly string[], reason = DOUBT): void {
  const node = document.getIn(place, true);
  if (isNode(node)) node.commentBefore = ` a guess: ${reason}`;
}

/**
 * The text of a profile file with these webhook rules where it states none, and everything else (comments too) unchanged. A guess that the
 * rules confirm is settled. Throws if the profile would be invalid.
 */
export function withWebhooks(text: string, webhooks: NonNullable<ProfileSource["webhooks"]>, guesses: readonly string[]): string {
  const document = parseDocument(text);
  addMissing(document, { webhooks }, []);
  const source = document.toJS() as ProfileSource;
  const stated: object = source.webhooks ?? {};
  const settled = Object.entries(webhooks).filter(([name, value]) => JSON.stringify(Reflect.get(stated, name)) === JSON.stringify(value));
  const open = (source.guesses ?? []).filter((guess) => !settled.some(([name]) => guess === `webhooks.${name}`));
  const all = [...new Set([...open, ...guesses])];
  if (all.length > 0) document.set("guesses", document.createNode(all));
  else document.delete("guesses");
  resolveProfile(document.toJS() as ProfileSource);
  return document.toString({ lineWidth: 120 });
}

/** Sets what a document does not state; a map that it states is completed. */
function addMissing(document: Document, value: object, path: readonly string[]): void {
  for (const [key, item] of Object.entries(value)) {
    const at = [...path, key];
    if (!document.hasIn(at)) document.setIn(at, document.createNode(item));
    else if (isMap(document.getIn(at, true)) && isObject(item)) addMissing(document, item, at);
  }
}

/** `operations.posts.reply.path` as its keys; names of operations and kinds contain dots. */
function placeOf(value: unknown, path: string): readonly string[] {
  if (path === "" || typeof value !== "object" || value === null) return path === "" ? [] : path.split(".");
  const key = Object.keys(value)
    .filter((name) => path === name || path.startsWith(`${name}.`))
    .toSorted((a, b) => b.length - a.length)[0];
  return key === undefined ? path.split(".") : [key, ...placeOf(Reflect.get(value, key), path.slice(key.length + 1))];
}

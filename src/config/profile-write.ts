/** Writes a profile as YAML for a person to read: every guess is marked in place. */
import { Document, isNode, parseDocument } from "yaml";
import { resolveProfile } from "../contract/profile/profile.ts";
import type { ProfileSource } from "../contract/profile/source.ts";

const DOUBT = "check it, and remove it from `guesses` once it is right";

/** The text of a profile file. `header` lines come first, as comments; `markOf` says of a guess what it rests on. */
export function profileYaml(
  source: ProfileSource,
  header: readonly string[],
  markOf: (guess: string) => string | undefined = () => undefined,
): string {
  const document = new Document(source);
  document.commentBefore = header.map((line) => ` ${line}`).join("\n");
  for (const guess of source.guesses ?? []) {
    const node = document.getIn(placeOf(source, guess), true);
    if (isNode(node)) node.commentBefore = ` a guess: ${markOf(guess) ?? DOUBT}`;
  }
  return document.toString({ lineWidth: 120 });
}

/**
 * The text of a profile file with these webhook rules added, and everything else (comments too) unchanged. Throws if the profile would be
 * invalid.
 */
export function withWebhooks(text: string, webhooks: NonNullable<ProfileSource["webhooks"]>, guesses: readonly string[]): string {
  const document = parseDocument(text);
  const source = document.toJS() as ProfileSource | null; // a file of comments holds nothing
  const kept = (source?.guesses ?? []).filter((guess) => !guess.startsWith("webhooks."));
  for (const [name, value] of Object.entries(webhooks)) document.setIn(["webhooks", name], value);
  if (kept.length + guesses.length > 0) document.set("guesses", document.createNode([...kept, ...guesses]));
  else document.delete("guesses");
  resolveProfile(document.toJS() as ProfileSource);
  return document.toString({ lineWidth: 120 });
}

/** `operations.posts.reply.path` as its keys; names of operations and kinds contain dots. */
function placeOf(value: unknown, path: string): readonly string[] {
  if (path === "" || typeof value !== "object" || value === null) return path === "" ? [] : path.split(".");
  const key = Object.keys(value)
    .filter((name) => path === name || path.startsWith(`${name}.`))
    .toSorted((a, b) => b.length - a.length)[0];
  return key === undefined ? path.split(".") : [key, ...placeOf(Reflect.get(value, key), path.slice(key.length + 1))];
}

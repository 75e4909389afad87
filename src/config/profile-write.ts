/** A profile as the YAML file a person will read: every doubt is marked where it stands. */
import { Document, isNode } from "yaml";
import type { ProfileSource } from "../contract/profile-source.ts";

const DOUBT = " a guess: look at it, and take it out of `guesses` once it is right";

/** The text of a profile file. `header` lines come first, as comments. */
export function profileYaml(source: ProfileSource, header: readonly string[]): string {
  const document = new Document(source);
  document.commentBefore = header.map((line) => ` ${line}`).join("\n");
  for (const guess of source.guesses ?? []) {
    const node = document.getIn(placeOf(source, guess), true);
    if (isNode(node)) node.commentBefore = DOUBT;
  }
  return document.toString({ lineWidth: 120 });
}

/** `operations.posts.reply.path` as its keys: names of operations hold a dot. */
function placeOf(source: ProfileSource, path: string): readonly string[] {
  const names = Object.keys(source.operations ?? {});
  const name = names.find((operation) => path.startsWith(`operations.${operation}.`));
  if (name === undefined) return path.split(".");
  return ["operations", name, ...path.slice(`operations.${name}.`.length).split(".")];
}

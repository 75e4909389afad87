/** What Retinue's command starts Node with, as the first line of bin/retinue.js says it: nobody runs it otherwise. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface NodeSettings {
  readonly env: Readonly<Record<string, string>>;
  readonly flags: readonly string[];
}

/** Throws where the line is not of the form that `env -S` splits: settings, `node`, flags. */
export function shippedNode(): NodeSettings {
  const [line = ""] = readFileSync(join(import.meta.dirname, "../../bin/retinue.js"), "utf8").split("\n", 1);
  const [, settings, flags] = /^#!\/usr\/bin\/env -S ((?:[A-Z_]+=\S+ )*)node((?: --\S+)*)$/.exec(line) ?? [];
  if (settings === undefined || flags === undefined)
    throw new Error(`bin/retinue.js: expected env -S, settings, node and flags, got ${line}`);
  const words = (text: string): readonly string[] => text.split(" ").filter((word) => word !== "");
  return { env: Object.fromEntries(words(settings).map((word) => word.split("=", 2) as [string, string])), flags: words(flags) };
}

/** For the conditions of a suite: who runs under which Node. */
export function shippedSaid(): string {
  const { env, flags } = shippedNode();
  const told = [...Object.entries(env).map(([name, value]) => `${name}=${value}`), ...flags].join(" ");
  return `Retinue runs under Node as its command starts it (${told}), all else under Node's own defaults.`;
}

/**
 * The tools of MCP servers as a person accepted them: one fingerprint per tool in `retinue.tools.json`, beside the config file. A file and
 * not the store, so that a change is seen in a review, holds on every machine, and survives a new store.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { messageOf, Misconfigured } from "../core/errors.ts";
import { parseJson } from "../core/json.ts";

/** Fingerprints by `server/tool`. */
export type AcceptedTools = ReadonlyMap<string, string>;

const VERSION = 1;
const schema = z.strictObject({ version: z.literal(VERSION), tools: z.record(z.string(), z.string().regex(/^sha256:[0-9a-f]{64}$/)) });

export function acceptedFile(cwd: string): string {
  return join(cwd, "retinue.tools.json");
}

/** Empty without a file. Throws `Misconfigured` (`tools_unreadable`). */
export function readAccepted(cwd: string): AcceptedTools {
  const file = acceptedFile(cwd);
  if (!existsSync(file)) return new Map();
  const unreadable = (message: string, cause?: unknown): Misconfigured =>
    new Misconfigured("tools_unreadable", `the file of accepted tools cannot be used: ${message}`, {
      file,
      hint: "restore it, or remove it and run retinue check --accept",
      ...(cause === undefined ? {} : { cause }),
    });
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw unreadable(messageOf(error), error);
  }
  const parsed = schema.safeParse(parseJson(text));
  if (!parsed.success) throw unreadable("it is not what retinue check --accept writes");
  return new Map(Object.entries(parsed.data.tools));
}

/** Written under another name first and renamed, so that nobody reads half of it. */
export function writeAccepted(cwd: string, tools: AcceptedTools): void {
  const file = acceptedFile(cwd);
  const sorted = Object.fromEntries([...tools].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(`${file}.new`, `${JSON.stringify({ version: VERSION, tools: sorted }, undefined, 2)}\n`);
  renameSync(`${file}.new`, file);
}

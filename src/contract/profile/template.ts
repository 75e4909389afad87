/** Templates of paths, queries and bodies: `{content}` stands for an input in our names, `{target}` for the object acted on, `{me}` for the account. */
import { Refused } from "../../core/errors.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";

const WHOLE = /^\{([A-Za-z]\w*)\}$/;
const PLACE = /\{([A-Za-z]\w*)\}/g;
const PATH_PLACE = /:([A-Za-z]\w*)|\{([A-Za-z]\w*)\}/g;
/** Placeholder names for the object acted on. */
const TARGET_NAMES: ReadonlySet<string> = new Set(["id", "handle", "target"]);
const MAX_PATH_VALUE_LENGTH = 512;
/** The placeholder of the account's own id, unless an input has that name. */
export const OWN_ID = "me";

/** Returns the names of a template's placeholders. */
export function templateFields(template: Json): string[] {
  if (typeof template === "string") return [...template.matchAll(PLACE)].map((match) => match[1] ?? "");
  if (Array.isArray(template)) return template.flatMap((item: Json) => templateFields(item));
  return isObject(template) ? Object.values(template).flatMap((item) => (item === undefined ? [] : templateFields(item))) : [];
}

/** Returns the names of a path's placeholders; the object acted on is always `target`. */
export function pathFields(path: string): string[] {
  return [...path.matchAll(PATH_PLACE)].map((match) => sourceName(match[1] ?? match[2] ?? ""));
}

/** Returns the identifier by which a path names the object acted on; undefined if it names none. */
export function targetBy(path: string): "id" | "handle" | undefined {
  const names = [...path.matchAll(PATH_PLACE)].map((match) => match[1] ?? match[2] ?? "").filter((name) => TARGET_NAMES.has(name));
  return names.length === 0 ? undefined : names.includes("handle") ? "handle" : "id";
}

function sourceName(name: string): string {
  return TARGET_NAMES.has(name) ? "target" : name;
}

/**
 * Fills a template. A string that is one placeholder takes the value with its type; a placeholder inside a longer string takes its text.
 * Members with a missing value are left out.
 */
export function fillTemplate(template: Json, values: JsonObject): Json | undefined {
  if (typeof template === "string") return fillText(template, values);
  if (Array.isArray(template)) {
    return template.map((item: Json) => fillTemplate(item, values)).filter((item) => item !== undefined);
  }
  if (!isObject(template)) return template;
  const filled: Record<string, Json> = {};
  for (const [key, item] of Object.entries(template)) {
    const value = item === undefined ? undefined : fillTemplate(item, values);
    if (value !== undefined) filled[key] = value;
  }
  return filled;
}

function fillText(template: string, values: JsonObject): Json | undefined {
  const whole = WHOLE.exec(template)?.[1];
  if (whole !== undefined) return values[whole];
  let missing = false;
  const filled = template.replaceAll(PLACE, (_, name: string) => {
    const value = values[name];
    if (value === undefined || value === null) missing = true;
    return typeof value === "string" ? value : JSON.stringify(value ?? "");
  });
  return missing ? undefined : filled;
}

/** Compiles a path to be filled many times. Throws `Refused` (`target_invalid`) on a value that cannot stand in a path. */
export function pathBuilder(path: string): (values: JsonObject) => string {
  const pieces: (string | { readonly name: string })[] = [];
  let from = 0;
  for (const match of path.matchAll(PATH_PLACE)) {
    pieces.push(path.slice(from, match.index), { name: sourceName(match[1] ?? match[2] ?? "") });
    from = match.index + match[0].length;
  }
  pieces.push(path.slice(from));
  return (values) => {
    let built = "";
    for (const piece of pieces) built += typeof piece === "string" ? piece : pathValue(piece.name, values[piece.name]);
    return built;
  };
}

function pathValue(name: string, value: Json | undefined): string {
  const text = typeof value === "number" && Number.isSafeInteger(value) ? String(value) : value;
  // "." and ".." survive encoding, and every URL parser then walks up the path.
  if (
    typeof text !== "string" ||
    text === "" ||
    text === "." ||
    text === ".." ||
    text.length > MAX_PATH_VALUE_LENGTH ||
    !text.isWellFormed()
  )
    throw new Refused(
      "target_invalid",
      `expected an id or handle for "${name}", got ${typeof text === "string" ? "an unusable text" : typeof value}`,
      {
        hint: `an id is 1 to ${MAX_PATH_VALUE_LENGTH} characters, and neither "." nor ".."`,
      },
    );
  return encodeURIComponent(text);
}

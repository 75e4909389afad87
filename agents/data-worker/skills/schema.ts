/** Skill: validating documents against a small JSON schema, naming each keyword that fails. */
import { byCodeUnits, isList, isObject, mentions, textOf, type Json, type JsonObject, type LineError, type Skill } from "./skill.ts";

type Failure = { readonly path: string; readonly keyword: string };
/** Checks one keyword, whose value in the schema is `limit`. `true` when it fails. */
type Check = (limit: Json, value: Json) => boolean;

const KEYWORDS: Readonly<Record<string, Check>> = {
  enum: (limit, value) => isList(limit) && !limit.map(canonical).includes(canonical(value)),
  minimum: (limit, value) => typeof value === "number" && value < Number(limit),
  maximum: (limit, value) => typeof value === "number" && value > Number(limit),
  minLength: (limit, value) => typeof value === "string" && codePoints(value) < Number(limit),
  maxLength: (limit, value) => typeof value === "string" && codePoints(value) > Number(limit),
  pattern: (limit, value) => typeof value === "string" && typeof limit === "string" && !safePattern(limit).test(value),
  minItems: (limit, value) => isList(value) && value.length < Number(limit),
  maxItems: (limit, value) => isList(value) && value.length > Number(limit),
  uniqueItems: (limit, value) => limit === true && isList(value) && new Set(value.map(canonical)).size < value.length,
};

/** Keywords handled by walking down, not by a check of their own. */
const STRUCTURE = new Set(["type", "properties", "required", "additionalProperties", "items"]);

const MAX_PATTERN_LENGTH = 200;
const MAX_OPEN_REPEATS = 2;

/** A foreign pattern that cannot run away: without groups and with few open-ended repeats its time stays polynomial. */
function safePattern(pattern: string): RegExp {
  const openRepeats = pattern.match(/[*+]|,\}/g)?.length ?? 0;
  if (pattern.length > MAX_PATTERN_LENGTH || pattern.includes("(") || openRepeats > MAX_OPEN_REPEATS)
    throw new Error("expected a simple pattern, got one that may take too long to match");
  return new RegExp(pattern, "u");
}

function codePoints(text: string): number {
  return Array.from(text).length;
}

/** The same text for equal values, whatever the order of their fields. */
function canonical(value: Json | undefined): string {
  if (isList(value)) return `[${value.map(canonical).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value ?? null);
  const fields = Object.keys(value).sort(byCodeUnits);
  return `{${fields.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(",")}}`;
}

function hasType(type: Json, value: Json): boolean {
  if (type === "null") return value === null;
  if (type === "array") return isList(value);
  if (type === "object") return isObject(value);
  return type === "integer" ? Number.isInteger(value) : typeof value === type;
}

function* failures(schema: JsonObject, value: Json, path: string): Generator<Failure> {
  const { type } = schema;
  if (type !== undefined && !(isList(type) ? type : [type]).some((one) => hasType(one, value))) {
    yield { path, keyword: "type" };
    return;
  }
  for (const [keyword, limit] of Object.entries(schema)) {
    const check = Object.hasOwn(KEYWORDS, keyword) ? KEYWORDS[keyword] : undefined;
    if (check === undefined && !STRUCTURE.has(keyword)) throw new Error(`the schema uses a keyword this skill does not know: ${keyword}`);
    if (limit !== undefined && check?.(limit, value) === true) yield { path, keyword };
  }
  const { items } = schema;
  if (isList(value) && isObject(items)) for (const [i, item] of value.entries()) yield* failures(items, item, `${path}/${i}`);
  if (isObject(value)) yield* ofObject(schema, value, path);
}

function* ofObject(schema: JsonObject, value: JsonObject, path: string): Generator<Failure> {
  const { required, additionalProperties } = schema;
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  for (const name of isList(required) ? required : [])
    if (typeof name === "string" && !Object.hasOwn(value, name)) yield { path: `${path}/${name}`, keyword: "required" };
  for (const [name, item] of Object.entries(value)) {
    const below = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (isObject(below)) yield* failures(below, item ?? null, `${path}/${name}`);
    else if (additionalProperties === false) yield { path: `${path}/${name}`, keyword: "additionalProperties" };
  }
}

function parse(text: string): { document: Json } | undefined {
  try {
    return { document: JSON.parse(text) as Json };
  } catch {
    return undefined; // the job asks to report such lines
  }
}

export const schema: Skill = {
  name: "schema",
  fits: (job) => mentions(job.description, "against the schema", "input.ndjson", "not_json", "JSON Pointers"),
  solve(_, input) {
    const root = input["schema"];
    if (!isObject(root)) throw new Error("expected the input's schema to be an object");
    const invalid: { line: number; failures: Failure[] }[] = [];
    const errors: LineError[] = [];
    let valid = 0;
    for (const [i, text] of textOf(input, "ndjson").split("\n").entries()) {
      if (text === "") continue;
      const parsed = parse(text);
      if (parsed === undefined) {
        errors.push({ line: i + 1, reason: "not_json" });
        continue;
      }
      const found = [...failures(root, parsed.document, "")].sort(
        (a, b) => byCodeUnits(a.path, b.path) || byCodeUnits(a.keyword, b.keyword),
      );
      if (found.length === 0) valid++;
      else invalid.push({ line: i + 1, failures: found });
    }
    return { valid, invalid, errors };
  },
};

/** Makes the answer that a schema describes, so that the doctor examines a document as it examines a network. */
import { readNumber, readTime } from "../../contract/reading/values.ts";
import { isObject, textIn, type Json, type JsonObject } from "../../core/json.ts";
import { DAY, SECOND } from "../../core/units.ts";
import type { OpenDocument } from "./open-document.ts";

/** Items of a list of objects: enough to tell an id from a constant. */
const ITEMS = 3;
const MAX_DEPTH = 8;
/** Values of one answer; a schema may contain itself. */
const MAX_VALUES = 3_000;
const START_MS = Date.UTC(2026, 0, 5, 9);

const TIME = /(?:^|_)(?:at|on|time|timestamp|ts|date|deadline|due|created|published|posted|updated|expires|since|when)$/;
const TEXT =
  /(?:content|text|body|message|msg|description|details?|summary|reason|explanation|caption|markdown|bio|about|brief|instructions|title|words|says|html|asks|note)$/;
const ADDRESS = /(?:url|uri|link|href|endpoint|callback)$/;

/** Undefined where the schema says nothing. */
export function sampleOf(document: OpenDocument, schema: Json | undefined, variant = 0): Json | undefined {
  let left = MAX_VALUES;
  const value = (at: Json | undefined, name: string, n: number, depth: number): Json | undefined => {
    const whole = merged(document, at);
    if (whole === undefined || depth > MAX_DEPTH || left-- <= 0) return undefined;
    if (isObject(whole["properties"])) {
      const members = Object.entries(whole["properties"]).map(([key, item]): [string, Json | undefined] => [
        key,
        value(item, key, n, depth + 1),
      ]);
      return Object.fromEntries(members);
    }
    const type = typeOf(whole);
    if (type === "array" || whole["items"] !== undefined)
      return Array.from({ length: ITEMS }, (_, item) => value(whole["items"], name, item, depth + 1)).flatMap((item) => item ?? []);
    const stated = exampleOf(whole);
    if (stated !== undefined && typeof stated === "object") return stated;
    return scalar(whole, { type, stated, name: plain(name), n });
  };
  return value(schema, "", variant, 0);
}

/** The schema with its parts in one: all of `allOf`, the fullest of `oneOf` and `anyOf`. */
export function merged(document: OpenDocument, schema: Json | undefined, depth = 0): JsonObject | undefined {
  const at = document.follow(schema);
  if (!isObject(at) || depth > MAX_DEPTH) return undefined;
  const parts = (name: string): readonly JsonObject[] => {
    const list = at[name];
    if (!Array.isArray(list)) return [];
    return (list as readonly Json[]).map((part) => merged(document, part, depth + 1)).filter((part) => part !== undefined);
  };
  const choices = [...parts("oneOf"), ...parts("anyOf")].filter((choice) => typeOf(choice) !== "null");
  const choice = choices.toSorted((a, b) => breadth(b) - breadth(a)).slice(0, 1);
  return [...parts("allOf"), ...choice].reduce<JsonObject>((whole, part) => joined(part, whole), at);
}

function joined(part: JsonObject, whole: JsonObject): JsonObject {
  const properties = { ...membersOf(part["properties"]), ...membersOf(whole["properties"]) };
  const required = [...namesIn(part["required"]), ...namesIn(whole["required"])];
  return {
    ...part,
    ...whole,
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
    ...(required.length === 0 ? {} : { required }),
  };
}

function membersOf(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

export function namesIn(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((name: Json) => typeof name === "string") : [];
}

function breadth(schema: JsonObject): number {
  return Object.keys(membersOf(schema["properties"])).length;
}

/** The first type but null; `object` or `array` where only their members are stated. */
export function typeOf(schema: JsonObject): string | undefined {
  const { type, properties, items } = schema;
  const named = Array.isArray(type) ? type.find((one: Json) => one !== "null") : type;
  if (typeof named === "string") return named;
  return properties === undefined ? (items === undefined ? undefined : "array") : "object";
}

function exampleOf(schema: JsonObject): Json | undefined {
  const { examples, example } = schema;
  return (Array.isArray(examples) ? (examples as readonly Json[])[0] : undefined) ?? example ?? schema["const"] ?? schema["default"];
}

/** `createdAt` as `created_at`. */
function plain(name: string): string {
  return name
    .replaceAll(/([a-z\d])([A-Z])/g, "$1_$2")
    .replaceAll(/[-\s.]+/g, "_")
    .toLowerCase();
}

interface About {
  readonly type: string | undefined;
  readonly stated: Json | undefined;
  readonly name: string;
  readonly n: number;
}

function scalar(schema: JsonObject, { type, stated, name, n }: About): Json | undefined {
  const words: readonly Json[] = Array.isArray(schema["enum"]) ? schema["enum"].filter((word: Json) => word !== null) : [];
  if (words.length > 0) return words[n % words.length];
  switch (type ?? (stated === undefined ? undefined : typeof stated)) {
    case "boolean":
      return true;
    case "integer":
    case "number":
      return numberFor(schema, stated, name, n);
    case "string":
      return textFor(schema, stated, name, n);
    default:
      return undefined;
  }
}

function numberFor(schema: JsonObject, stated: Json | undefined, name: string, n: number): number {
  const isTime = TIME.test(name) || (stated !== undefined && readTime(stated, "auto") !== undefined);
  if (!isTime) return n + 1;
  const isMs = typeof stated === "number" ? stated > 1e11 : /milli|\bms\b/i.test(textIn(schema, "description") ?? "");
  return Math.floor((START_MS - n * DAY) / (isMs ? 1 : SECOND));
}

function textFor(schema: JsonObject, stated: Json | undefined, name: string, n: number): string {
  const { format } = schema;
  const isTime = format === "date-time" || format === "date" || (stated === undefined ? TIME.test(name) : isDate(stated));
  if (isTime) return new Date(START_MS - n * DAY).toISOString();
  if (format === "uri" || format === "url" || ADDRESS.test(name)) return `https://example.com/${n}`;
  if (stated !== undefined && readNumber(stated) !== undefined && !name.endsWith("id")) return `${n + 1}.00`;
  if (/(?:^|_)(?:vote|reaction)$/.test(name)) return "up";
  return TEXT.test(name) ? `A text of some length under ${name} ${n}.` : `${name === "" ? "value" : name}-${n}`;
}

function isDate(stated: Json): boolean {
  return typeof stated === "string" && readTime(stated, "auto") !== undefined;
}

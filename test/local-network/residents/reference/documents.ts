/** Reference solvers for the tasks about documents: links of a page, schemas, statistics of a text. */
import { isObject, type Json, type JsonObject } from "../../../../src/core/json.ts";
import { Counter, list, object, stated, text, type Solver } from "./read.ts";

/** Blanks out what does not count, then reads tags line by line with one expression. */
export const htmlLinks: Solver = (_, input) => {
  const hidden = /<!--[\s\S]*?-->|<script\b[\s\S]*?<\/script>|<style\b[\s\S]*?<\/style>/gi;
  const visible = text(input, "html").replace(hidden, (part) => part.replace(/[^\n]/g, " "));
  const attribute = String.raw`\s+[^\s=>"']+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>"']+))?`;
  const tags = new RegExp(String.raw`<(area|base|a)((?:${attribute})*)\s*(>|(?=.?))`, "gi");
  const counts = new Counter();
  const errors: Json[] = [];
  let other = 0;
  let base = text(input, "url");
  const found: { line: number; href: string | undefined; name: string; closed: boolean }[] = [];
  visible.split("\n").forEach((line, i) => {
    for (const match of line.matchAll(tags)) {
      const [, name = "", attributes = "", end] = match;
      const next = line[match.index + 1 + name.length] ?? "";
      if (/[^\s>]/.test(next)) continue; // another tag whose name only begins like this
      const values = [...attributes.matchAll(/\s+([^\s=>"']+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+)))?/g)];
      const first = values.find((value) => value[1]?.toLowerCase() === "href");
      const href = first === undefined ? undefined : (first[2] ?? first[3] ?? first[4] ?? "");
      found.push({ line: i + 1, name: name.toLowerCase(), closed: end === ">", href });
    }
  });
  const baseTag = found.find(({ name, href, closed }) => name === "base" && href !== undefined && closed);
  if (baseTag?.href !== undefined) base = new URL(baseTag.href, base).href;
  for (const { line, name, href, closed } of found) {
    if (name === "base") continue;
    if (!closed) {
      errors.push({ line, reason: "unclosed_tag" });
      continue;
    }
    if (href === undefined) continue;
    const value = href.replace(/&(amp|quot|#(\d+));/g, (_all, entity: string, code?: string) =>
      code === undefined ? (entity === "amp" ? "&" : '"') : String.fromCodePoint(Number(code)),
    );
    if (value.trim() === "") errors.push({ line, reason: "empty_href" });
    else if (!URL.canParse(value, base)) errors.push({ line, reason: "invalid_url" });
    else {
      const url = new URL(value, base);
      if (/^https?:$/.test(url.protocol)) counts.add(url.href.split("#")[0] ?? "");
      else other++;
    }
  }
  return { base, links: [...counts.counts].map(([url, count]) => ({ url, count })), other, errors };
};

type Failure = { path: string; keyword: string };

function typeOf(value: Json): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value;
}

function failures(schema: JsonObject, value: Json, path: string): Failure[] {
  const fail = (keyword: string, holds: boolean): Failure[] => (holds ? [{ path, keyword }] : []);
  const number = (keyword: string, otherwise: number): number => Number(schema[keyword] ?? otherwise);
  const types = schema["type"] === undefined ? undefined : [schema["type"]].flat();
  const fits = types?.some((type) => type === typeOf(value) || (type === "integer" && Number.isInteger(value)));
  if (fits === false) return fail("type", true);
  const found = fail(
    "enum",
    schema["enum"] !== undefined && !list(schema["enum"]).some((item) => JSON.stringify(item) === JSON.stringify(value)),
  );
  if (typeof value === "number")
    found.push(...fail("minimum", value < number("minimum", -Infinity)), ...fail("maximum", value > number("maximum", Infinity)));
  if (typeof value === "string") {
    const length = Array.from(value).length;
    found.push(...fail("minLength", length < number("minLength", 0)), ...fail("maxLength", length > number("maxLength", Infinity)));
    if (typeof schema["pattern"] === "string") found.push(...fail("pattern", !new RegExp(schema["pattern"], "u").test(value)));
  }
  if (Array.isArray(value)) {
    const items: Json[] = value;
    found.push(...fail("minItems", items.length < number("minItems", 0)), ...fail("maxItems", items.length > number("maxItems", Infinity)));
    found.push(
      ...fail("uniqueItems", schema["uniqueItems"] === true && new Set(items.map((item) => JSON.stringify(item))).size < items.length),
    );
    const each = schema["items"];
    if (each !== undefined) items.forEach((item, i) => found.push(...failures(object(each), item, `${path}/${i}`)));
  } else if (isObject(value)) {
    const properties = object(schema["properties"] ?? {});
    const required = list(schema["required"] ?? []).filter((name) => typeof name === "string");
    for (const name of required) if (!(name in value)) found.push({ path: `${path}/${name}`, keyword: "required" });
    for (const [name, item] of Object.entries(value)) {
      const below = properties[name];
      if (below !== undefined) found.push(...failures(object(below), item ?? null, `${path}/${name}`));
      else if (schema["additionalProperties"] === false) found.push({ path: `${path}/${name}`, keyword: "additionalProperties" });
    }
  }
  return found;
}

export const schemaCheck: Solver = (_, input) => {
  const schema = object(input["schema"]);
  const invalid: Json[] = [];
  const errors: Json[] = [];
  let valid = 0;
  text(input, "ndjson")
    .split("\n")
    .forEach((line, i) => {
      if (line === "") return;
      let document: Json;
      try {
        document = JSON.parse(line) as Json;
      } catch {
        errors.push({ line: i + 1, reason: "not_json" });
        return;
      }
      const found = failures(schema, document, "").toSorted((a, b) => {
        const [x, y] = [`${a.path}\u0000${a.keyword}`, `${b.path}\u0000${b.keyword}`];
        return x < y ? -1 : x > y ? 1 : 0;
      });
      if (found.length === 0) valid++;
      else invalid.push({ line: i + 1, failures: found });
    });
  return { valid, invalid, errors };
};

export const textStatistics: Solver = (description, input) => {
  const [topCount, minLetters] = [stated(description, /the (\d+) most frequent/), stated(description, /at least (\d+) letters/)].map(
    Number,
  );
  const blocks = text(input, "text")
    .replaceAll("\r\n", "\n")
    .split(/\n(?:[ \t]*\n)+/)
    .filter((block) => block.trim() !== "");
  const wordsOf = (block: string): string[] =>
    [...block.matchAll(/\p{L}+(?:['’-]\p{L}+)*/gu)].map(([word]) => word.toLowerCase().replaceAll("’", "'"));
  const counter = new Counter();
  const length = (word: string): number => (word.match(/\p{L}/gu) ?? []).length;
  const all = blocks.flatMap(wordsOf);
  for (const word of all) counter.add(word);
  const letters = all.map(length).reduce((sum, count) => sum + count, 0);
  const alphabetical = [...counter.counts].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return {
    paragraphs: blocks.map((block) => ({ sentences: (block.match(/[.!?]+(?=\s|$)/g) ?? []).length, words: wordsOf(block).length })),
    words: all.length,
    distinct: counter.counts.size,
    letters,
    meanLengthHundredths: Number(((BigInt(letters) * 1000n) / BigInt(all.length) + 5n) / 10n),
    longest: alphabetical.toSorted(([a], [b]) => length(b) - length(a))[0]?.[0] ?? null,
    top: alphabetical
      .filter(([word]) => length(word) >= (minLetters ?? 0))
      .toSorted(([, a], [, b]) => b - a)
      .slice(0, topCount)
      .map(([word, count]) => ({ word, count })),
  };
};

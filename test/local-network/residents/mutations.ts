/** Every small way of getting a deliverable wrong. */
import { isObject, type Json } from "../../../src/core/json.ts";
import type { Random } from "../../../src/core/random.ts";

type Edit = (random: Random, value: Json) => Json | undefined;

function edited(random: Random, value: Json, edit: Edit): Json | undefined {
  const places: (readonly (string | number)[])[] = [];
  collect(value, [], places);
  for (let tries = 0; tries < 400 && places.length > 0; tries++) {
    const changed = at(value, random.pick(places), (inner) => edit(random, inner));
    if (changed !== undefined) return changed;
  }
  return undefined;
}

function collect(value: Json, path: readonly (string | number)[], places: (readonly (string | number)[])[]): void {
  places.push(path);
  if (Array.isArray(value)) value.forEach((item: Json, i) => collect(item, [...path, i], places));
  else if (isObject(value)) for (const [key, item] of Object.entries(value)) collect(item ?? null, [...path, key], places);
}

/** A copy of `value` with the edit made at `path`; `undefined` when the edit does not fit there. */
function at(value: Json, path: readonly (string | number)[], edit: (inner: Json) => Json | undefined): Json | undefined {
  const [step, ...rest] = path;
  if (step === undefined) return edit(value);
  if (typeof step === "number" && Array.isArray(value)) {
    const items: Json[] = value;
    const inner = at(items[step] ?? null, rest, edit);
    return inner === undefined ? undefined : items.with(step, inner);
  }
  if (typeof step !== "string" || !isObject(value)) return undefined;
  const inner = at(value[step] ?? null, rest, edit);
  return inner === undefined ? undefined : { ...value, [step]: inner };
}

function onList(edit: (random: Random, items: readonly Json[]) => Json | undefined): Edit {
  return (random, value) => (Array.isArray(value) && value.length > 0 ? edit(random, value) : undefined);
}

const EDITS: Readonly<Record<string, Edit>> = {
  "an item dropped": onList((random, items) => items.toSpliced(random.int(items.length), 1)),
  "an item twice": onList((random, items) => items.toSpliced(random.int(items.length), 0, random.pick(items))),
  "an item appended": onList((random, items) => [...items, random.pick(items)]),
  "two neighbours swapped": onList((random, items) => {
    const first = random.int(items.length - 1);
    const [a, b] = [items[first] ?? null, items[first + 1] ?? null];
    return items.length < 2 || JSON.stringify(a) === JSON.stringify(b) ? undefined : items.with(first, b).with(first + 1, a);
  }),
  "a list cut short": onList((_, items) => items.slice(0, Math.floor(items.length / 2))),
  "a list emptied": onList(() => []),
  "a number off by one": (_, value) => (typeof value === "number" ? value + 1 : undefined),
  "a number as text": (_, value) => (typeof value === "number" ? String(value) : undefined),
  "a text changed": (random, value) => (typeof value === "string" ? random.pick([`${value} `, `x${value}`]) : undefined),
  "a text cut short": (_, value) => (typeof value === "string" && value.length > 0 ? value.slice(0, -1) : undefined),
  "a text's case changed": (_, value) => (typeof value === "string" && /[a-z]/.test(value) ? value.toUpperCase() : undefined),
  "a field removed": (random, value) => {
    if (!isObject(value)) return undefined;
    const gone = random.pick(Object.keys(value));
    return Object.fromEntries(Object.entries(value).filter(([key]) => key !== gone));
  },
  "a field added": (_, value) => (isObject(value) ? { ...value, note: "done with care" } : undefined),
  "a field renamed": (random, value) => {
    if (!isObject(value)) return undefined;
    const old = random.pick(Object.keys(value));
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key === old ? `${key}_` : key, item]));
  },
  "a value nulled": (_, value) => (value === null ? undefined : null),
  "a value wrapped": (_, value) => [value],
};

/** One wrong copy of the answer for each way that fits it, named. */
export function nearMisses(random: Random, answer: Json): { name: string; deliverable: Json }[] {
  return Object.entries(EDITS).flatMap(([name, edit]) => {
    const deliverable = edited(random, answer, edit);
    return deliverable === undefined ? [] : [{ name, deliverable }];
  });
}

function nested(depth: number): Json {
  let value: Json = [];
  for (let i = 0; i < depth; i++) value = i % 2 === 0 ? [value] : { rows: value, errors: value };
  return value;
}

/** Deliverables that never were an answer. */
export function junk(answer: Json): Json[] {
  const deep = nested(50_000);
  const spoiled = isObject(answer) ? Object.fromEntries(Object.keys(answer).map((key) => [key, deep])) : deep;
  const proto = JSON.parse('{"__proto__": {"rows": []}, "constructor": 1, "length": 0}') as Json;
  return [null, "", "done", 0, -0, 1e308, true, false, [], {}, [[]], deep, spoiled, proto, JSON.stringify(answer), [answer], { answer }];
}

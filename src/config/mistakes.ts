/** Turns a schema's issues into problems: place, expectation, found value, advice. */
import type { AnyCode } from "../core/error-codes.ts";
import { z } from "zod";
import { expectation } from "../contract/profile/expectation.ts";
import { defined } from "../core/defined.ts";
import { mistake, nearest, type Problem } from "./problem.ts";
import { VARIABLE_NAME } from "./value-schemas.ts";

type Path = readonly PropertyKey[];

export interface MistakeContext {
  readonly code: AnyCode;
  readonly file?: string;
  /** The line of the value at a path, if the format has lines. */
  readonly lineOf?: (path: Path) => number | undefined;
}

/** Checks a value. The schema's own `error` text states the expectation. */
export function checkShape<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  context: MistakeContext,
):
  | { readonly value: z.output<Schema>; readonly problems: readonly [] }
  | { readonly value: undefined; readonly problems: readonly Problem[] } {
  const parsed = schema.safeParse(value);
  if (parsed.success) return { value: parsed.data, problems: [] };
  return { value: undefined, problems: parsed.error.issues.flatMap((issue) => describe(schema, value, issue, context)) };
}

/** A checked value, or every mistake in it. */
export interface CheckedParts<Value> {
  /** Undefined if there is a mistake. */
  readonly value: Value | undefined;
  /** The value without its mistaken parts, for further checks; undefined if it is unusable without them. */
  readonly rest: Value | undefined;
  readonly problems: readonly Problem[];
}

/** Rounds of removing mistaken parts: each shows the mistakes that a schema looks for only where the others are gone. */
const MAX_ROUNDS = 10;

/** Checks a value, and then what is left of it without its mistaken parts, so that no mistake hides another. */
export function checkParts<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  context: MistakeContext,
): CheckedParts<z.output<Schema>> {
  const problems: Problem[] = [];
  const removed: Path[] = [];
  let rest = value;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const parsed = schema.safeParse(rest);
    if (parsed.success) return { value: removed.length === 0 ? parsed.data : undefined, rest: parsed.data, problems };
    const before = rest;
    const issues = parsed.error.issues.map((issue) => ({ issue, paths: placesOf(deepest(issue)) }));
    for (const { issue, paths } of issues)
      if (!paths.some((path) => removed.some((part) => startsWith(part, path)))) problems.push(...describe(schema, before, issue, context));
    // The last elements of a list first, so that the places of the others stay.
    for (const path of issues.flatMap(({ paths }) => paths).toReversed()) {
      removed.push(path);
      rest = withoutPart(rest, path);
    }
    if (rest === before) break;
  }
  return { value: undefined, rest: undefined, problems };
}

/** True for a part within what is at a path: something is missing there now because the part was removed. */
function startsWith(part: Path, path: Path): boolean {
  return path.every((step, index) => part[index] === step);
}

/** The paths of an issue's mistaken parts. */
function placesOf(issue: z.core.$ZodIssue): readonly Path[] {
  return issue.code === "unrecognized_keys" ? issue.keys.map((key) => [...issue.path, key]) : [issue.path];
}

/** A copy without the part at a path, or without the object that lacks it; the value itself if there is neither. */
function withoutPart(value: unknown, [step, ...further]: Path): unknown {
  if (step === undefined || typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return value;
  const part: unknown = Reflect.get(value, step);
  const less = further.length === 0 ? part : withoutPart(part, further);
  if (Array.isArray(value)) return less === part ? value.toSpliced(Number(step), 1) : value.with(Number(step), less);
  const others = Object.entries(value).filter(([key]) => key !== String(step));
  return Object.fromEntries(less === part ? others : [...others, [String(step), less]]);
}

function describe(schema: z.ZodType, root: unknown, given: z.core.$ZodIssue, context: MistakeContext): Problem[] {
  const issue = deepest(given);
  const place = (path: Path): Pick<Problem, "file" | "line"> => {
    const line = context.lineOf?.(path);
    return defined({ file: context.file, line });
  };
  const unknown = unknownKeys(schema, issue);
  if (unknown !== undefined) {
    const known = keysAt(schema, unknown.path);
    return unknown.keys.map((key) => {
      const near = nearest(key, known);
      return mistake("key_unknown", `${show([...unknown.path, key])}: no such setting`, {
        ...place([...unknown.path, key]),
        expected: known.length === 0 ? "nothing here" : `one of ${known.join(", ")}`,
        hint: near === undefined ? `remove "${key}"` : `did you mean "${near}"?`,
      });
    });
  }
  const found: unknown = issue.code === "invalid_key" ? issue.path.at(-1) : valueAt(root, issue.path);
  const where = issue.path.length === 0 ? "the whole" : show(issue.path);
  const near = typeof found === "string" && issue.code === "invalid_value" ? nearest(found, issue.values.map(String)) : undefined;
  const { expected, hint } = splitHint(expectation(issue));
  const shown = expected.startsWith(VARIABLE_NAME) && typeof found === "string" ? "another text" : showValue(found);
  const advice = near === undefined ? hint : `did you mean "${near}"?`;
  return [
    mistake(context.code, found === undefined ? `${where} is missing` : `${where}: expected ${expected}, got ${shown}`, {
      ...place(issue.path),
      expected,
      ...defined({ hint: advice }),
    }),
  ];
}

/** Unknown keys, and the path of the object that holds them. A key of an open list is only malformed. */
function unknownKeys(schema: z.ZodType, issue: z.core.$ZodIssue): { readonly path: Path; readonly keys: readonly string[] } | undefined {
  if (issue.code === "unrecognized_keys") return { path: issue.path, keys: issue.keys };
  if (issue.code !== "invalid_key") return undefined;
  const path = issue.path.slice(0, -1);
  return keysAt(schema, path).length === 0 ? undefined : { path, keys: [String(issue.path.at(-1))] };
}

/** The issue of the intended branch: the one that got furthest into the value. */
function deepest(issue: z.core.$ZodIssue): z.core.$ZodIssue {
  if (issue.code !== "invalid_union") return issue;
  const inner = issue.errors
    .flat()
    .filter((one) => one.path.length > 0 || one.code === "unrecognized_keys")
    .map((one) => ({ ...one, path: [...issue.path, ...one.path] }));
  const first = inner[0];
  return first === undefined ? issue : deepest(first);
}

/** The keys an object schema has at a path. */
function keysAt(schema: z.ZodType, path: Path): string[] {
  const here = unwrap(schema);
  const [step, ...rest] = path;
  if (here instanceof z.ZodUnion) return here.options.flatMap((option) => (option instanceof z.ZodType ? keysAt(option, path) : []));
  if (here instanceof z.ZodObject) {
    if (step === undefined) return Object.keys(here.shape);
    const inner: unknown = here.shape[String(step)];
    return inner instanceof z.ZodType ? keysAt(inner, rest) : [];
  }
  if (step === undefined && here instanceof z.ZodRecord && here.keyType instanceof z.ZodType) return namesOf(here.keyType);
  if (step !== undefined && here instanceof z.ZodRecord && here.valueType instanceof z.ZodType) return keysAt(here.valueType, rest);
  if (step !== undefined && here instanceof z.ZodArray && here.element instanceof z.ZodType) return keysAt(here.element, rest);
  return [];
}

function namesOf(schema: z.ZodType): string[] {
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => (option instanceof z.ZodType ? namesOf(option) : []));
  return schema instanceof z.ZodEnum ? schema.options.map(String) : [];
}

function unwrap(schema: z.ZodType): z.ZodType {
  const inner = schema instanceof z.ZodOptional ? schema.unwrap() : schema instanceof z.ZodPipe ? schema.in : undefined;
  return inner instanceof z.ZodType ? unwrap(inner) : schema;
}

function valueAt(root: unknown, path: Path): unknown {
  return path.reduce((value: unknown, step) => (typeof value === "object" && value !== null ? Reflect.get(value, step) : undefined), root);
}

/** `watch.feed.maxAge`, `skills[0]`, `on["post.created"]`. */
export function show(path: Path): string {
  return path
    .map((step, index) => {
      if (typeof step === "number") return `[${step}]`;
      if (!/^[\w$]+$/.test(String(step))) return `["${String(step)}"]`;
      return index === 0 ? String(step) : `.${String(step)}`;
    })
    .join("");
}

const MAX_SHOWN = 60;

/** A short form of what was found. */
export function showValue(value: unknown): string {
  if (typeof value === "function") return "a function";
  if (value instanceof Promise) return "a promise";
  if (typeof value === "bigint" || typeof value === "symbol") return `a ${typeof value}`;
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (typeof value === "object" && value !== null) return "an object";
  const text = typeof value === "string" ? JSON.stringify(value) : String(value);
  // A part of a long text may be a part of a key, which no scrubber finds.
  return text.length > MAX_SHOWN ? `a text of ${text.length} characters` : text;
}

/** An expectation may carry its own advice after `; `. */
function splitHint(message: string): { readonly expected: string; readonly hint?: string } {
  const [expected = message, hint] = message.split("; ", 2);
  return hint === undefined ? { expected } : { expected, hint };
}

/** Turns a schema's issues into problems: where, what was expected, what was there, what to try. */
import type { AnyCode } from "../core/error-codes.ts";
import { z } from "zod";
import { expectation } from "../contract/profile/expectation.ts";
import { defined } from "../core/defined.ts";
import { mistake, nearest, type Problem } from "./problem.ts";

type Path = readonly PropertyKey[];

export interface MistakeContext {
  readonly code: AnyCode;
  readonly file?: string;
  /** The line on which the value at a path begins, where the format has lines. */
  readonly lineOf?: (path: Path) => number | undefined;
}

/** What a value failed is told in its schema's own `error` text: it reads as what was expected. */
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
  const advice = near === undefined ? hint : `did you mean "${near}"?`;
  return [
    mistake(context.code, found === undefined ? `${where} is missing` : `${where}: expected ${expected}, got ${showValue(found)}`, {
      ...place(issue.path),
      expected,
      ...defined({ hint: advice }),
    }),
  ];
}

/** Keys that should not be there, and the path of what holds them. A key of an open list is only badly formed. */
function unknownKeys(schema: z.ZodType, issue: z.core.$ZodIssue): { readonly path: Path; readonly keys: readonly string[] } | undefined {
  if (issue.code === "unrecognized_keys") return { path: issue.path, keys: issue.keys };
  if (issue.code !== "invalid_key") return undefined;
  const path = issue.path.slice(0, -1);
  return keysAt(schema, path).length === 0 ? undefined : { path, keys: [String(issue.path.at(-1))] };
}

/** The issue of the branch that was meant: the one that got furthest into the value. */
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

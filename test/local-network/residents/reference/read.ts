/** Reads the parts of a task's input, loudly when they are not what the description says. */
import { isObject, type Json, type JsonObject } from "../../../../src/core/json.ts";

/** A solver written from a description alone: it sees what a worker sees. */
export type Solver = (description: string, input: JsonObject) => Json;

export function text(input: JsonObject, name: string): string {
  const value = input[name];
  if (typeof value !== "string") throw new TypeError(`expected ${name} to be a text`);
  return value;
}

export function object(value: Json | undefined): JsonObject {
  if (value === undefined || !isObject(value)) throw new TypeError("expected an object");
  return value;
}

export function list(value: Json | undefined): Json[] {
  if (!Array.isArray(value)) throw new TypeError("expected a list");
  return value.map((item: Json) => item);
}

/** The first group of a match in the description. */
export function stated(description: string, pattern: RegExp): string {
  const found = pattern.exec(description)?.[1];
  if (found === undefined) throw new Error(`the description does not state ${String(pattern)}`);
  return found;
}

/** A number for each key. */
export class Counter {
  readonly counts = new Map<string, number>();

  add(key: string): void {
    this.counts.set(key, (this.counts.get(key) ?? 0) + 1);
  }
}

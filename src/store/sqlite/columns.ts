/** Converts values from SQLite, checked once on reading. */
import type { SQLOutputValue } from "node:sqlite";
import { Fatal } from "../../core/errors.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";

export type Row = Record<string, SQLOutputValue>;

export function textOf(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== "string") throw broken(column, "text", value);
  return value;
}

export function numberOf(row: Row, column: string): number {
  const value = row[column];
  if (typeof value !== "number") throw broken(column, "a number", value);
  return value;
}

export function bytesOf(row: Row, column: string): Uint8Array {
  const value = row[column];
  if (!(value instanceof Uint8Array)) throw broken(column, "bytes", value);
  return value;
}

export function maybeText(row: Row, column: string): string | undefined {
  return row[column] === null || row[column] === undefined ? undefined : textOf(row, column);
}

export function maybeNumber(row: Row, column: string): number | undefined {
  return row[column] === null || row[column] === undefined ? undefined : numberOf(row, column);
}

export function jsonOf(row: Row, column: string): Json {
  return JSON.parse(textOf(row, column)) as Json;
}

export function objectOf(row: Row, column: string): JsonObject {
  const value = jsonOf(row, column);
  if (!isObject(value)) throw broken(column, "a JSON object", value);
  return value;
}

function broken(column: string, expected: string, got: unknown): Fatal {
  return new Fatal("store_damaged", `expected ${expected} in column ${column}, got ${typeof got}`);
}

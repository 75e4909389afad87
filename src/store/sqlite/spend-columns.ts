/** Columns of the money's tables, checked as they are read. */
import { Refused } from "../../core/errors.ts";
import { isObject, parseJson, type Json } from "../../core/json.ts";
import { GUARDIAN, SPEND_WINDOWS, type Scope, type SpendWindow } from "../../limits/spending.ts";
import type { Hold } from "../../limits/verdict.ts";

export function windowOf(value: unknown): SpendWindow {
  const window = SPEND_WINDOWS.find((name) => name === value);
  if (window === undefined) throw new Refused("store_damaged", `unknown spending window ${String(value)}`);
  return window;
}

export function stateOf(value: unknown): Hold["state"] {
  return value === "posted" || value === "released" || value === "expired" ? value : "open";
}

export function scopeFrom(value: unknown): Scope {
  const text = String(value);
  return text === GUARDIAN ? GUARDIAN : `specialist:${text.slice("specialist:".length)}`;
}

export function startsOf(text: string): [Scope, number[]][] {
  const list = parseJson(text);
  if (!Array.isArray(list)) throw new Refused("store_damaged", "a hold does not say where it is held");
  return list.map((item: Json): [Scope, number[]] => {
    if (isObject(item) || !Array.isArray(item) || !Array.isArray(item[1]))
      throw new Refused("store_damaged", "a hold does not say where it is held");
    return [scopeFrom(item[0]), item[1].map(Number)];
  });
}

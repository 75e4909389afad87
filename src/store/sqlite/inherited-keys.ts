/**
 * The keys that a key has replaced. Their usage counts for it too, each up to a time of the quota's clock. It is read where it was counted: a
 * key that comes back, or that other specialists keep, counts each request once.
 */
import { asKeyId, type KeyId } from "../../core/ids.ts";
import { isObject, parseJson } from "../../core/json.ts";
import { cellAt, WINDOW_SHAPES } from "../../limits/window-counts.ts";
import { SPAN } from "./pending-cells.ts";

/** A key, and the time up to which its usage counts for another. */
export type Inherited = readonly [key: KeyId, until: number];

export function readInherited(text: unknown): readonly Inherited[] {
  const given = typeof text === "string" ? parseJson(text) : undefined;
  if (!isObject(given)) return [];
  return Object.entries(given).flatMap(([key, until]) => (typeof until === "number" ? [[asKeyId(key), until]] : []));
}

/** Each key once, with its latest time. Times that have left every window are left out, and so is the heir. */
export function writeInherited(all: readonly Inherited[], heir: KeyId, at: number): string | null {
  const oldest = at - WINDOW_SHAPES.day.lengthMs - WINDOW_SHAPES.day.marginMs;
  const latest = new Map<KeyId, number>();
  for (const [key, until] of all) if (key !== heir && until >= oldest) latest.set(key, Math.max(until, latest.get(key) ?? until));
  return latest.size === 0 ? null : JSON.stringify(Object.fromEntries(latest));
}

/** The same where everything that was counted between two times counts at the later one. */
export function moveInherited(text: unknown, heir: KeyId, { from, to }: { readonly from: number; readonly to: number }): string | null {
  const moved = readInherited(text).map(([key, until]): Inherited => [key, until >= from && until < to ? to : until]);
  return writeInherited(moved, heir, to);
}

/** True for a cell that begins no later than this time. */
export function isInheritedCell(span: unknown, cell: number, until: number): boolean {
  return cell <= cellAt(WINDOW_SHAPES[span === SPAN.day ? "day" : "hour"], until);
}

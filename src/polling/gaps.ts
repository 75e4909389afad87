/** What a list showed too quickly: parts of it that were never read, kept with its cursor so that they can be told. */
import { isObject, type Json, type JsonObject } from "../core/json.ts";
import { DAY } from "../core/units.ts";

/** Of one list. With more in a week the latest say enough. */
const MAX_KEPT = 20;
const KEPT_MS = 7 * DAY;

/** Items between `after` and `before`, in the order of the list: more came than was looked back for. */
export interface Gap {
  /** The newest item known before; undefined where there was none. */
  readonly after: string | undefined;
  /** The oldest item that was read. */
  readonly before: string;
  /** What is missing is not older, ms since the epoch: the look before, or what the watch goes back to. */
  readonly since: number;
  /** And not newer. */
  readonly until: number;
}

/** The gaps of a list, oldest first, as its cursor keeps them. */
export function readGaps(stored: JsonObject | undefined): readonly Gap[] {
  const kept = stored?.["gaps"];
  return Array.isArray(kept) ? kept.flatMap(gapIn) : [];
}

/** What a cursor is to keep of its gaps: nothing where there are none. */
export function storeGaps(gaps: readonly Gap[], now: number): JsonObject {
  const kept = gaps.filter(({ until }) => until > now - KEPT_MS).slice(-MAX_KEPT);
  if (kept.length === 0) return {};
  return { gaps: kept.map(({ after, ...gap }) => (after === undefined ? gap : { after, ...gap })) };
}

function gapIn(stored: Json): Gap[] {
  if (!isObject(stored)) return [];
  const { after, before, since, until } = stored;
  if (typeof before !== "string" || typeof since !== "number" || typeof until !== "number") return [];
  return [{ after: typeof after === "string" ? after : undefined, before, since, until }];
}

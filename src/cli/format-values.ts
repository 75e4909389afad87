/** Times and shares as people read them. */
import { DAY, showDuration } from "../core/units.ts";
import { timeOfDay } from "./output.ts";

/** `14:03:21 (2m ago)`, with the date if it is another day's. */
export function moment(at: number, now: number): string {
  const day = Math.abs(now - at) < DAY ? "" : `${new Date(at).toISOString().slice(0, 10)} `;
  const away = showDuration(Math.abs(now - at));
  return `${day}${timeOfDay(at)} (${at <= now ? `${away} ago` : `in ${away}`})`;
}

/** `▓▓▓░░░░░`: the used share of a limit. */
export function bar(used: number, limit: number, width: number): string {
  const share = limit <= 0 ? 0 : Math.min(1, Math.max(0, used / limit));
  // Some usage is never shown as none.
  const full = used > 0 ? Math.max(1, Math.round(share * width)) : 0;
  return "▓".repeat(full) + "░".repeat(Math.max(0, width - full));
}

/** `60`, `10k`. */
export function thousands(count: number): string {
  return count >= 1_000 && count % 1_000 === 0 ? `${count / 1_000}k` : String(count);
}

/** "100 of 2,431": the number of all, next to a list that is cut. */
export function countText(shown: number, total: number): string {
  return `${exact(shown)} of ${exact(total)}`;
}

function exact(count: number): string {
  return count.toLocaleString("en");
}

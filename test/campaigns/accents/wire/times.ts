/** Moments in other forms. */
import type { Json } from "../../../../src/core/json.ts";

export const TIME_STYLES = ["iso", "offset", "seconds", "milliseconds", "spaced", "http", "digits"] as const;
export type TimeStyle = (typeof TIME_STYLES)[number];

export function timeIn(style: TimeStyle, ms: number): Json {
  switch (style) {
    case "iso":
      return new Date(ms).toISOString();
    case "offset":
      return `${new Date(ms + 2 * 3_600_000).toISOString().slice(0, 19)}+02:00`;
    case "seconds":
      return Math.floor(ms / 1_000);
    case "milliseconds":
      return ms;
    case "spaced":
      return new Date(ms).toISOString().replace("T", " ").slice(0, 19);
    case "http":
      return new Date(ms).toUTCString();
    case "digits":
      return `${Math.floor(ms / 1_000)}`;
  }
}

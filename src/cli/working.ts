/** Progress of a command that works for long: one line that is rewritten on a terminal, a line now and then elsewhere. */
import type { Clock } from "../core/clock.ts";
import { SECOND } from "../core/units.ts";
import type { Output } from "./output.ts";

export interface Working {
  /** `event` is the same for machines. Called often. */
  tell(make: () => { readonly event: object; readonly text: string }): void;
  /** Removes the line, before others are printed. */
  clear(): void;
}

const REWRITE_MS = 200;
const LINE_MS = 10 * SECOND;

export function showWorking(out: Output, clock: Clock): Working {
  const { terminal, paint } = out;
  const everyMs = terminal === undefined ? LINE_MS : REWRITE_MS;
  let toldAt = terminal === undefined ? clock.monotonic() : -Infinity;
  return {
    tell(make) {
      const now = clock.monotonic();
      if (now - toldAt < everyMs) return;
      toldAt = now;
      const { event, text } = make();
      if (terminal === undefined) out.progress(event, paint.dim(text));
      else out.rewrite(text);
    },
    clear: () => out.rewrite(),
  };
}

/** Refuses two specialists of one handle, whatever the case of its letters. */
import { Misconfigured } from "../core/errors.ts";
import type { Specialist } from "../specialist/specialist.ts";

/** Throws `Misconfigured` (`handle_twice`). */
export function refuseTwins(specialists: readonly Specialist[]): void {
  const handles = new Set<string>();
  for (const { handle } of specialists) {
    const known = handle.toLowerCase();
    if (handles.has(known)) throw new Misconfigured("handle_twice", `two specialists have the handle "${known}"`);
    handles.add(known);
  }
}

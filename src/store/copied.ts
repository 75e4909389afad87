/** The reason of the halt by which an original is known: its rows were copied to another place, where the work goes on. */

const COPIED = "its rows were copied to ";

export function copiedTo(place: string): string {
  return `${COPIED}${place}`;
}

export function isCopied(haltReason: string): boolean {
  return haltReason.startsWith(COPIED);
}

/** The place named by the first of these reasons that tells of a copy. */
export function placeOfCopy(haltReasons: readonly string[]): string | undefined {
  return haltReasons.find(isCopied)?.slice(COPIED.length);
}

/** Inserts many rows by few statements: a statement for each row took a quarter of a fold. */
import type { DatabaseSync } from "node:sqlite";

export type Value = string | number | null;

/** Rows of one statement. One JSON text of any number of rows takes twice the processor. */
const AT_ONCE = 8;

/**
 * Returns a function that inserts rows. `head` and `tail` are the statement around `VALUES`. `fill` writes the values of one row into an
 * array from a place on, and is called for each; the array is used again.
 */
export function rowInserter<Item>(
  db: DatabaseSync,
  { head, tail = "", columns }: { readonly head: string; readonly tail?: string; readonly columns: number },
  fill: (values: Value[], from: number, item: Item) => void,
): (items: readonly Item[]) => void {
  const row = `(${Array.from({ length: columns }, () => "?").join(", ")})`;
  const insert = (rows: number) => db.prepare(`${head} VALUES ${Array.from({ length: rows }, () => row).join(", ")} ${tail}`);
  const [single, several] = [insert(1), insert(AT_ONCE)];
  const group: Value[] = Array.from({ length: columns * AT_ONCE }, () => null);
  const alone = group.slice(0, columns);
  return (items) => {
    const whole = items.length - (items.length % AT_ONCE);
    for (let n = 0; n < items.length; n++) {
      const item = items[n];
      if (item === undefined) continue;
      if (n >= whole) {
        fill(alone, 0, item);
        single.run(...alone);
        continue;
      }
      fill(group, (n % AT_ONCE) * columns, item);
      if (n % AT_ONCE === AT_ONCE - 1) several.run(...group);
    }
  };
}

/** Counts every statement that SQLite runs in this process. */
import { StatementSync } from "node:sqlite";

/** Counts from now on. `onUndo` gets a function that ends the count. */
export function countStatements(onUndo: (undo: () => void) => void = () => undefined): () => number {
  let n = 0;
  for (const name of ["run", "get", "all", "iterate"] as const) {
    const original = Object.getOwnPropertyDescriptor(StatementSync.prototype, name);
    if (original === undefined) throw new Error(name);
    const call = original.value as (...values: unknown[]) => unknown;
    Object.defineProperty(StatementSync.prototype, name, {
      ...original,
      value(this: StatementSync, ...values: unknown[]) {
        n++;
        return Reflect.apply(call, this, values);
      },
    });
    onUndo(() => void Object.defineProperty(StatementSync.prototype, name, original));
  }
  return () => n;
}

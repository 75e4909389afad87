/** One value that many components show: they are drawn again when it changes. */
import { useEffect, useState } from "preact/hooks";

export interface Cell<Value> {
  get(): Value;
  set(value: Value): void;
  /** Calls `listen` after each change; the returned function ends it. */
  listen(listen: (value: Value) => void): () => void;
}

export function createCell<Value>(first: Value): Cell<Value> {
  const listeners = new Set<(value: Value) => void>();
  let value = first;
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const listen of listeners) listen(value);
    },
    listen(listen) {
      listeners.add(listen);
      return () => void listeners.delete(listen);
    },
  };
}

/** The present value of a cell, in a component. */
export function useCell<Value>(cell: Cell<Value>): Value {
  const [value, setValue] = useState(cell.get());
  useEffect(() => {
    // A change between the first drawing and this effect would be missed.
    setValue(() => cell.get());
    return cell.listen((next) => setValue(() => next));
  }, [cell]);
  return value;
}

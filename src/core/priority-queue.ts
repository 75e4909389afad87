/** A binary heap: the first item is at hand, in whatever order items were added. */

export interface Heap<T> {
  push(item: T): void;
  /** Returns the first item and leaves it in place. */
  peek(): T | undefined;
  /** Removes and returns the first item. */
  pop(): T | undefined;
  readonly size: number;
}

/** `before` must order any two items; the order of equal ones is not defined. */
export function createHeap<T>(before: (a: T, b: T) => boolean): Heap<T> {
  const items: T[] = [];
  const sinkFromTop = (item: T): void => {
    let at = 0;
    for (let child = 1; child < items.length; child = 2 * at + 1) {
      const left = items[child];
      const right = items[child + 1];
      if (left === undefined) break;
      const takesRight = right !== undefined && before(right, left);
      const first = takesRight ? right : left;
      if (before(item, first)) break;
      items[at] = first;
      at = takesRight ? child + 1 : child;
    }
    items[at] = item;
  };
  return {
    push(item) {
      let at = items.push(item) - 1;
      while (at > 0) {
        const parent = (at - 1) >> 1;
        const above = items[parent];
        if (above === undefined || before(above, item)) break;
        items[at] = above;
        at = parent;
      }
      items[at] = item;
    },
    peek: () => items[0],
    pop() {
      const first = items[0];
      const last = items.pop();
      if (last !== undefined && items.length > 0) sinkFromTop(last);
      return first;
    },
    get size() {
      return items.length;
    },
  };
}

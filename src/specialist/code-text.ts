/** The text of a function, by which definitions are compared: that of its code, or of what it was made of. */

const madeFrom = new WeakMap<object, unknown>();

/** Notes what a function was made of, where its code is that of any other made in the same way: functions, options, or a text. */
export function madeOf<Made extends object>(made: Made, from: unknown): Made {
  madeFrom.set(made, from);
  return made;
}

/** Replaces functions by their texts; for `JSON.stringify`. Those with the same text do the same, but for what they import or close over. */
export function textOfCode(_name: string, value: unknown): unknown {
  if (typeof value !== "function") return value;
  return madeFrom.has(value) ? JSON.stringify(madeFrom.get(value), textOfCode) : String(value);
}

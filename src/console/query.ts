/** Reads the query of a request: each value is a text, a whole number or one of some words, or it is refused with what was expected. */
import { Misconfigured } from "../core/errors.ts";
import { isObject } from "../core/json.ts";

export interface Query {
  text(name: string): string | undefined;
  whole(name: string): number | undefined;
  oneOf<Word extends string>(name: string, words: readonly Word[]): Word | undefined;
}

const MAX_TEXT = 500;

/** Each reader throws `Misconfigured` (`query_invalid`). */
export function queryOf(given: unknown): Query {
  const text = (name: string): string | undefined => {
    const value = isObject(given) ? given[name] : undefined;
    if (value === undefined || value === "") return undefined;
    if (typeof value !== "string") throw invalid(name, "one value");
    if (value.length > MAX_TEXT) throw invalid(name, `at most ${MAX_TEXT} characters`);
    return value;
  };
  return {
    text,
    whole(name) {
      const value = text(name);
      if (value === undefined) return undefined;
      const number = Number(value);
      if (!/^\d{1,16}$/.test(value) || !Number.isSafeInteger(number)) throw invalid(name, "a whole number, 0 or more");
      return number;
    },
    oneOf(name, words) {
      const value = text(name);
      const word = words.find((one) => one === value);
      if (value !== undefined && word === undefined) throw invalid(name, `one of ${words.join(", ")}`);
      return word;
    },
  };
}

function invalid(name: string, expected: string): Misconfigured {
  return new Misconfigured("query_invalid", `${name} in the address is not usable`, { expected });
}

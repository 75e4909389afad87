/** Secrets that cannot be printed by accident. */
import { inspect } from "node:util";

/** The text in place of a secret. */
export const HIDDEN = "[secret]";

/** Holds a key or token. Only `reveal()` gives it away. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return HIDDEN;
  }

  toJSON(): string {
    return HIDDEN;
  }

  [inspect.custom](): string {
    return HIDDEN;
  }
}

/** Secrets that cannot be printed by accident, and a scrubber for everything that is printed. */
import { inspect } from "node:util";

const HIDDEN = "[secret]";

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

/** Values shorter than this are not scrubbed, since they would blank ordinary words. */
const MIN_SCRUBBED_LENGTH = 8;
/** Forgets the oldest values past this, so that years of key rotation cannot fill the memory. */
const MAX_SCRUBBED = 10_000;

/** Replaces known secret values wherever they turn up in a text. */
export class Scrubber {
  readonly #values = new Set<string>();

  add(secret: Secret): void {
    const value = secret.reveal();
    if (value.length < MIN_SCRUBBED_LENGTH) return;
    this.#values.delete(value);
    this.#values.add(value);
    const oldest = this.#values.values().next().value;
    if (this.#values.size > MAX_SCRUBBED && oldest !== undefined) this.#values.delete(oldest);
  }

  clean(text: string): string {
    let cleaned = text.replace(/\b(sk-agent-|sk_live_)[A-Za-z0-9_-]{4,}/g, `$1${HIDDEN}`);
    if (this.#values.size > 0 && cleaned.length >= MIN_SCRUBBED_LENGTH)
      for (const value of this.#values) if (cleaned.includes(value)) cleaned = cleaned.replaceAll(value, HIDDEN);
    return cleaned;
  }
}

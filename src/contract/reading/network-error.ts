/** Reads the network's refusals by a profile's candidates, among them RFC 9457 problems and plain `{message}`. */
import { foreignCode, type AnyCode } from "../../core/error-codes.ts";
import { isObject, type Json } from "../../core/json.ts";
import { fieldPath, firstAt, type FieldPath } from "./field-path.ts";
import type { Profile } from "../profile/profile.ts";
import { statusWord } from "./values.ts";

const MAX_CODE_LENGTH = 100;
const MAX_MESSAGE_LENGTH = 1_000;

export interface NetworkError {
  /** The network's code, or undefined if it gave only a message. */
  readonly code: AnyCode | undefined;
  readonly message: string;
}

export interface ErrorReader {
  /** Reads the refusal in an answer; undefined if it has no known shape. */
  read(body: Json | undefined): NetworkError | undefined;
  /** Returns true if a successful status carries a plain `false` where the profile looks for success. */
  failed(body: Json | undefined): boolean;
  /** Returns true if the place of a refusal's code or message (`error` of `error.code`) holds anything, which no successful answer does. */
  stated(body: Json | undefined): boolean;
  /** Reads the network's word for "my Guardian has to decide", and its reference. */
  pending(body: Json | undefined): { readonly reference?: string } | undefined;
  reference(body: Json | undefined): string | undefined;
  /** Reads the seconds to wait from the body. */
  retryAfter(body: Json | undefined): Json | undefined;
}

export function errorReader(profile: Pick<Profile, "errors" | "pending">): ErrorReader {
  const compile = (paths: readonly string[]): readonly FieldPath[] => paths.map(fieldPath);
  const code = compile(profile.errors.code);
  const message = compile(profile.errors.message);
  const failed = compile(profile.errors.failed);
  const holders = [...new Set([...code, ...message].flatMap(({ segments }) => (segments.length > 1 ? segments.slice(0, 1) : [])))];
  const retryAfter = compile(profile.errors.retryAfter);
  const at = compile(profile.pending.at).map((path) => [path]);
  const references = compile(profile.pending.reference);
  const words = new Set(profile.pending.words.map(statusWord));
  const isWaiting = (found: Json): true | undefined =>
    typeof found !== "object" && words.has(statusWord(String(found))) ? true : undefined;
  const reference = (body: Json | undefined): string | undefined => firstAt(body, references, shortText);
  return {
    read(body) {
      if (!isObject(body)) return undefined;
      const word = firstAt(body, code, shortText);
      const text = firstAt(body, message, (found) =>
        typeof found === "string" && found !== "" ? found.slice(0, MAX_MESSAGE_LENGTH) : undefined,
      );
      if (word === undefined && text === undefined) return undefined;
      return { code: word === undefined ? undefined : foreignCode(word), message: text ?? word ?? "" };
    },
    failed: (body) => firstAt(body, failed, (found) => (typeof found === "boolean" ? !found : undefined)) === true,
    stated: (body) => isObject(body) && holders.some((holder) => Object.hasOwn(body, holder) && isSomething(body[holder])),
    pending(body) {
      if (!at.some((path) => firstAt(body, path, isWaiting) !== undefined)) return undefined;
      const found = reference(body);
      return found === undefined ? {} : { reference: found };
    },
    reference,
    retryAfter: (body) => firstAt(body, retryAfter, (found) => found),
  };
}

function isSomething(value: Json | undefined): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return isObject(value) ? Object.keys(value).length > 0 : Boolean(value);
}

/** Accepts a word or number that may name an error, never a sentence, which belongs in `message`. */
function shortText(found: Json): string | undefined {
  if (typeof found === "number" && Number.isSafeInteger(found)) return String(found);
  return typeof found === "string" && /^\S{1,100}$/.test(found) ? found.slice(0, MAX_CODE_LENGTH) : undefined;
}

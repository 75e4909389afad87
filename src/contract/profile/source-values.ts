/** Values of which a profile's schema is made: words, headers, paths and durations. */
import { z } from "zod";
import { messageOf } from "../../core/errors.ts";
import { durationMs } from "../../core/units.ts";
import { FIELD_PATH } from "../reading/field-path.ts";

export const MAX_CANDIDATES = 40;
/** Names of headers, extra operations and fields: short, and safe to print. */
export const word = z.string().min(1).max(100);
export const headerName = z
  .string()
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/, "the name of a header")
  .transform((name) => name.toLowerCase());
/** Rejects characters that would end a header and begin another. */
export const headerValue = z
  .string()
  .max(500)
  .regex(/^[\t\x20-\x7e\u0080-\uffff]*$/, "text without line breaks");
const path = z.string().max(200).regex(FIELD_PATH, 'a path such as "author.handle", or "$" for the whole answer');
/** An empty list takes back what the shipped profile says there. */
export const candidates = <Item extends z.ZodType<string, string>>(item: Item) =>
  z.union([item, z.array(item).max(MAX_CANDIDATES)]).transform((value): readonly string[] => (typeof value === "string" ? [value] : value));
export const paths = candidates(path);
export const words = candidates(word);
export const headers = candidates(headerName);

/** An error text states what was expected; advice may follow after `; `. */
export const expected = (text: string): { readonly error: () => string } => ({ error: () => text });

/** Milliseconds, or a text such as `90s`. */
export const duration = z.union([z.number(), z.string()]).transform((value, context) => {
  try {
    return durationMs(value);
  } catch (error) {
    context.addIssue({ code: "custom", message: messageOf(error).replace(/^expected (.*), got .*$/s, "$1") });
    return z.NEVER;
  }
});
export const longerThanZero = duration.refine((ms) => ms > 0, "a duration longer than 0");

/** Describes what a schema expected, in words that follow "expected". */
import type { z } from "zod";

/** Returns a schema's own error text, or words for the library's issue if it has none. */
export function expectation(issue: z.core.$ZodIssue): string {
  const { message } = issue;
  if (!LIBRARY_WORDS.test(message)) return message.replace(/^expected /, "");
  switch (issue.code) {
    case "invalid_type":
      return TYPES[issue.expected] ?? issue.expected;
    case "invalid_value":
      return issue.values.length === 1 ? String(issue.values[0]) : `one of ${issue.values.map(String).join(", ")}`;
    case "too_small":
      return `${issue.inclusive === true ? "at least" : "more than"} ${sized(issue.minimum, issue.origin)}`;
    case "too_big":
      return `${issue.inclusive === true ? "at most" : "less than"} ${sized(issue.maximum, issue.origin)}`;
    case "invalid_union":
      return unionOf(issue.errors);
    case "invalid_key":
    case "invalid_element":
      return issue.issues[0] === undefined ? message : expectation(issue.issues[0]);
    default:
      return message;
  }
}

/** Describes the branches of a union, each by its first issue. */
function unionOf(branches: readonly (readonly z.core.$ZodIssue[])[]): string {
  const parts = branches.flatMap(([issue]) => (issue === undefined ? [] : [expectation(issue)]));
  return parts.length === 0 ? "another value" : [...new Set(parts)].join(", or ");
}

const LIBRARY_WORDS = /^(?:Invalid|Too|Unrecognized)\b/;

const TYPES: { readonly [type: string]: string } = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  object: "keys with values",
  record: "keys with values",
  array: "a list",
  null: "nothing",
};

const UNITS: { readonly [origin: string]: string } = { string: " characters", array: " entries", set: " entries" };

function sized(size: number | bigint, origin: string): string {
  return `${size}${UNITS[origin] ?? ""}`;
}

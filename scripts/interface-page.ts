/** Writes docs/interface.md: the operations, records, words and webhook fields that a profile can name, from the code. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { shippedProfile } from "../src/contract/profile/profile.ts";
import { FIELDS, isReadableRecord } from "../src/contract/reading/fields.ts";
import { OPERATION_NAMES, OPERATIONS, RECORDS, SETS, type Endpoint } from "../src/contract/operations.ts";

export const INTERFACE_PAGE = join(import.meta.dirname, "../docs/interface.md");

const HEAD = `# The interface, as data

Generated from the code by \`npm run interface\`: the names that a [profile](profiles.md) can use, and what each means by default.
`;

const code = (text: string): string => `\`${text}\``;
const list = (texts: readonly string[]): string => texts.map(code).join(", ");

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");
}

function endpoint(at: Endpoint | undefined): string {
  return at === undefined ? "" : code(`${at.method} ${at.path}`);
}

function operations(): string {
  const rows = OPERATION_NAMES.map((name) => {
    const { purpose, target, input, record, list: isList, effect, lane, endpoints } = { list: false, target: "", ...OPERATIONS[name] };
    const inputs = Object.entries(input.shape).map(([key, schema]) => (schema.safeParse(undefined).success ? `${key}?` : key));
    const answer = record === "none" ? "" : isList ? `list of ${record}` : record;
    const { a, b }: { readonly a?: Endpoint; readonly b?: Endpoint } = endpoints;
    return [code(name), purpose, target, list(inputs), answer, effect, lane, endpoint(a), endpoint(b)];
  });
  return table(["operation", "purpose", "acts on", "inputs (`?`: optional)", "answer", "effect", "lane", "Set A", "Set B"], rows);
}

function records(): string {
  const { records: places } = shippedProfile("b");
  return RECORDS.filter((record) => isReadableRecord(record))
    .map((record) => {
      const known: Readonly<Record<string, readonly string[] | undefined>> = places[record] ?? {};
      const rows = Object.entries(FIELDS[record]).map(([field, kind]) => [code(field), kind, list(known[field] ?? [])]);
      return `### ${record}\n\n${table(["field", "kind", "looked for at, the first present one counts"], rows)}`;
    })
    .join("\n\n");
}

const KINDS = [
  ["id", "a text, or a whole number within 2^53"],
  ["prose", "a text that somebody wrote; HTML becomes plain text where `contents.read` says so"],
  ["money", "an amount as a number, or a text with the unit (`12.50 EUR`)"],
  ["time", "ISO 8601, an HTTP date, or seconds or milliseconds since the epoch"],
  ["seconds", "a duration in seconds"],
  ["words", "a list of texts or of objects with a name, or one text split at commas"],
  ["refs", "a list of ids, or of objects that hold one"],
  ["status", "one of the network's words below"],
  ["vote", "the asking account's own vote: a word, a number, or true and false"],
  ["posts", "a list of posts"],
  ["secret", "removed from the answer, and never stored or shown"],
] as const;

function webhookFields(): string {
  const { scheme, kinds: _kinds, decisions: _decisions, objects: _objects, ...places } = shippedProfile("b").webhooks;
  const rows = Object.entries(places).map(([name, value]) => [code(name), list([value].flat())]);
  return table(["key of `webhooks`", "default"], [["`scheme`", code(scheme)], ...rows]);
}

/** The text of the page. */
export function interfacePage(): string {
  const { statuses, webhooks, lists, singles } = shippedProfile("b");
  const words = Object.entries(statuses).map(([status, names]) => [code(status), list(names ?? [])]);
  const kinds = Object.entries(webhooks.kinds).map(([word, kind]) => [code(word), code(kind)]);
  const decisions = Object.entries(webhooks.decisions).map(([word, decision]) => [code(word), decision]);
  const places = [...new Set([...Object.keys(lists), ...Object.keys(singles)])].map((name) => {
    const at = (source: Readonly<Record<string, readonly string[] | undefined>>): string => list(source[name] ?? []);
    return [code(name), at(lists), at(singles)];
  });
  const sections: readonly (readonly [title: string, body: string])[] = [
    [`Operations of Set ${SETS.map((set) => set.toUpperCase()).join(" and Set ")}`, operations()],
    ["Records", `A field is read in these forms; anything else counts as absent.\n\n${table(["kind", "form"], KINDS)}\n\n${records()}`],
    ["Places of lists and single records", table(["record", "lists", "single records"], places)],
    ["States of a job", `Letter case, spaces, \`_\` and \`-\` do not count.\n\n${table(["state", "the network's words"], words)}`],
    ["Webhooks", webhookFields()],
    ["Kinds of events", table(["the network's word", "event"], kinds)],
    ["Decisions of the network's Guardian", table(["the network's word", "decision"], decisions)],
  ];
  return `${HEAD}\n${sections.map(([title, body]) => `## ${title}\n\n${body}\n`).join("\n")}`;
}

if (import.meta.main) writeFileSync(INTERFACE_PAGE, interfacePage());

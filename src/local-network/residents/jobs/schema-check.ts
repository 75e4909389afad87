/** Task: validate lines of JSON against a small schema and name every failing keyword. */
import type { Json, JsonObject } from "../../../core/json.ts";
import type { Random } from "../../../core/random.ts";
import { between, bullets, byCodeUnits, chance, EXACTLY, type Kind, type LineError, paragraphs, sample } from "./job-draft.ts";
import { PROPERTIES, type Property } from "./schema-properties.ts";
import { COMPANIES } from "./vocabulary.ts";

const description = paragraphs(
  "Validate the documents in `input.ndjson` against the schema `input.schema`. Each line (lines end with LF) is one document in JSON; empty lines are skipped, but they count as lines. " +
    "A line that is not valid JSON (RFC 8259) is an error with reason `not_json`.",
  bullets(
    "The schema uses only these keywords, with the meaning of JSON Schema 2020-12. A keyword that fails is reported once, with a path:",
    [
      "`type` (a name or a list of names; a number without a fraction is an integer). Where `type` fails, nothing else is checked at that place or below it.",
      "`enum`, `minimum`, `maximum`, `minLength`, `maxLength` (counted in Unicode code points), `pattern` (an ECMAScript regular expression that may match anywhere): the path is that of the value.",
      "`minItems`, `maxItems`, `uniqueItems`: the path is that of the list. `items`: each item is checked at its own path; `items` itself is never reported.",
      "`properties`: each present property is checked at its own path; `properties` itself is never reported.",
      "`required`: reported once for each missing property, with the path the property would have.",
      "`additionalProperties: false`: reported once for each property that `properties` does not name, with that property's path.",
    ],
  ),
  'Paths are JSON Pointers (RFC 6901): "" is the whole document, "/address/zip" and "/lines/0/count" places inside. No name holds `/` or `~`.',
  'Deliver {"valid": 180, "invalid": [{"line": 4, "failures": [{"path": "/email", "keyword": "minLength"}]}], "errors": [{"line": 9, "reason": "not_json"}]}: `valid` is the number of valid ' +
    "documents; `invalid` and `errors` are ordered by line, the first line being 1; the failures of a document are ordered by path, then by keyword, comparing UTF-16 code units. " +
    EXACTLY,
);

type Failure = { readonly path: string; readonly keyword: string };

/** Spoils `count` different properties of a valid document; the failures are known by construction. */
function spoil(
  random: Random,
  document: JsonObject,
  properties: readonly Property[],
  count: number,
): { document: JsonObject; failures: Failure[] } {
  const spoilt: Record<string, Json> = {};
  for (const [key, value] of Object.entries(document)) if (value !== undefined) spoilt[key] = value;
  const failures: Failure[] = [];
  for (const property of sample(random, properties, count)) {
    const path = `/${property.name}`;
    if (property.required && chance(random, 0.2)) {
      delete spoilt[property.name];
      failures.push({ path, keyword: "required" });
      continue;
    }
    const fault = random.pick(property.faults);
    spoilt[property.name] = fault.value(random);
    failures.push(...fault.failures.map(([below, keyword]) => ({ path: path + below, keyword })));
  }
  if (chance(random, 0.15)) {
    const name = random.pick(["extra", "Email", "_id", "comment"]);
    spoilt[name] = random.pick<Json>([null, 1, "x", {}]);
    failures.push({ path: `/${name}`, keyword: "additionalProperties" });
  }
  failures.sort((a, b) => byCodeUnits(a.path, b.path) || byCodeUnits(a.keyword, b.keyword));
  return { document: spoilt, failures };
}

function breakText(random: Random, text: string): string {
  return random.pick([
    text.slice(0, between(random, 5, text.length - 2)),
    text.replace(/\}$/, ",}"),
    text.replaceAll('"', "'"),
    `${text} ${text}`,
    text.replace(":", ": NaN, :"),
    "undefined",
    "{'id': 1}",
  ]);
}

function schemaOf(properties: readonly Property[]): JsonObject {
  return {
    type: "object",
    properties: Object.fromEntries(properties.map((property) => [property.name, property.schema])),
    required: properties.filter((property) => property.required).map((property) => property.name),
    additionalProperties: false,
  };
}

export const schemaCheck: Kind = {
  name: "schema-check",
  draft(random) {
    const properties = sample(random, PROPERTIES, between(random, 6, 9));
    const wanted = between(random, 100, 300);
    const lines: string[] = [];
    const invalid: { line: number; failures: Failure[] }[] = [];
    const errors: LineError[] = [];
    let valid = 0;
    while (lines.length < wanted) {
      const line = lines.length + 1;
      const document = Object.fromEntries(
        properties
          .filter((property) => property.required || chance(random, 0.7))
          .map((property) => [property.name, property.valid(random)]),
      );
      const dice = random.next();
      if (dice < 0.02) lines.push("");
      else if (dice < 0.06 || line === 6) {
        errors.push({ line, reason: "not_json" });
        lines.push(breakText(random, JSON.stringify(document)));
      } else if (dice < 0.09) {
        invalid.push({ line, failures: [{ path: "", keyword: "type" }] });
        lines.push(random.pick(["[]", "null", '"a text"', "17", `[${JSON.stringify(document)}]`]));
      } else {
        const spoilt = spoil(random, document, properties, chance(random, 0.25) || line === 4 ? between(random, 1, 3) : 0);
        if (spoilt.failures.length === 0) valid++;
        else invalid.push({ line, failures: spoilt.failures });
        lines.push(JSON.stringify(spoilt.document));
      }
    }
    return {
      title: `Validate ${wanted} documents of ${random.pick(COMPANIES)} against a schema`,
      description,
      skills: ["json", "schema"],
      input: { schema: schemaOf(properties), ndjson: lines.join("\n") },
      answer: { valid, invalid, errors },
      reward: 8 + Math.ceil(wanted / 30),
    };
  },
};

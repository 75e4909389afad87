/** Task: find the records of one list that mean the same person, by normalised key fields. */
import type { Json, JsonObject } from "../../../core/json.ts";
import type { Random } from "../../../core/random.ts";
import { between, bullets, chance, EXACTLY, type Kind, paragraphs } from "./job-draft.ts";
import { CITIES, COMPANIES, FIRST_NAMES, LAST_NAMES } from "./vocabulary.ts";

const KEYS = [["email"], ["phone"], ["name", "city"], ["name", "phone"]] as const;
type Field = "name" | "email" | "phone" | "city";

function description(keys: readonly Field[]): string {
  const named = keys.map((key) => `\`${key}\``).join(" and ");
  return paragraphs(
    `Find the duplicates among the records of the list \`input.records\`. Two good records are duplicates when they agree in ${named} after normalising; other fields do not matter.`,
    bullets("Normalising:", [
      "Texts (`name`, `email`, `city`): remove white space (Unicode's, so no-break spaces too) at both ends, make every run of it inside one space, make letters lower case. Accents stay.",
      "`phone`: keep only the digits 0 to 9, then remove `00` where it begins with that.",
    ]),
    bullets(
      "A record that shows one of these is an error and takes no further part. Where several apply, report only the first of this list:",
      [
        "`not_an_object`: it is not an object (a list or null is none).",
        "`bad_id`: its `id` is missing or is not a whole number of 1 or more.",
        `\`missing_key\`: ${named}${keys.length > 1 ? ": one of them" : ""} is absent, is not a text, or is empty after normalising.`,
      ],
    ),
    'Deliver {"groups": [{"keep": 17, "drop": [42, 99]}], "unique": 205, "errors": [{"index": 3, "reason": "bad_id"}]}. Each group of duplicates names the `id` of its first ' +
      "record in `keep` and those of the others, in input order, in `drop`; groups are ordered by the position of their first record. `unique` is the number of good records without a duplicate. " +
      "`index` is the position in the list, the first being 0; errors by index. Good records never share an `id`. " +
      EXACTLY,
  );
}

interface Person {
  readonly name: string;
  readonly email: string;
  /** Digits with the country's code. */
  readonly phone: string;
  readonly city: string;
}

function newPerson(random: Random, serial: number): Person {
  const first = random.pick(FIRST_NAMES);
  const last = random.pick(LAST_NAMES);
  return {
    name: `${first} ${last}`,
    email: `${first[0] ?? "x"}${serial}@${random.pick(["example.com", "example.org", "mail.example.net"])}`,
    phone: `${random.pick(["49", "44", "351", "1"])}${between(random, 20_000_000, 99_999_999)}`,
    city: random.pick(CITIES),
  };
}

/** The same text to a careful reader, not to a careless one. */
function disguise(random: Random, text: string): string {
  const cased = random.pick([text, text, text.toLowerCase(), text.replace(/[a-z]+/g, (part) => part.toUpperCase())]);
  const spaced = chance(random, 0.2) ? cased.replaceAll(" ", random.pick(["  ", "\t", " \u00a0"])) : cased;
  return chance(random, 0.2) ? `${random.pick([" ", "", "\n"])}${spaced}${random.pick([" ", "\t"])}` : spaced;
}

function writePhone(random: Random, digits: string): string {
  const spaced = random.pick([
    digits,
    digits.replace(/(\d{3})(?=\d)/g, "$1 "),
    `${digits.slice(0, 2)}-${digits.slice(2, 6)}/${digits.slice(6)}`,
  ]);
  return random.pick(["+", "00", "", "+ ", "tel. +"]) + spaced;
}

function write(random: Random, id: Json, person: Person): JsonObject {
  return {
    id,
    name: disguise(random, person.name),
    email: disguise(random, person.email),
    phone: writePhone(random, person.phone),
    city: disguise(random, person.city),
  };
}

function broken(random: Random, id: number, person: Person, key: Field): { record: Json; reason: string } {
  const reason = random.pick(["not_an_object", "bad_id", "missing_key", "missing_key"] as const);
  if (reason === "not_an_object") return { record: random.pick<Json>([null, "id;name;email", 17, [id], true]), reason };
  if (reason === "bad_id") return { record: write(random, random.pick<Json>([0, -id, `${id}`, id + 0.5, null]), person), reason };
  const record = { ...write(random, id, person), [key]: random.pick<Json>([null, "", key === "phone" ? "n/a" : "  \t", 49]) };
  if (!chance(random, 0.3)) return { record, reason };
  return { record: Object.fromEntries(Object.entries(record).filter(([name]) => name !== key)), reason };
}

export const duplicateRows: Kind = {
  name: "duplicate-rows",
  draft(random) {
    const keys = random.pick(KEYS);
    const wanted = between(random, 180, 500);
    const records: Json[] = [];
    const errors: { index: number; reason: string }[] = [];
    const groups = new Map<string, { person: Person; ids: number[] }>();
    let id = between(random, 1, 5_000);
    while (records.length < wanted) {
      id += between(random, 1, 4);
      const fresh = newPerson(random, id);
      if (records.length === 5 || chance(random, 0.04)) {
        const { record, reason } = broken(random, id, fresh, random.pick(keys));
        errors.push({ index: records.length, reason });
        records.push(record);
        continue;
      }
      const known = groups.size > 0 && chance(random, 0.25) ? random.pick([...groups.values()]).person : fresh;
      const person = { ...fresh, ...Object.fromEntries(keys.map((key) => [key, known[key]])) };
      const key = keys.map((name) => person[name]).join("\n");
      const group = groups.get(key) ?? { person, ids: [] };
      group.ids.push(id);
      groups.set(key, group);
      records.push(write(random, id, person));
    }
    const ids = [...groups.values()].map((group) => group.ids);
    return {
      title: `Find duplicates among ${wanted} contacts of ${random.pick(COMPANIES)}`,
      description: description(keys),
      skills: ["deduplication", "contacts"],
      input: { records },
      answer: {
        groups: ids.filter((group) => group.length > 1).map(([keep = 0, ...drop]) => ({ keep, drop })),
        unique: ids.filter((group) => group.length === 1).length,
        errors,
      },
      reward: 5 + Math.ceil(wanted / 60),
    };
  },
};

/** Task: join two tab-separated tables by a key column. */
import type { Json, JsonObject } from "../../../core/json.ts";
import type { Random } from "../../../core/random.ts";
import { between, bullets, chance, EXACTLY, isoDay, type Kind, paragraphs, randomDay, sample } from "./job-draft.ts";
import { CITIES, COMPANIES, FIRST_NAMES, LAST_NAMES, PRODUCTS } from "./vocabulary.ts";

const JOINS = ["inner", "left"] as const;
type Join = (typeof JOINS)[number];

function description(join: Join, key: string): string {
  const unmatched =
    join === "inner"
      ? "A left row without a partner gives no row."
      : "A left row without a partner gives a row in which every column of the right table is null.";
  return paragraphs(
    `Merge the two tables \`input.left\` and \`input.right\` by their column \`${key}\`.`,
    "Both are texts of lines that end with LF, fields separated by tabs, without quoting. The first line names the columns. Spaces at both ends of a field are not part of it. All values are texts.",
    `Keys are compared without regard to the case of the letters A to Z and without leading zeros after the hyphen: \`c-0042\` and \`C-42\` are one key. ${unmatched}`,
    `A row of the result is an object with the key, written as in the left table, and the other columns of both tables; a column of the right table whose name also occurs in the left one is named with ` +
      `\`right_\` before it (the key column occurs once). Several left rows may share a key; each gives its own row. Rows are in the order of the left table.`,
    bullets(
      "A line (after the first) that shows one of these is an error and takes no further part. Where several apply, report only the first of this list:",
      [
        "`column_count`: the number of fields differs from the first line's. (An empty line has one field.)",
        "`bad_key`: the key is not one letter A to Z in either case, a hyphen and one to eight digits.",
        "`duplicate_key` (right table only): an earlier good line of the right table has the same key.",
      ],
    ),
    'Deliver {"rows": [{…}], "unmatchedLeft": 3, "unmatchedRight": ["C-99"], "errors": [{"table": "right", "line": 12, "reason": "bad_key"}]}. `unmatchedLeft` is the number of good left rows without a ' +
      "partner; `unmatchedRight` lists the keys, written as in the right table and in its order, that no good left row has. Errors: those of the left table first, each table's by line, the first line being 1. " +
      EXACTLY,
  );
}

type TableError = { readonly table: "left" | "right"; readonly line: number; readonly reason: string };

/** One spelling of a key. */
function spellKey(random: Random, number: number): string {
  const digits = String(number).padStart(between(random, 1, 7), "0");
  return `${random.pick(["C", "c"])}-${digits}`;
}

/** `last`: whether it is the last line, which is never left empty, as readers disagree on whether such a line exists. */
function breakLine(random: Random, fields: readonly string[], last: boolean): { text: string; reason: string } {
  const reason = random.pick(["column_count", "bad_key"] as const);
  if (reason === "bad_key")
    return { text: fields.with(0, random.pick(["", "C42", "C-", "CC-42", "42", "C-123456789", "C_42", "Ç-42"])).join("\t"), reason };
  return { text: random.pick([last ? "C-1" : "", fields.slice(0, -1).join("\t"), [...fields, "extra"].join("\t")]), reason };
}

function padded(random: Random, value: string): string {
  return chance(random, 0.08) ? random.pick([` ${value}`, `${value}  `]) : value;
}

interface Side {
  readonly lines: string[];
  /** Number of the key, and the fields as a careful reader sees them. */
  readonly rows: { readonly number: number; readonly fields: readonly string[] }[];
  readonly errors: TableError[];
}

/** Writes the lines of one table, some of them broken. `values` makes the fields after the key. */
function writeSide(
  random: Random,
  table: "left" | "right",
  columns: readonly string[],
  numbers: readonly number[],
  values: () => string[],
): Side {
  const side: Side = { lines: [columns.join("\t")], rows: [], errors: [] };
  const seen = new Set<number>();
  numbers.forEach((number, at) => {
    const line = side.lines.length + 1;
    const fields = [spellKey(random, number), ...values()];
    if (at === 4 || chance(random, 0.03)) {
      const { text, reason } = breakLine(random, fields, at === numbers.length - 1);
      side.lines.push(text);
      side.errors.push({ table, line, reason });
      return;
    }
    if (table === "right" && seen.has(number)) side.errors.push({ table, line, reason: "duplicate_key" });
    else side.rows.push({ number, fields });
    seen.add(number);
    side.lines.push(fields.map((field) => padded(random, field)).join("\t"));
  });
  return side;
}

function joinRows(join: Join, key: string, left: Side, right: Side): JsonObject[] {
  const partners = new Map(right.rows.map((row) => [row.number, row.fields]));
  const rows: JsonObject[] = [];
  for (const { number, fields } of left.rows) {
    const partner = partners.get(number);
    if (partner === undefined && join === "inner") continue;
    const [name, city, product] = [fields[1] ?? "", fields[2] ?? "", fields[3] ?? ""];
    const at = (index: number): Json => partner?.[index] ?? null;
    rows.push({ [key]: fields[0] ?? "", name, city, product, right_city: at(1), since: at(2), credit: at(3) });
  }
  return rows;
}

export const tableMerge: Kind = {
  name: "table-merge",
  draft(random) {
    const join = random.pick(JOINS);
    const key = random.pick(["customer", "account", "client"]);
    const start = between(random, 1, 3_000);
    const known = between(random, 60, 200);
    const leftNumbers = Array.from({ length: between(random, 150, 450) }, () => start + random.int(known + 20));
    const once = Array.from({ length: known }, (_, at) => start + at);
    const rightNumbers = sample(random, once, known).map((number) => (chance(random, 0.04) ? start + random.int(known) : number));
    const left = writeSide(random, "left", [key, "name", "city", "product"], leftNumbers, () => [
      `${random.pick(FIRST_NAMES)} ${random.pick(LAST_NAMES)}`,
      random.pick(CITIES),
      random.pick([...PRODUCTS, ""]),
    ]);
    const right = writeSide(random, "right", [key, "city", "since", "credit"], rightNumbers, () => [
      random.pick(CITIES),
      isoDay(randomDay(random)),
      random.pick(["", String(between(random, 0, 9_000))]),
    ]);
    const leftKeys = new Set(left.rows.map((row) => row.number));
    const rightKeys = new Set(right.rows.map((row) => row.number));
    return {
      title: `Merge two tables of ${random.pick(COMPANIES)} by ${key}`,
      description: description(join, key),
      skills: ["tables", "join"],
      input: { left: left.lines.join("\n"), right: right.lines.join("\n") },
      answer: {
        rows: joinRows(join, key, left, right),
        unmatchedLeft: left.rows.filter((row) => !rightKeys.has(row.number)).length,
        unmatchedRight: right.rows.filter((row) => !leftKeys.has(row.number)).map((row) => row.fields[0] ?? ""),
        errors: [...left.errors, ...right.errors],
      },
      reward: 6 + Math.ceil(leftNumbers.length / 60),
    };
  },
};

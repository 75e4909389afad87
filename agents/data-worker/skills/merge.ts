/** Skill: joining two tab-separated tables by a key. */
import { firstReason, mentions, stated, textOf, trimSpaces, type JsonObject, type Skill } from "./skill.ts";

type TableName = "left" | "right";
type TableError = { readonly table: TableName; readonly line: number; readonly reason: string };

interface Row {
  /** The key as written, and in the one form in which keys are compared. */
  readonly key: string;
  readonly canonical: string;
  readonly values: ReadonlyMap<string, string>;
}

interface Table {
  /** Without the key's. */
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
  readonly errors: readonly TableError[];
}

function readTable(table: TableName, text: string, keyColumn: string): Table {
  const [header = [], ...lines] = text.split("\n").map((line) => line.split("\t").map(trimSpaces));
  if (!header.includes(keyColumn)) throw new Error(`expected the ${table} table to have the column ${keyColumn}`);
  const rows: Row[] = [];
  const errors: TableError[] = [];
  const seen = new Set<string>();
  lines.forEach((fields, i) => {
    const values = new Map(header.map((name, at) => [name, fields[at] ?? ""]));
    const key = values.get(keyColumn) ?? "";
    const [, letter = "", digits] = /^([A-Za-z])-(\d{1,8})$/.exec(key) ?? [];
    const canonical = `${letter.toUpperCase()}-${Number(digits)}`;
    const reason = firstReason(
      ["column_count", fields.length !== header.length],
      ["bad_key", digits === undefined],
      ["duplicate_key", table === "right" && seen.has(canonical)],
    );
    if (reason !== undefined) errors.push({ table, line: i + 2, reason });
    else {
      seen.add(canonical);
      rows.push({ key, canonical, values });
    }
  });
  return { columns: header.filter((name) => name !== keyColumn), rows, errors };
}

export const merge: Skill = {
  name: "merge",
  fits: (job) => mentions(job.description, "merge the two tables", "unmatchedRight", "duplicate_key", "right_"),
  solve(description, input) {
    const keyColumn = stated(description, /by their column `([^`]+)`/);
    const keepsAll = mentions(description, "without a partner gives a row in which every column of the right table is null");
    if (!keepsAll && !mentions(description, "without a partner gives no row"))
      throw new Error("the job's text does not say what becomes of rows without a partner");
    const left = readTable("left", textOf(input, "left"), keyColumn);
    const right = readTable("right", textOf(input, "right"), keyColumn);
    const partners = new Map(right.rows.map((row) => [row.canonical, row]));
    const known = new Set(left.rows.map((row) => row.canonical));
    const rows: JsonObject[] = [];
    let unmatchedLeft = 0;
    for (const row of left.rows) {
      const partner = partners.get(row.canonical);
      if (partner === undefined) unmatchedLeft++;
      if (partner === undefined && !keepsAll) continue;
      const added = right.columns.map((name) => [left.columns.includes(name) ? `right_${name}` : name, partner?.values.get(name) ?? null]);
      rows.push({ ...Object.fromEntries(row.values), ...Object.fromEntries(added) });
    }
    const unmatchedRight = right.rows.filter((row) => !known.has(row.canonical)).map((row) => row.key);
    return { rows, unmatchedLeft, unmatchedRight, errors: [...left.errors, ...right.errors] };
  },
};

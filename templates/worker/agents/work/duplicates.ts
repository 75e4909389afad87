/** The work itself, without a word about networks: which records mean the same. */
import type { Json, JsonObject } from "retinue";

const isObject = (value: Json | undefined): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value);

/** Throws on input it does not know; then nothing is delivered, and the event waits, parked, for a person. */
export function findDuplicates(description: string, input: Json | undefined): JsonObject {
  const named = /duplicates when they agree in (.*?) after normalising/.exec(description)?.[1] ?? "";
  const fields = [...named.matchAll(/`(\w+)`/g)].map(([, field = ""]) => field);
  const records = isObject(input) ? input["records"] : undefined;
  if (fields.length === 0 || !Array.isArray(records)) throw new Error("expected fields to compare and a list of records");
  const groups = new Map<string, number[]>();
  const errors: JsonObject[] = [];
  for (const [index, record] of records.entries()) {
    const id = isObject(record) ? record["id"] : undefined;
    const key = fields.map((field) => normalise(field, isObject(record) ? record[field] : undefined));
    if (!isObject(record)) errors.push({ index, reason: "not_an_object" });
    else if (typeof id !== "number" || !Number.isInteger(id) || id < 1) errors.push({ index, reason: "bad_id" });
    else if (key.includes("")) errors.push({ index, reason: "missing_key" });
    else groups.set(JSON.stringify(key), [...(groups.get(JSON.stringify(key)) ?? []), id]);
  }
  const found = [...groups.values()];
  return {
    groups: found.filter((ids) => ids.length > 1).map(([keep = 0, ...drop]) => ({ keep, drop })),
    unique: found.filter((ids) => ids.length === 1).length,
    errors,
  };
}

function normalise(field: string, value: Json | undefined): string {
  if (typeof value !== "string") return "";
  if (field === "phone") return value.replace(/[^0-9]/g, "").replace(/^00/, "");
  return value.trim().replace(/\s+/g, " ").toLowerCase();
}

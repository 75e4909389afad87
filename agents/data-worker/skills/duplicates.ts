/** Skill: finding the records that mean the same. */
import { firstReason, isList, isObject, mentions, stated, type Json, type Skill } from "./skill.ts";

function normalise(field: string, value: Json | undefined): string {
  if (typeof value !== "string") return "";
  if (field === "phone") return value.replace(/[^0-9]/g, "").replace(/^00/, "");
  return value.trim().replace(/\s+/g, " ").toLowerCase();
}

function isId(value: Json | undefined): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 1;
}

export const duplicates: Skill = {
  name: "duplicates",
  fits: (job) => mentions(job.description, "find the duplicates", "input.records", "missing_key"),
  solve(description, input) {
    const named = stated(description, /duplicates when they agree in (.*?) after normalising/);
    const fields = [...named.matchAll(/`(\w+)`/g)].map(([, field = ""]) => field);
    const records = input["records"];
    if (!isList(records) || fields.length === 0) throw new Error("expected a list of records and fields to compare");
    const groups = new Map<string, number[]>();
    const errors: { index: number; reason: string }[] = [];
    records.forEach((record, index) => {
      const id = isObject(record) ? record["id"] : undefined;
      const key = fields.map((field) => normalise(field, isObject(record) ? record[field] : undefined));
      const reason = firstReason(["not_an_object", !isObject(record)], ["bad_id", !isId(id)], ["missing_key", key.includes("")]);
      if (reason !== undefined || !isId(id)) {
        errors.push({ index, reason: reason ?? "bad_id" });
        return;
      }
      const name = JSON.stringify(key);
      const group = groups.get(name);
      if (group === undefined) groups.set(name, [id]);
      else group.push(id);
    });
    const found = [...groups.values()];
    return {
      groups: found.filter((ids) => ids.length > 1).map(([keep = 0, ...drop]) => ({ keep, drop })),
      unique: found.filter((ids) => ids.length === 1).length,
      errors,
    };
  },
};

/** A digest tells processes with different definitions apart. */
import { expect, test } from "vitest";
import type { Config } from "../../src/config/config.ts";
import { credits } from "../../src/core/units.ts";
import { createSpecialist, type Specialist } from "../../src/specialist/specialist.ts";
import type { SpecialistDefinition } from "../../src/specialist/definition.ts";
import { definitionsDigest } from "../../src/runtime/definitions-digest.ts";

const made = (definition: Partial<SpecialistDefinition> = {}): Specialist =>
  createSpecialist({ handle: "scout", tier: "pro", may: ["posts.reply"], on: { "post.created": () => undefined }, ...definition });

const spend = { perAction: [], perHour: [], perDay: [credits(20)], perMonth: [], total: [] };
const guardian: Config["guardian"] = { zone: "UTC", spend };
const digest = (specialists: readonly Specialist[]): string => definitionsDigest(specialists, guardian);

test("it is the same for the same definitions in any order, and another for other data or another handler", () => {
  const quill = made({ handle: "quill" });
  expect(digest([made(), quill])).toBe(digest([quill, made()]));
  expect(digest([createSpecialist({ handle: "scout" }, { file: "/a/scout.ts" })])).toBe(
    digest([createSpecialist({ handle: "scout" }, { file: "/b/scout.ts", version: 2 })]),
  );
  const settings = [guardian, { ...guardian, zone: "Europe/Paris" }, { ...guardian, spend: { ...spend, perDay: [credits(9)] } }];
  expect(new Set(settings.map((one) => definitionsDigest([made()], one))).size).toBe(3);
  const others = [made({ tier: "free" }), made({ on: { "post.created": () => void 1 } }), made({ may: [] }), quill];
  expect(new Set([made(), ...others].map((one) => digest([one]))).size).toBe(5);
});

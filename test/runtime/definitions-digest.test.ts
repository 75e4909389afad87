/** A digest tells processes with different definitions apart. */
import { expect, test } from "vitest";
import { createSpecialist, type Specialist } from "../../src/specialist/specialist.ts";
import type { SpecialistDefinition } from "../../src/specialist/definition.ts";
import { definitionsDigest } from "../../src/runtime/definitions-digest.ts";

const made = (definition: Partial<SpecialistDefinition> = {}): Specialist =>
  createSpecialist({ handle: "scout", tier: "pro", may: ["posts.reply"], on: { "post.created": () => undefined }, ...definition });

test("it is the same for the same definitions in any order, and another for other data or another handler", () => {
  const quill = made({ handle: "quill" });
  expect(definitionsDigest([made(), quill])).toBe(definitionsDigest([quill, made()]));
  expect(definitionsDigest([createSpecialist({ handle: "scout" }, { file: "/a/scout.ts" })])).toBe(
    definitionsDigest([createSpecialist({ handle: "scout" }, { file: "/b/scout.ts", version: 2 })]),
  );
  const others = [made({ tier: "free" }), made({ on: { "post.created": () => void 1 } }), made({ may: [] }), quill];
  expect(new Set([made(), ...others].map((one) => definitionsDigest([one]))).size).toBe(5);
});

/** A digest tells processes with different definitions apart. */
import { expect, test } from "vitest";
import type { Config } from "../../src/config/config.ts";
import { credits } from "../../src/core/units.ts";
import { shapeOf, standIn } from "../../src/handlers/worker/definition-shape.ts";
import { answer, type AnswerOptions } from "../../src/specialist/answer.ts";
import { textOfCode } from "../../src/specialist/code-text.ts";
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

test("it is another for another text of a schedule, and for other instructions or data of a model-driven behaviour", () => {
  const scheduled = (run: () => unknown): Specialist => made({ schedules: { daily: { every: "1d", run } } });
  const asking = (options: Partial<AnswerOptions>): Specialist => made({ on: { "post.created": answer({ model: "small", ...options }) } });
  const all = [
    scheduled(() => "new posts"),
    scheduled(() => "fresh posts"),
    asking({ instructions: "be kind" }),
    asking({ instructions: "be brief" }),
    asking({ data: () => "thread" }),
    asking({ data: () => "author" }),
  ];
  const inThread = all.map(({ on, schedules }) => standIn(shapeOf({ on, schedules: schedules.map(({ run }) => run) })));
  expect(new Set(all.map((one) => digest([one]))).size).toBe(all.length);
  expect(new Set(inThread.map((one) => JSON.stringify(one, textOfCode))).size).toBe(all.length);
});

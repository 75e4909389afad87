/** The difference between two versions of a definition, as a person reads it. */
import { expect, test } from "vitest";
import { CODE_ONLY, definitionChanges } from "../../src/runtime/definition-changes.ts";
import { credits } from "../../src/core/units.ts";
import type { SpecialistDefinition } from "../../src/specialist/definition.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";

const run = (): void => undefined;

test.each<[string, Partial<SpecialistDefinition>, Partial<SpecialistDefinition>, string]>([
  ["a handler's code", { on: { "post.created": () => 1 } }, { on: { "post.created": () => 2 } }, CODE_ONLY],
  ["events", { on: { "post.liked": run } }, { on: { "job.assigned": run } }, "on: +job.assigned −post.liked; changed: watch"],
  ["permissions", { may: ["posts.reply"] }, { may: ["posts.create"] }, "may: +posts.create −posts.reply"],
  ["a tier", { tier: "free" }, { tier: "pro" }, "changed: tier free → pro"],
  ["a cap, in one word", {}, { spend: { perDay: credits(2) } }, "changed: spend"],
  ["a deadline", {}, { deadline: "5s" }, "changed: deadline 60 s → 5 s"],
  [
    "a schedule",
    { schedules: { daily: { cron: "0 9 * * *", run } } },
    { schedules: { daily: { every: "90s", jitter: "1s", run } } },
    "schedules: +daily (every 90 s, jitter 1 s) −daily (0 9 * * *)",
  ],
])("%s", (_what, before, after, words) => {
  const made = (part: Partial<SpecialistDefinition>) => createSpecialist({ handle: "scout", ...part });
  expect(definitionChanges(made(before), made(after))).toBe(words);
});

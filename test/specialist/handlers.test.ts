/** The handler of an event: by its kind, for a schedule by its name, and none where nobody wrote one. */
import { expect, test } from "vitest";
import { handlerOf } from "../../src/specialist/handlers.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";

const scout = createSpecialist({
  handle: "scout",
  on: { "post.created": () => "post", "x:hello": () => "extra" },
  schedules: { talk: { every: "1h", run: () => "talk" }, "a:b": { every: "1h", run: () => "colon" } },
});
const result = (kind: string): unknown => handlerOf(scout, kind)?.({} as never, {} as never);

test("each kind has its own handler, and each schedule its run", () => {
  expect(["post.created", "x:hello", "schedule:talk", "schedule:a:b"].map(result)).toEqual(["post", "extra", "talk", "colon"]);
});

test.each(["job.listed", "schedule:none", "schedule:", "schedule", "", "constructor", "__proto__", "toString"])("%j has none", (kind) => {
  expect(handlerOf(scout, kind)).toBeUndefined();
});

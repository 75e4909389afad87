/** Handles are unique in a runtime, whatever the case of their letters: they are names of files and variables too. */
import { expect, test } from "vitest";
import { refuseTwins } from "../../src/runtime/unique-handles.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";

const named = (...handles: readonly string[]) => handles.map((handle) => createSpecialist({ handle }));

test.each([
  ["scout", "scout"],
  ["scout", "quill", "Scout"],
])("%s and its twin are refused", (...handles) => {
  expect(() => refuseTwins(named(...handles))).toThrow(
    expect.objectContaining({ code: "handle_twice", message: expect.stringContaining('"scout"') as string }),
  );
});

test("different handles run together", () => {
  for (const handles of [[], ["scout", "scout2", "scout-2", "scout_2"]]) expect(() => refuseTwins(named(...handles))).not.toThrow();
});

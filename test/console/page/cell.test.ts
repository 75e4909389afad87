/** A value that many components show. */
import { expect, test } from "vitest";
import { createCell } from "../../../src/console/page/cell.ts";

test("each change is told once, to those who listen at that time", () => {
  const cell = createCell(1);
  const told: number[] = [];
  const end = cell.listen((value) => void told.push(value));
  cell.set(2);
  cell.set(2);
  cell.set(3);
  end();
  cell.set(4);
  expect([told, cell.get()]).toEqual([[2, 3], 4]);
});

test("a listener may leave while it is told", () => {
  const cell = createCell(1);
  const told: string[] = [];
  const end = cell.listen(() => (told.push("first"), end()));
  cell.listen(() => void told.push("second"));
  cell.set(2);
  cell.set(3);
  expect(told).toEqual(["first", "second", "second"]);
});

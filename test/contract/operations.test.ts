/** The table of operations: a name is known or not, and each published row names its object by one parameter. */
import { expect, test } from "vitest";
import { ENDPOINT_ROWS, isOperationName, OPERATION_NAMES, OPERATIONS, parameterOf } from "../../src/contract/operations.ts";

test("only a name of the table is an operation", () => {
  expect(OPERATION_NAMES.every(isOperationName)).toBe(true);
  for (const name of ["", "posts", "posts.shout", "constructor", "__proto__", "toString"]) expect(isOperationName(name)).toBe(false);
});

test("a path names at most one object, and each operation on an object has its path", () => {
  expect([parameterOf("/posts/:id/replies"), parameterOf("/agents/:handle"), parameterOf("/posts")]).toEqual(["id", "handle", undefined]);
  for (const { path, operation } of ENDPOINT_ROWS)
    expect([operation, parameterOf(path) !== undefined]).toEqual([operation, OPERATIONS[operation].target !== undefined]);
});

test("a read takes no money and reserves nothing: no operation of a lane for actions is a read", () => {
  for (const { name, effect, lane } of Object.values(OPERATIONS))
    expect([name, effect === "read" && (lane === "act" || lane === "reply")]).toEqual([name, false]);
});

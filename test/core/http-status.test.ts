/** An error may name the status of its answer; any other is a defect of the server. */
import { expect, test } from "vitest";
import { statusOf } from "../../src/core/http-status.ts";

test.each<[unknown, number]>([
  [Object.assign(new Error("too large"), { statusCode: 413 }), 413],
  [{ statusCode: 503 }, 503],
  [Object.assign(new Error("no error"), { statusCode: 200 }), 500],
  [Object.assign(new Error("a text"), { statusCode: "413" }), 500],
  [new Error("broken"), 500],
  [undefined, 500],
])("%o is answered with %i", (error, status) => {
  expect(statusOf(error)).toBe(status);
});

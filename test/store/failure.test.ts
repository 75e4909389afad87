/** A failure in an event's note: it comes back whole, and a note that only looks like one stays a text. */
import { expect, test } from "vitest";
import { failureNote, readNote, type Failure } from "../../src/store/failure.ts";

const FAILURE: Failure = {
  at: 5,
  code: "handler_threw",
  message: "no model for p1",
  pattern: "no model for",
  tries: 2,
  file: "agents/scout.ts",
  line: 7,
  stack: "at it",
  timed: true,
};

test("a failure comes back as it was, with its message as the note", () => {
  expect(readNote(failureNote(FAILURE))).toEqual({ note: "no model for p1", failure: FAILURE });
});

test("a field that an older row lacks has a plain value", () => {
  expect(readNote('{"failed":5,"message":"no"}')).toEqual({
    note: "no",
    failure: { at: 5, code: "handler_threw", message: "no", pattern: "no", tries: 1 },
  });
  expect(readNote('{"failed":"x","tries":"y","line":"z","timed":"yes"}').failure).toEqual({
    at: 0,
    code: "handler_threw",
    message: "",
    pattern: "",
    tries: 1,
  });
});

test.each([undefined, "", "the quota is used", '{"failed":', '{"other":1}', '["failed"]'])("%j is a plain note", (note) => {
  expect(readNote(note)).toEqual({ note });
});

/** An answer that is too long for the server is an error at both ends, and no silence. */
import { expect, test } from "vitest";
import { createLogger, silentLogger, type LogLine } from "../../src/core/log.ts";
import { answerText } from "../../src/guardian/answer-text.ts";
import { LONGEST_ANSWER } from "../../src/store/postgres/requests.ts";

test("an answer is sent up to a length, and its process logs one that is longer", () => {
  const lines: LogLine[] = [];
  const log = createLogger({ level: "info", now: () => 0, sink: (line) => lines.push(line) });
  const around = JSON.stringify({ result: "" }).length;
  const most = "x".repeat(LONGEST_ANSWER - around);
  expect(answerText(most, { name: "status", log })).toHaveLength(LONGEST_ANSWER);
  expect(answerText(undefined, { name: "status", log })).toBe('{"result":null}');
  expect(lines).toEqual([]);
  expect(() => answerText(`${most}x`, { name: "status", log })).toThrow(expect.objectContaining({ code: "answer_too_long" }));
  expect(lines).toMatchObject([{ level: "warn", fields: { request: "status" } }]);
});

test("a halt that not all have confirmed is an error for a process that knows no such result", () => {
  const halted = { message: "halted", inFlight: [], incomplete: { message: "web-2:7: no answer", hint: "again" } };
  const error = { class: "Retryable", code: "order_incomplete", message: "web-2:7: no answer", hint: "again" };
  expect(JSON.parse(answerText(halted, { name: "halt", log: silentLogger() }))).toEqual({ result: halted, error });
});

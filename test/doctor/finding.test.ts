/** Findings: what an answer shows of itself, without any value of the network. */
import { expect, test } from "vitest";
import { bodyOf, idsOf, shown, succeeded } from "../../src/doctor/finding.ts";
import type { WireAnswer } from "../../src/client/transport.ts";
import type { Outcome } from "../../src/contract/call.ts";
import { jobOf, postOf } from "../harness/builders.ts";

const answered = (status: number, text: string) => ({
  outcome: { class: "unknown", reason: "x" } as Outcome,
  wire: { kind: "answer", status, headers: {}, text, elapsedMs: 1 } satisfies WireAnswer,
});
const silent = { outcome: { class: "never-left", reason: "x" } as Outcome, wire: { kind: "never-left", reason: "x" } satisfies WireAnswer };

test("a success is any 2xx, readable or not", () => {
  expect([200, 204, 299, 199, 300, 404].map((status) => succeeded(answered(status, "<html>")))).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
  ]);
  expect(succeeded(silent)).toBe(false);
});

test("a body is JSON with every digit, or none", () => {
  expect(bodyOf(answered(200, '{"id":9007199254740993}'))).toEqual({ id: "9007199254740993" });
  expect([bodyOf(answered(200, "<html>")), bodyOf(answered(200, "")), bodyOf(silent)]).toEqual([undefined, undefined, undefined]);
});

test("an outcome is shown by its class and status alone", () => {
  const outcomes: readonly Outcome[] = [
    { class: "refused", status: 404, code: "not_found", message: "secret words" },
    { class: "unknown", reason: "reset" },
    { class: "never-left", reason: "ECONNREFUSED" },
  ];
  expect(outcomes.map(shown)).toEqual(["refused (404)", "unknown", "never-left"]);
});

test("ids come in the order sent, of records that have one", () => {
  const items = [jobOf("j2"), postOf("p1"), { kind: "result", title: "no id", raw: {} } as const, { kind: "stats", raw: {} } as const];
  expect(idsOf({ class: "confirmed", status: 200, body: undefined, items })).toEqual(["j2", "p1"]);
  expect([idsOf({ class: "confirmed", status: 200, body: undefined }), idsOf({ class: "unknown", reason: "x" })]).toEqual([[], []]);
});

/** Results and errors over a thread's border: the same on the other side. */
import { expect, test } from "vitest";
import { Fatal, Misconfigured, Refused, Retryable } from "../../../src/core/errors.ts";
import { decodeError, decodeResult, encodeError, encodeResult } from "../../../src/handlers/worker/messages.ts";
import { RunInterrupted } from "../../../src/specialist/run.ts";

/** As a thread's channel copies it. */
const sent = <T>(value: T): T => structuredClone(value);

test.each([
  new Refused("not_allowed", "no", { hint: "ask" }),
  new Retryable("x:later", "soon", { retryAt: 99 }),
  new Misconfigured("key_missing", "no key"),
  new Fatal("x:end", "it is over"),
  new RunInterrupted("run_stopped", "stopped"),
])("%s keeps its class, code, message, hint, time and stack", (error) => {
  const received = decodeError(sent(encodeError(error)));
  expect(received).toBeInstanceOf(error.constructor);
  expect(received).toMatchObject({ code: error.code, message: error.message, name: error.name });
  expect("details" in received && received.details).toEqual(error.details);
  expect(received.stack).toBe(error.stack);
});

test("somebody else's error stays one, by its name; what is no error is one with its text", () => {
  const received = decodeError(sent(encodeError(new RangeError("too far"))));
  expect([received.name, received.message, "code" in received]).toEqual(["RangeError", "too far", false]);
  expect(decodeError(sent(encodeError("just a text")))).toMatchObject({ name: "Error", message: "just a text" });
});

test("a stack that a handler made endless is cut", () => {
  const error = Object.assign(new Error("no"), { stack: "x".repeat(100_000) });
  expect(encodeError(error).stack).toHaveLength(4_000);
});

test("a finished run is handed over as it is, a failed one with its error", () => {
  const finished = { kind: "finished", intents: [], state: { n: 1 } } as const;
  expect(decodeResult(sent(encodeResult(finished)))).toEqual(finished);
  const failed = decodeResult(sent(encodeResult({ kind: "failed", error: new Refused("not_allowed", "no") })));
  expect(failed.kind === "failed" && failed.error).toBeInstanceOf(Refused);
});

/** Ids of traces follow from what they are about, in the form that OpenTelemetry has for them. */
import { expect, onTestFinished, test } from "vitest";
import { isTraced, spanIdOf, traceIdOf } from "../../src/core/trace-ids.ts";

test("the same event of the same specialist has the same ids in every process, and another has others", () => {
  expect(traceIdOf("scout", "post.created:p1")).toMatch(/^(?!0{32})[0-9a-f]{32}$/);
  expect(spanIdOf("scout", "post.created:p1")).toMatch(/^(?!0{16})[0-9a-f]{16}$/);
  expect(traceIdOf("scout", "post.created:p1")).toBe("c14df78a1e604c48c3a82011440d55ec");
  const others = [traceIdOf("scout", "post.created:p2"), traceIdOf("quill", "post.created:p1")];
  expect(new Set([...others, traceIdOf("scout", "post.created:p1")]).size).toBe(3);
});

test("an SDK is known by the tracer that it registers, and by no other part", () => {
  const place = Symbol.for("opentelemetry.js.api.1");
  onTestFinished(() => void Reflect.deleteProperty(globalThis, place));
  expect(isTraced()).toBe(false);
  Reflect.set(globalThis, place, { version: "1.10.0", metrics: {} });
  expect(isTraced()).toBe(false);
  Reflect.set(globalThis, place, { version: "1.10.0", trace: {} });
  expect(isTraced()).toBe(true);
});

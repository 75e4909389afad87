/** An HTTP answer of a model means one thing for the next call, one for the event and one for the money. */
import { expect, test } from "vitest";
import type { WireAnswer } from "../../src/client/transport.ts";
import { checkedModels } from "../../src/config/model-settings.ts";
import { classifyFailure } from "../../src/model/classify-answer.ts";

const { small } = checkedModels({
  small: {
    provider: "openai-compatible",
    address: "http://127.0.0.1:9/v1",
    key: "SMALL_KEY",
    context: 8_000,
    prices: { input: 0, output: 0 },
  },
});
if (small === undefined) throw new Error("expected the model");
const answer = (status: number, headers = {}): WireAnswer => ({ kind: "answer", status, headers, text: "", elapsedMs: 1 });

test.each<[WireAnswer | undefined, object]>([
  [undefined, { failure: { kind: "refused" }, spent: "nothing" }],
  [
    { kind: "never-left", reason: "ECONNREFUSED" },
    { failure: { kind: "rest", code: "model_unavailable" }, spent: "nothing" },
  ],
  [
    { kind: "unknown", reason: "socket closed" },
    { failure: { kind: "rest", code: "model_unavailable" }, spent: "unknown" },
  ],
  [
    { kind: "unknown", reason: "the answer is larger than 4 bytes" },
    { failure: { kind: "unusable" }, spent: "unknown" },
  ],
  [answer(200), { failure: { kind: "unusable" }, spent: "unknown" }],
  [answer(400), { failure: { kind: "refused" }, spent: "nothing" }],
  [answer(401), { failure: { kind: "rest", code: "model_key_refused" }, spent: "nothing" }],
  [answer(404), { failure: { kind: "rest", code: "model_unavailable" }, spent: "nothing" }],
  [answer(429, { "retry-after": "9" }), { failure: { kind: "rest", retryAfterMs: 9_000 }, spent: "nothing" }],
  [answer(529), { failure: { kind: "rest", retryAfterMs: undefined }, spent: "nothing" }],
  [answer(500), { failure: { kind: "rest" }, spent: "unknown" }],
])("%j", (given, expected) => {
  expect(classifyFailure(given, "no", small, 0)).toMatchObject(expected);
});

test("a message is one short line, and names the variable of a refused key", () => {
  const { failure } = classifyFailure(answer(401), `${"<p>".repeat(500)}\nmore`, small, 0);
  expect(failure.message).toContain("the key in SMALL_KEY is refused");
  expect(failure.message.length).toBeLessThan(400);
  expect(failure.message).not.toContain("more");
});

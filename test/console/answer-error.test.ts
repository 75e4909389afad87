/** Errors as answers: the status tells a program, the message and the hint a person. */
import fastify from "fastify";
import { expect, test } from "vitest";
import { answerError } from "../../src/console/answer-error.ts";
import { Fatal, Misconfigured, Refused, Retryable } from "../../src/core/errors.ts";

async function answered(error: unknown) {
  const seen: unknown[] = [];
  const app = fastify();
  app.get("/", (_request, reply) => answerError(reply, error, 0, (one) => void seen.push(one)));
  const { statusCode, headers, body } = await app.inject("/");
  return { statusCode, retry: headers["retry-after"], body, seen: seen.length };
}

test.each([
  [new Refused("approval_over", "too late"), 409, 0],
  [new Refused("nothing_found", "not there"), 404, 0],
  [new Refused("key_refused", "another refusal"), 422, 0],
  [new Misconfigured("query_invalid", "no", { expected: "yes" }), 400, 0],
  [new Fatal("store_lost", "gone"), 500, 1],
  [new Error("a secret of the inside"), 500, 1],
])("%s", async (error, status, seen) => {
  expect(await answered(error)).toMatchObject({ statusCode: status, seen });
});

test("a person reads what was expected, and a program when to come back", async () => {
  expect((await answered(new Misconfigured("query_invalid", "no", { expected: "yes", hint: "try" }))).body).toBe(
    '{"error":{"code":"query_invalid","message":"no; expected yes","hint":"try"}}',
  );
  expect(await answered(new Retryable("streams_full", "full", { retryAt: 4_500 }))).toMatchObject({ statusCode: 503, retry: "5", seen: 0 });
  expect((await answered(new Error("a secret of the inside"))).body).not.toContain("secret");
});

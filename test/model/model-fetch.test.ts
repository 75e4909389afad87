/** One attempt is one request, admitted before it leaves, and its answer is clean before the provider's code sees it. */
import { expect, test } from "vitest";
import type { WireAnswer, WireRequest } from "../../src/client/transport.ts";
import { modelAttempt } from "../../src/model/model-fetch.ts";

const ADDRESS = "http://127.0.0.1:9/v1/chat/completions?a=1";
const init = { method: "POST", body: "{}", headers: { authorization: "Bearer k" } };

function attempt(answer: WireAnswer, admitted = true) {
  const sent: WireRequest[] = [];
  const asked: number[] = [];
  const made = modelAttempt({
    send: async (request) => {
      sent.push(request);
      return answer;
    },
    scrubber: { cleanJson: (json) => json.replaceAll("sk-1234", "[secret]") },
    timeoutMs: 1_000,
    signal: new AbortController().signal,
    admit: async (bytes) => {
      asked.push(bytes);
      return admitted;
    },
  });
  return { ...made, sent, asked };
}
const answered: WireAnswer = {
  kind: "answer",
  status: 200,
  headers: { "content-type": "application/json" },
  text: '{"a":"sk-1234"}',
  elapsedMs: 1,
};

test("the request leaves as it is, once it was admitted by its bytes", async () => {
  const one = attempt(answered);
  const response = await one.fetch(ADDRESS, init);
  expect(one.asked).toEqual([2]);
  expect(one.sent).toMatchObject([
    {
      origin: "http://127.0.0.1:9",
      path: "/v1/chat/completions?a=1",
      body: "{}",
      headers: { authorization: "Bearer k" },
      deadlineMs: 1_000,
    },
  ]);
  expect(await response.json()).toEqual({ a: "[secret]" });
  expect(one.answer()).toBe(answered);
});

test("nothing leaves that is not admitted, not posted, or the second of one attempt", async () => {
  const refused = attempt(answered, false);
  await expect(refused.fetch(ADDRESS, init)).rejects.toThrow("not admitted");
  await expect(refused.fetch(ADDRESS, init)).rejects.toThrow("one request");
  const got = attempt(answered);
  await expect(got.fetch(ADDRESS)).rejects.toThrow("by POST, not by GET");
  expect([...refused.sent, ...got.sent]).toEqual([]);
  expect(got.answer()).toBeUndefined();
});

test("no complete answer is an error with its reason, and stays readable as the fact it is", async () => {
  const lost = attempt({ kind: "unknown", reason: "socket closed" });
  await expect(lost.fetch(ADDRESS, init)).rejects.toThrow("socket closed");
  expect(lost.answer()).toEqual({ kind: "unknown", reason: "socket closed" });
});

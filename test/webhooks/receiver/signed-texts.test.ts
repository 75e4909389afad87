/** The texts that a signature inside a body may cover: the body without it, in every form in which it may have been written. */
import { expect, test } from "vitest";
import { isObject, parseJson } from "../../../src/core/json.ts";
import { coveredTexts } from "../../../src/webhooks/receiver/signed-texts.ts";

function covered(text: string, signature = "abc"): readonly string[] {
  const parsed = parseJson(text);
  return isObject(parsed) ? [...coveredTexts(text, parsed, "sig", signature)] : [];
}

test.each([
  ['{"a":1,"sig":"abc"}', '{"a":1}'],
  ['{"sig":"abc","a":1}', '{"a":1}'],
  ['{"a":1,"sig":"abc","b":2}', '{"a":1,"b":2}'],
  ['{"sig":"abc"}', "{}"],
  ['{\n  "a": 1,\n  "sig": "abc"\n}', '{\n  "a": 1\n}'],
  ['{ "sig" : "abc" , "a": 1 }', '{ "a": 1 }'],
])("the first of %j is %j: its very bytes without the member", (text, first) => {
  expect(covered(text)[0]).toBe(first);
});

test("further forms are the body as it is usually written, and with its members in order", () => {
  expect(covered('{"b":1, "sig":"abc", "a":2}').slice(1)).toEqual(['{"b":1,"a":2}', '{"a":2,"b":1}']);
});

test("the same text elsewhere is not taken for the signature", () => {
  expect(covered('{"note":"abc","sig":"abc"}')[0]).toBe('{"note":"abc"}');
});

test("a sender makes it cost little: few places are examined, and a long body is not written again", () => {
  const repeated = `{${Array.from({ length: 50 }, (_, i) => `"k${i}":{"sig":"abc"}`).join(",")},"sig":"abc"}`;
  expect(covered(repeated).length).toBeLessThanOrEqual(5);
  expect(covered(`{"a":"${"x".repeat(70_000)}","sig":"abc"}`)).toHaveLength(1);
});

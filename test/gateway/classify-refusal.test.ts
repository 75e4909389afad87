/** Refusals that apply beyond one request, told from those of one object. */
import { describe, expect, test } from "vitest";
import type { Call, Outcome } from "../../src/contract/call.ts";
import { createRefusalClassifier } from "../../src/gateway/classify-refusal.ts";

const LIST: Call = { operation: "posts.list", input: {} };
const reply = (target: string): Call => ({ operation: "posts.reply", target, input: {} });
const refused = (status: number, message = ""): Outcome => ({ class: "refused", status, code: "forbidden", message });
const page = (status: number): Outcome => ({ class: "unknown", status, reason: "an HTML page" });
const learn = (call: Call, outcome: Outcome) => createRefusalClassifier().learn("ann", call, outcome);

test.each<[string, Call, Outcome, string]>([
  ["405", reply("p"), refused(405), "operation_missing"],
  ["501", LIST, refused(501), "operation_missing"],
  ["404 to an address without an object", LIST, refused(404), "operation_missing"],
  ["403 to an address without an object", LIST, refused(403), "forbidden"],
])("%s stops that operation of that specialist", (_, call, outcome, code) => {
  expect(learn(call, outcome)).toMatchObject({ rule: "capability", code, handle: "ann", operation: call.operation });
});

test.each<[string, Outcome, string]>([
  ["says that the account is suspended", refused(403, "account suspended"), "account_stopped"],
  ["asks for a human", refused(403, "please verify that you are human"), "challenge"],
  ["is a page in place of an answer", page(403), "challenge"],
])("403 that %s stops all of the specialist", (_, outcome, code) => {
  expect(learn(reply("p"), outcome)).toMatchObject({ code, handle: "ann", operation: undefined });
});

test.each<[string, Outcome]>([
  ["404", refused(404)],
  ["409", refused(409)],
  ["422", refused(422)],
  ["500", page(500)],
  ["a confirmation", { class: "confirmed", status: 200, body: undefined }],
])("%s about one object stops nothing", (_, outcome) => {
  expect(learn(reply("p"), outcome)).toBeUndefined();
});

describe.each([
  [403, "forbidden"],
  [402, "payment_required"],
])("%i about objects", (status, code) => {
  const inARow = (targets: readonly string[], between?: (classifier: ReturnType<typeof createRefusalClassifier>) => void) => {
    const classifier = createRefusalClassifier();
    return targets.map((target) => {
      const found = classifier.learn("ann", reply(target), refused(status))?.code;
      between?.(classifier);
      return found;
    });
  };

  test("stops the operation at the third object in a row", () => {
    expect(inARow(["a", "b", "c"])).toEqual([undefined, undefined, code]);
  });

  test("stops nothing where it is the same object again, or another was permitted between them", () => {
    expect(inARow(["a", "a", "a", "b", "b"])).toEqual(Array.from({ length: 5 }));
    expect(inARow(["a", "b", "c", "d"], (classifier) => classifier.forget("ann", "posts.reply"))).toEqual(Array.from({ length: 4 }));
  });
});

/** The input of an action holds no secret: it would be stored, and everybody could read it. */
import { expect, test } from "vitest";
import { shippedProfile } from "../../src/contract/profile/profile.ts";
import { Refused } from "../../src/core/errors.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { Scrubber } from "../../src/core/scrubber.ts";
import { Secret } from "../../src/core/secret.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { operationRules } from "../../src/gateway/permissions.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";

const KEY = `sk_live_"0123\\456`;

function refusal(operation: string, input: JsonObject): unknown {
  const scrubber = new Scrubber();
  scrubber.add(new Secret(KEY));
  const rules = operationRules(createSpecialist({ handle: "scout", tier: "pro" }), shippedProfile("b"), virtualClock(), { scrubber });
  try {
    rules.input(operation, input);
    return undefined;
  } catch (error) {
    return error;
  }
}

test.each<[string, string, JsonObject]>([
  ["a post", "posts.create", { content: `my key is ${KEY}` }],
  ["a reply, in base64", "posts.reply", { content: Buffer.from(`Bearer ${KEY}`).toString("base64") }],
  ["a deliverable, as a name deep in it", "jobs.submit", { deliverable: { rows: [{ [KEY]: 1 }] } }],
  ["a search, in an address", "posts.list", { author: encodeURIComponent(KEY) }],
  ["a webhook, of any secret", "webhooks.create", { url: "https://me.example/hook", secret: "one that nobody knows" }],
])("%s that holds one is refused, without saying it", (_what, operation, input) => {
  const error = refusal(operation, input);
  expect(error).toBeInstanceOf(Refused);
  expect(error).toMatchObject({ code: "secret_in_input", details: { hint: expect.stringContaining("take it out") as string } });
  expect(String(error)).not.toContain("0123");
});

test("an input without one is taken", () => {
  expect(refusal("posts.create", { content: "sk_live_ is how keys begin; mine is a [secret]" })).toBeUndefined();
  expect(refusal("webhooks.create", { url: "https://me.example/hook" })).toBeUndefined();
});

/** Operations that carry secrets: which input is one, and which answers hand one out. */
import { expect, test } from "vitest";
import { handsOutSecrets, isTrade, sentSecret } from "../../src/contract/secrets.ts";

test("the secret that a call sends is wrapped, and nothing else is taken for one", () => {
  expect(sentSecret({ operation: "webhooks.create", input: { url: "https://a.example", secret: "whsec_0123456789" } })?.reveal()).toBe(
    "whsec_0123456789",
  );
  expect(sentSecret({ operation: "auth.refresh", input: { refreshToken: "refresh-0123456789" } })?.reveal()).toBe("refresh-0123456789");
  for (const input of [{}, { secret: 7 }, { secret: null }, { refreshToken: "x" }])
    expect(sentSecret({ operation: "webhooks.create", input })).toBeUndefined();
  expect(sentSecret({ operation: "posts.create", input: { secret: "of the story" } })).toBeUndefined();
});

test("an answer hands a secret out only to the one who asked for it: a record that is read does not", () => {
  expect(["auth.token", "auth.refresh", "agents.create", "webhooks.create"].every(handsOutSecrets)).toBe(true);
  expect(["agents.get", "agents.list", "webhooks.list", "posts.create", "constructor"].some(handsOutSecrets)).toBe(false);
});

test("only an exchange for a token may name the key in its body", () => {
  expect(["auth.token", "auth.refresh"].every(isTrade)).toBe(true);
  expect(["agents.create", "auth", "x:auth.token"].some(isTrade)).toBe(false);
});

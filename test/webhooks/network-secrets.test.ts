/** The file of secrets that networks chose: for its owner alone, replaced whole, and gone with the last of them. */
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Secret } from "../../src/core/secret.ts";
import { networkSecretsIn } from "../../src/webhooks/network-secrets.ts";
import { project } from "../harness/project.ts";

const one = { webhookId: "wh_1", secret: new Secret("chosen by the network") };

function place(): string {
  return join(project({}).root, "secrets.json");
}

test("a kept secret is read by the next process, and only its owner can read the file", () => {
  const file = place();
  networkSecretsIn(file).keep("scout", one);
  const read = networkSecretsIn(file).read("scout");
  expect(read?.webhookId).toBe("wh_1");
  expect(read?.secret.reveal()).toBe("chosen by the network");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  chmodSync(file, 0o644);
  networkSecretsIn(file).keep("other", one);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("the file goes with its last secret", () => {
  const file = place();
  const secrets = networkSecretsIn(file);
  expect(secrets.read("scout")).toBeUndefined();
  secrets.keep("scout", one);
  secrets.keep("scout", undefined);
  expect(existsSync(file)).toBe(false);
});

test("a file of something else holds no secret, and is replaced whole", () => {
  const file = place();
  writeFileSync(file, '{"scout": 5, "other": {"webhookId": "wh_2"}');
  const secrets = networkSecretsIn(file);
  expect(secrets.read("scout")).toBeUndefined();
  secrets.keep("scout", one);
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ scout: { webhookId: "wh_1", secret: "chosen by the network" } });
});

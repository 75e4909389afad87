/** The settings of alerts: mistakes are explained before anything runs, and secrets are named, never written. */
import { expect, test } from "vitest";
import { alertSecrets } from "../../src/config/alert-settings.ts";
import { readConfig } from "../../src/config/config.ts";
import { project } from "../harness/project.ts";

async function read(alerts: object, env: { readonly [name: string]: string } = {}) {
  const { root } = project({ "retinue.config.json": JSON.stringify({ alerts }) });
  return readConfig({ cwd: root, env });
}

test.each([
  [{ to: [{ command: [] }] }, /alerts\.to\[0\]/],
  [{ to: [{ command: "mail me" }] }, /alerts\.to\[0\]/],
  [{ to: [{ url: "ftp://example.com" }] }, /alerts\.to\[0\]/],
  [{ to: [{ url: "https://me:secret@example.com" }] }, /holds a password/],
  [{ to: [], link: "https://me:secret@example.com" }, /holds a password/],
  [{ to: [{ urlFrom: "RETINUE_KEY_SCOUT" }] }, /alerts\.to\[0\]/],
  [{ to: Array(11).fill({ urlFrom: "A" }) }, /at most 10 targets/],
  [{ to: [], kinds: [] }, /kinds/],
])("a wrong setting is refused: %j", async (alerts, words) => {
  const { problems } = await read(alerts);
  const mistakes = problems.filter(({ level }) => level === "error");
  expect(mistakes.map(({ message, expected }) => `${message} ${expected}`).join("\n")).toMatch(words);
  expect(JSON.stringify(problems)).not.toContain("me:secret");
});

test("a named variable without a value is a warning, one with a value is a secret", async () => {
  const to = [{ urlFrom: "ALERT_URL", token: "ALERT_TOKEN" }, { command: ["notify"], env: ["PAGER_KEY"] }, { url: "https://example.com" }];
  const { config, problems } = await read({ to }, { ALERT_URL: "https://example.com/T0/B0/xyz", PAGER_KEY: "1234" });
  const codes = problems.map(({ level, code, message }) => [level, code, /ALERT_TOKEN|PAGER_KEY/.exec(message)?.[0]]);
  expect(codes).toEqual([
    ["warning", "secret_missing", "ALERT_TOKEN"],
    ["warning", "secret_short", "PAGER_KEY"],
  ]);
  const known = alertSecrets(config.environment, config.alerts).map((secret) => secret.reveal());
  expect(known).toEqual(["https://example.com/T0/B0/xyz", "1234"]);
  expect(alertSecrets(config.environment, undefined)).toEqual([]);
});

/** `.env` holds keys: one that others may read is warned of, by `check` and at the start of `run`. */
import { chmodSync } from "node:fs";
import { expect, test } from "vitest";
import { loadConfig } from "../../src/config/config.ts";
import { project } from "../harness/project.ts";

const KEY = "RETINUE_KEY_SCOUT=sk_live_0123456789abcdef\n";

test.each([
  ["0600 with a key", 0o600, KEY, []],
  ["readable by the group, with a key", 0o640, KEY, ["env_readable"]],
  ["readable by everybody, with a webhook secret", 0o644, "RETINUE_WEBHOOK_SECRET=whsec_0123456789\n", ["env_readable"]],
  ["readable by everybody, without a secret", 0o644, "RETINUE_SET=b\n", []],
])("%s", async (_name, mode, text, codes) => {
  const { root, write } = project({});
  chmodSync(write(".env", text), mode);
  const { warnings } = await loadConfig({ cwd: root, env: {} });
  expect(warnings.map(({ code }) => code)).toEqual(codes);
  for (const { hint, message } of warnings) {
    expect(hint).toContain("chmod 600");
    expect(message).not.toContain("0123456789");
  }
});

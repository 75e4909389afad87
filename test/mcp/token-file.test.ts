/** The token of the server over HTTP: made once, kept for its owner alone. */
import { readFileSync, statSync, chmodSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { seededRandom } from "../../src/core/random.ts";
import { tokenIn } from "../../src/mcp/token-file.ts";
import { project } from "../harness/project.ts";

test("a token is made once, and its file is its owner's alone, also after somebody opened it", () => {
  const file = join(project().root, "deep/token");
  const token = tokenIn(file, seededRandom(1)).reveal();
  expect(token).toMatch(/^\w{40}$/);
  chmodSync(file, 0o644);
  expect(tokenIn(file, seededRandom(2)).reveal()).toBe(token);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, "utf8").trim()).toBe(token);
});

test("a file that holds no token, or cannot be read, is refused with its name", () => {
  const { root } = project({ token: "short" });
  for (const file of [join(root, "token"), root])
    expect(() => tokenIn(file, seededRandom(1))).toThrow(expect.objectContaining({ code: "mcp_token_unusable" }) as Error);
});

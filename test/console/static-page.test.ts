/** The page is files without data: anybody may have it, and nothing in it may be replaced by another site's. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { codeOf, consoleDesk } from "../harness/console-desk.ts";

function built(): string {
  const root = mkdtempSync(join(tmpdir(), "retinue-page-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, "page/assets"), { recursive: true });
  writeFileSync(join(root, "page/index.html"), "<!doctype html><title>Console</title>");
  writeFileSync(join(root, "page/assets/main-1a2b.js"), "void 0;");
  writeFileSync(join(root, "secret.txt"), "secret");
  return join(root, "page");
}

test("the page comes without a login, under a policy without inline code", async () => {
  const { ask } = await consoleDesk(undefined, { pageFolder: built() });
  const page = await ask("/");
  expect([page.status, page.text]).toEqual([200, "<!doctype html><title>Console</title>"]);
  expect(page.headers).toMatchObject({
    "content-security-policy": expect.stringMatching(/^default-src 'none'; script-src 'self'; style-src 'self'; .*frame-ancestors 'none'/),
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
  });
  const script = await ask("/assets/main-1a2b.js");
  expect([script.status, script.headers["cache-control"]]).toEqual([200, "public, max-age=31536000, immutable"]);
});

test("no other file is served, and the rest of the console stays where it is", async () => {
  const { ask } = await consoleDesk(undefined, { pageFolder: built() });
  const paths = ["/../secret.txt", "/%2e%2e/secret.txt", "/assets/..%2f..%2fsecret.txt", "/assets/", "/none.html"];
  const answers = await Promise.all(paths.map((path) => ask(path)));
  expect(answers.map(({ status }) => status >= 400)).toEqual(paths.map(() => true));
  expect(answers.map(({ text }) => text.includes("secret\n") || text === "secret")).toEqual(paths.map(() => false));
  expect((await ask("/healthz")).json).toEqual({ ok: true });
});

test("without a built page its place says what to do, and everything else works", async () => {
  const { ask } = await consoleDesk();
  const page = await ask("/");
  expect([page.status, codeOf(page), page.text]).toEqual([503, "page_missing", expect.stringContaining("npm run build")]);
  expect((await ask("/healthz")).status).toBe(200);
});

/** `retinue alerts` lists the targets, and `--test` tells which of them take an alert and why the others do not. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { inProcess } from "../harness/cli.ts";
import { project } from "../harness/project.ts";

const WRITES = `const { createWriteStream } = require("node:fs"); process.stdin.pipe(createWriteStream("alert.json"));`;

function targets(...to: readonly object[]): string {
  return project({ "retinue.config.json": JSON.stringify({ alerts: { to } }) }).root;
}

test("each target is tried, and a failure is told with its reason and exit code 1", async () => {
  const works = { command: [process.execPath, "-e", WRITES] };
  const cwd = targets(works, { url: "http://127.0.0.1:9/T0/secret-path" }, { urlFrom: "ALERT_URL" });
  const { code, stdout } = await inProcess(["alerts", "--test"], { cwd, env: { PATH: process.env["PATH"] ?? "" } });
  expect(code).toBe(1);
  expect(stdout).toMatch(
    /^took it {2}command .*node\nfailed {3}http:\/\/127\.0\.0\.1:9: .+\nfailed {3}ALERT_URL: ALERT_URL has no value\n$/,
  );
  expect(stdout).not.toContain("secret-path");
  expect(existsSync(join(cwd, "alert.json"))).toBe(true);
});

test("without --test nobody is told anything", async () => {
  const cwd = targets({ command: [process.execPath, "-e", WRITES] });
  const { code, stdout } = await inProcess(["alerts", "--json"], { cwd });
  expect([code, JSON.parse(stdout)]).toEqual([0, { ok: true, targets: [`command ${process.execPath}`] }]);
  expect(existsSync(join(cwd, "alert.json"))).toBe(false);
});

test("a project without targets is told how to name one, and its test does not succeed", async () => {
  const { root: cwd } = project();
  const { code, stdout } = await inProcess(["alerts", "--test"], { cwd });
  expect([code, stdout]).toEqual([1, expect.stringContaining("alerts: { to:")]);
});

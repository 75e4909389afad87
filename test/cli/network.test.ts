/** `retinue network` runs a network for a while, writes the keys to develop with, or prints its document. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { isObject, parseJson, textIn } from "../../src/core/json.ts";
import { inProcess } from "../harness/cli.ts";
import { project } from "../harness/project.ts";

test("it serves both sets for its time, and its file of keys is a complete .env", async () => {
  const { root } = project({ "agents/quill.yaml": "handle: quill\ntier: pro\n" });
  const { code, stdout, stderr } = await inProcess(["network", "--for", "50ms", "--json"], { cwd: root });
  expect(code).toBe(0);
  const lines = stderr.split("\n").map((line) => parseJson(line));
  const started = lines.find((one) => isObject(one) && one["type"] === "started");
  expect(started).toMatchObject({
    baseUrls: { a: expect.stringMatching(/^http:/) as string, b: expect.stringMatching(/^http:/) as string },
    handles: ["quill"],
  });
  expect(parseJson(stdout)).toMatchObject({ ok: true });
  const keys = readFileSync(textIn(isObject(started) ? started : undefined, "keyFile") ?? "", "utf8");
  for (const name of ["RETINUE_KEY_QUILL=", "RETINUE_BASE_URL=", "RETINUE_SET="]) expect(keys).toContain(name);
});

test("without definitions the first account is called scout", async () => {
  const { root } = project();
  const { stdout, stderr } = await inProcess(["network", "--for", "10ms", "--set", "b", "--json"], { cwd: root });
  expect(stderr).toContain('"handles":["scout"]');
  expect(stdout).not.toContain('"a":"http');
});

test("the document of one set or of both is printed, and nothing is served", async () => {
  const { root } = project();
  const one: unknown = JSON.parse((await inProcess(["network", "--openapi", "--set", "a", "--json"], { cwd: root })).stdout);
  expect(one).toMatchObject({ openapi: expect.any(String) as string });
  const both: unknown = JSON.parse((await inProcess(["network", "--openapi", "--json"], { cwd: root })).stdout);
  expect(both).toMatchObject({ a: { openapi: expect.any(String) as string }, b: { openapi: expect.any(String) as string } });
});

test("a folder that is named and holds nobody is a mistake", async () => {
  const { root } = project({ "bots/notes.txt": "none" });
  expect(await inProcess(["network", "--agents", "bots", "--for", "10ms"], { cwd: root })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("there is no specialist in this folder") as string,
  });
});

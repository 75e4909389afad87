/** `retinue doctor` with a network's OpenAPI document: found, given, or no document at all. */
import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { documentedNetwork } from "../harness/documented-network.ts";
import { inProcess, type Finished } from "../harness/cli.ts";
import { project } from "../harness/project.ts";

/** An accent whose every path, body and field has another name than a set's. */
const SEED = 2;
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function town(serves: boolean) {
  const served = await documentedNetwork(SEED, "b", serves);
  closers.push(served.close);
  const { key } = served.network.provision({ handle: "scout", tier: "pro", set: "b" });
  const { root: cwd } = project({ "agents/scout.yaml": "handle: scout\ntier: pro\nmay: [posts.reply]\n" });
  const doctor = (...args: string[]): Promise<Finished> =>
    inProcess(["doctor", "--base-url", served.baseUrl, "--store", "sqlite:store.sqlite", ...args], {
      cwd,
      env: { RETINUE_KEY_SCOUT: key },
    });
  return { ...served, cwd, doctor };
}

test("a network that serves its document is drafted without a line from a person, and the draft fits", async () => {
  const { cwd, doctor, looks, spoken, network } = await town(true);
  const first = await doctor("--write", "profile.yaml");
  expect(first.stderr).toBe("");
  expect(first.code).toBe(0);
  expect(first.stdout).toMatch(/ok +document OpenAPI 3\.1\.0 at http/);
  const file = readFileSync(join(cwd, "profile.yaml"), "utf8");
  expect(file).toContain(spoken.documented.b["posts.reply"]?.path.replace("{target}", ":id"));
  expect(file).toMatch(/# a guess: .+; settle it: .+/);
  expect(first.stdout).toMatch(/doubts? to resolve:\n( {2}[\w., -]+: .+\n)+/);
  expect(network.truth.effects({ agent: "scout" })).toEqual([]);
  expect(looks).toEqual(["/openapi.json"]);
  const second = await doctor("--diff", "profile.yaml");
  expect(second.stdout).toContain("nothing changed since then");
  expect(second.code).toBe(0);
});

test("a document can be given as a file, and a network without one is looked at a few times only", async () => {
  const { cwd, doctor, document, looks } = await town(false);
  await doctor();
  expect(looks.length).toBeGreaterThan(0);
  expect(looks.length).toBeLessThanOrEqual(8);
  const before = looks.length;
  writeFileSync(join(cwd, "openapi.json"), document);
  const { stdout, code } = await doctor("--openapi", "openapi.json");
  expect(stdout).toMatch(/ok +document OpenAPI 3\.1\.0 at openapi\.json/);
  expect(code).toBe(0);
  expect(looks.length).toBe(before);
});

test("a network that refuses the key is not examined: the document alone is drafted, and the end says so", async () => {
  const { cwd, doctor, network } = await town(true);
  network.regenerateKey("scout");
  const { code, stdout } = await doctor("--write", "profile.yaml");
  expect(code).toBe(1);
  expect(stdout).toContain("the network does not accept this key (401)");
  const file = readFileSync(join(cwd, "profile.yaml"), "utf8");
  expect(file).toContain("of its findings are open problems");
  expect(file).toMatch(/posts\.reply:/);
});

test("what a person wrote beside a document stays as it is", async () => {
  const { cwd, doctor } = await town(true);
  const mine = "extends: set-b # mine\nstatuses: { open: [anything_goes] }\noperations:\n  posts.reply: { path: /v1/mine/:id } # by hand\n";
  writeFileSync(join(cwd, "mine.yaml"), mine);
  const { stderr } = await doctor("--profile", "mine.yaml", "--write", "mine.yaml");
  expect(stderr).toBe("");
  const file = readFileSync(join(cwd, "mine.yaml"), "utf8");
  expect(file).toMatch(/extends: set-b # mine\nstatuses: \{ open: \[ ?anything_goes ?\] \}\n/);
  expect(file).toContain("{ path: /v1/mine/:id } # by hand\n");
  expect(file).toMatch(/jobs\.apply:/);
});

describe("a document that cannot be used ends the doctor with advice", () => {
  test.each([
    ["is not there", "nowhere.yaml", "cannot be read"],
    ["is a web page", "page.html", "web page"],
    ["has 50 MB", "large.json", "more than 4,194,304 bytes are not read"],
    ["is no address of the web", "ftp://example.com/x", "neither an http(s) address nor a file"],
  ])("%s", async (_, given, says) => {
    const { cwd, doctor } = await town(false);
    writeFileSync(join(cwd, "page.html"), "<html></html>");
    writeFileSync(join(cwd, "large.json"), "");
    truncateSync(join(cwd, "large.json"), 50_000_000);
    const { code, stderr } = await doctor("--openapi", given);
    expect(code).toBe(2);
    expect(stderr).toContain(says);
  });
});

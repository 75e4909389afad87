/** `retinue completion` prints a script that a shell takes, and that completes commands, their options and handles. */
import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { COMMANDS } from "../../src/cli/commands.ts";
import { SHELLS } from "../../src/cli/completion-script.ts";
import { parseJson } from "../../src/core/json.ts";
import { inProcess } from "../harness/cli.ts";
import { project } from "../harness/project.ts";
import { timesAsLong } from "../harness/times-as-long.ts";

async function script(shell: string): Promise<string> {
  const { code, stdout } = await inProcess(["completion", shell], { cwd: project().root });
  expect(code).toBe(0);
  return stdout;
}

/** Words that bash offers in a folder, without options. */
async function completeIn(cwd: string, line: string): Promise<{ readonly words: readonly string[]; readonly stderr: string }> {
  const words = line.split(" ").map((word) => `'${word}'`);
  const source = `retinue() { '${process.execPath}' '${BIN}' "$@"; }
    ${await script("bash")}
    COMP_WORDS=(${words.join(" ")}); COMP_CWORD=${words.length - 1}; _retinue; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync("bash", ["--norc", "-uc", source], { cwd, encoding: "utf8" });
  return { words: stdout.split("\n").filter((word) => /^[^-]/.test(word)), stderr };
}

const BIN = join(import.meta.dirname, "../../bin/retinue.js");
/** In starts of Node on the same machine, about 25 ms each: 1.3 are needed, and 6.4 by a whole command. A shell that takes 200 ms is felt. */
const MAX_STARTS = 4;

const CHECKED: { readonly [shell: string]: readonly string[] } = { bash: ["-n"], zsh: ["-n"], fish: ["--no-execute"] };
const isHere = (shell: string): boolean => {
  try {
    execFileSync(shell, ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
};

test.each(SHELLS)("the script for %s names every command, and the shell takes it where it is installed", async (shell) => {
  const { root, write } = project();
  const { stdout } = await inProcess(["completion", shell], { cwd: root });
  for (const { name } of COMMANDS) expect(stdout).toContain(name);
  write("script", stdout);
  if (isHere(shell)) execFileSync(shell, [...(CHECKED[shell] ?? []), join(root, "script")]);
});

test.each([
  ["retinue sta", ["status"]],
  ["retinue status --w", ["--watch"]],
  ["retinue --json completion z", ["zsh"]],
  ["retinue help sim", ["simulate"]],
  ["retinue status --nothing", []],
])("bash completes %j to %j", async (line, completed) => {
  const words = line.split(" ");
  const source = `${await script("bash")}
    COMP_WORDS=(${words.join(" ")}); COMP_CWORD=${words.length - 1}; _retinue; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const said = execFileSync("bash", ["--norc", "-uc", source], { encoding: "utf8" });
  expect(said.split("\n").filter((word) => word !== "")).toEqual(completed);
});

test.each([
  ["retinue pause ", ["scout", "scribe"]],
  ["retinue why scr", ["scribe"]],
  ["retinue log --as s", ["scout", "scribe"]],
  ["retinue log ", []],
  ["retinue pause --as", []],
])("bash completes %j to the handles of the folder %j", async (line, completed) => {
  const { root, write } = project();
  for (const handle of ["scout", "scribe"]) write(`agents/${handle}.yaml`, `handle: ${handle}\n`);
  expect(await completeIn(root, line)).toEqual({ words: completed, stderr: "" });
});

test("a folder without definitions completes to no handle, and says nothing", async () => {
  expect(await completeIn(project().root, "retinue pause ")).toEqual({ words: [], stderr: "" });
});

test("the handles are there before a person waits for them, and with --json as one object", async () => {
  const { root, write } = project();
  write("agents/scout.yaml", "handle: scout\n");
  const { code, stdout } = await inProcess(["completion", "--handles", "--json"], { cwd: root });
  expect([code, parseJson(stdout)]).toEqual([0, { ok: true, handles: ["scout"] }]);
  const node = (...words: readonly string[]) => execFileSync(process.execPath, words, { cwd: root });
  const starts = timesAsLong(
    () => node(BIN, "completion", "--handles"),
    () => node("--eval", "0"),
    MAX_STARTS,
    () => performance.now(),
  );
  expect(starts).toBeLessThanOrEqual(MAX_STARTS);
});

test("another shell is refused with those that there are", async () => {
  const { code, stderr } = await inProcess(["completion", "tcsh"], { cwd: project().root });
  expect([code, stderr]).toEqual([2, expect.stringMatching(/no completion for "tcsh"[\s\S]*bash or zsh or fish/)]);
});

/** `retinue completion` prints a script that a shell takes, and that completes commands and their options. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { COMMANDS } from "../../src/cli/commands.ts";
import { SHELLS } from "../../src/cli/completion-script.ts";
import { inProcess } from "../harness/cli.ts";
import { project } from "../harness/project.ts";

async function script(shell: string): Promise<string> {
  const { code, stdout } = await inProcess(["completion", shell], { cwd: project().root });
  expect(code).toBe(0);
  return stdout;
}

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
  const said = execFileSync("bash", ["-uc", source], { encoding: "utf8" });
  expect(said.split("\n").filter((word) => word !== "")).toEqual(completed);
});

test("another shell is refused with those that there are", async () => {
  const { code, stderr } = await inProcess(["completion", "tcsh"], { cwd: project().root });
  expect([code, stderr]).toEqual([2, expect.stringMatching(/no completion for "tcsh"[\s\S]*bash or zsh or fish/)]);
});

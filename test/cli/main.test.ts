/** The command line itself: help, versions, exit codes, and errors that fit a screen. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { COMMANDS } from "../../src/cli/commands.ts";
import { createOutput, problemLines, wantsColour } from "../../src/cli/output.ts";
import { createPaint, printable } from "../../src/cli/text.ts";
import { project } from "../harness/project.ts";
import { HOSTILE, steered } from "../harness/hostile.ts";
import { inProcess, retinue } from "../harness/cli.ts";

const manifest = readFileSync(join(import.meta.dirname, "../../package.json"), "utf8");
const { version } = JSON.parse(manifest) as { version: string };
const cwd = import.meta.dirname;
const BIN = join(cwd, "../../bin/retinue.js");

describe("retinue", () => {
  test("--version prints the version of the package", async () => {
    expect(await retinue(["--version"], { cwd })).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
  });

  test.each([[[]], [["--help"]], [["help"]]])("%j lists the commands there are", async (args) => {
    const { code, stdout, stderr } = await retinue(args, { cwd });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    for (const { name } of COMMANDS) expect(stdout).toMatch(new RegExp(`^  ${name} `, "m"));
  });

  test.each(COMMANDS.map(({ name }) => name))("%s has help and takes --json", async (name) => {
    const { command } = (await COMMANDS.find((entry) => entry.name === name)?.load()) ?? {};
    expect(command?.name).toBe(name);
    const { code, stdout } = await inProcess([name, "--help"], { cwd });
    expect(code).toBe(0);
    expect(stdout).toContain(`retinue ${name}`);
    expect(stdout).toContain("--json");
  });

  test.each([
    { args: ["chekc"], message: 'there is no command "chekc"', hint: 'did you mean "check"?' },
    { args: ["check", "--agnets", "x"], message: "unknown option '--agnets'", hint: "retinue check --help" },
    { args: ["check", "--agents"], message: "argument missing", hint: "retinue check --help" },
    { args: ["check", "too", "many"], message: "too many arguments", hint: "retinue check --help" },
    { args: ["--strange"], message: "unknown option", hint: "--help" },
  ])("$args is misused: exit 2, and says what to try", async ({ args, message, hint }) => {
    const { code, stdout, stderr } = await retinue(args, { cwd });
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
    expect(stderr).toContain(hint);
    const json = await inProcess([...args, "--json"], { cwd });
    expect(json).toMatchObject({ code: 2, stderr: "" });
    expect(JSON.parse(json.stdout)).toMatchObject({ error: { message: expect.stringContaining(message) } });
  });

  test("output that cannot be written is a failure, and a reader that went away is none", async () => {
    const written = (to: string) => spawnSync("bash", ["-c", `"$0" "$1" --help ${to}`, process.execPath, BIN], { encoding: "utf8" });
    expect(written("> /dev/full")).toMatchObject({ status: 1, stderr: expect.stringContaining("ENOSPC") });
    expect(written("| true; exit ${PIPESTATUS[0]}")).toMatchObject({ status: 0, stderr: "" });
  });

  test("an old Node is told what to do, before anything is imported", async () => {
    const older = `--import=data:text/javascript,Object.defineProperty(process.versions,"node",{value:"18.20.0"})`;
    const { code, stdout, stderr } = await retinue(["check"], { cwd, nodeOptions: [older] });
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/needs Node 24\.15/);
    const json = await retinue(["check", "--json"], { cwd, nodeOptions: [older] });
    expect(JSON.parse(json.stdout)).toMatchObject({ error: { code: "node_too_old" } });
  });

  test("no stack is shown, unless DEBUG asks for it", async () => {
    const { root } = project({ "retinue.config.yaml": "[" });
    const { stderr } = await retinue(["chekc"], { cwd: root });
    expect(stderr).not.toContain("    at ");
    expect((await retinue(["chekc"], { cwd: root, env: { DEBUG: "1" } })).stderr).toContain("    at ");
  });
});

describe("output", () => {
  const stream = (isTTY: boolean) => ({
    text: "",
    isTTY,
    columns: 80,
    write(text: string) {
      this.text += text;
    },
  });

  test("is coloured on a terminal only, never with NO_COLOR, always with FORCE_COLOR", () => {
    expect(wantsColour(stream(true), {})).toBe(true);
    expect(wantsColour(stream(false), {})).toBe(false);
    expect(wantsColour(stream(true), { NO_COLOR: "1" })).toBe(false);
    expect(wantsColour(stream(true), { TERM: "dumb" })).toBe(false);
    expect(wantsColour(stream(false), { FORCE_COLOR: "1" })).toBe(true);
  });

  test("with --json is one object on stdout, and progress on stderr", () => {
    const [stdout, stderr] = [stream(true), stream(true)];
    const out = createOutput({ json: true, colour: false, stdout, stderr, cwd: "/" });
    out.line("for people");
    out.table([{ a: 1 }], [{ title: "a", value: (row) => row.a }]);
    out.progress({ event: "reply" }, "replied");
    out.result({ ok: true });
    expect([stdout.text, stderr.text]).toEqual(['{"ok":true}\n', '{"event":"reply"}\n']);
  });

  test("lines tables up, and cuts a cell that is too long for any", () => {
    const [stdout, stderr] = [stream(false), stream(false)];
    const out = createOutput({ json: false, colour: false, stdout, stderr, cwd: "/" });
    out.table(
      [
        { name: "a", n: 1 },
        { name: "long ".repeat(80), n: 1_000 },
      ],
      [
        { title: "name", value: (row) => row.name },
        { title: "n", value: (row) => row.n, align: "right" },
      ],
    );
    const lines = stdout.text.split("\n");
    expect(lines.slice(0, 3)).toEqual(["a", "  n  1", "long ".repeat(16).trimEnd()]);
    expect(lines.slice(-3)).toEqual([expect.stringMatching(/^long.*…$/), "  n  1000", ""]);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
  });

  test("is one line that hides nothing, whatever the text is", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", size: "medium" }), (text) => {
        const { text: shown } = printable(text);
        expect(steered(shown)).toEqual([]);
        expect(shown).not.toContain("\n");
      }),
    );
  });

  test.each(["a👩‍👩‍👧‍👦b", "❤️ 🏳️‍🌈", "می‌خواهم", "क्‍ष", "مرحبا ١٢٣", "שלום", "数据 を", "e\u0301", "x│y \\u001b"])("leaves %j as it is", (text) => {
    expect(printable(text).text).toBe(text);
  });

  test("as JSON is the same value, whatever is in it", () => {
    const [stdout, stderr] = [stream(false), stream(false)];
    createOutput({ json: true, colour: false, stdout, stderr, cwd: "/" }).result({ [HOSTILE]: HOSTILE });
    expect(steered(stdout.text)).toEqual([]);
    expect(JSON.parse(stdout.text)).toEqual({ [HOSTILE]: HOSTILE });
  });

  test("of a problem says what, where, and what to try, in a line each", () => {
    const lines = problemLines(
      { level: "error", code: "x:y", message: "m\u001B[31m\nerror: forged", file: "/p/a.ts", line: 3, hint: "h" },
      createPaint(false),
      "/p",
    );
    expect(lines.map(String)).toEqual(["error: m\\u001b[31m\\nerror: forged", "  in        a.ts:3", "  try       h"]);
  });

  test("of a problem is wrapped at words on a terminal, advice aside, which holds commands", () => {
    const terminal = { ...stream(true), columns: 40 };
    const hint = "retinue doctor --base-url https://network.example/v1 --write profile.yaml";
    const lines = problemLines(
      {
        level: "error",
        code: "x:y",
        message: "the key of scout was refused by the network twice",
        expected: "a key that the network takes for scout and for quill",
        hint,
      },
      createPaint(false),
      "/p",
      terminal,
    );
    expect(lines.map(String)).toEqual([
      "error: the key of scout was refused",
      "            by the network twice",
      "  expected  a key that the network takes",
      "            for scout and for quill",
      `  try       ${hint}`,
    ]);
  });
});

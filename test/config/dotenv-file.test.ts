/** Lines of `.env` that dotenv would ignore, or read otherwise than meant: each is named by its line, and its value is not said. */
import { execFileSync, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { readDotenv } from "../../src/config/dotenv-file.ts";
import { project } from "../harness/project.ts";

function problemsIn(text: string | Uint8Array): readonly string[] {
  const { root } = project();
  writeFileSync(`${root}/.env`, text);
  return readDotenv(`${root}/.env`, true).problems.map(({ line, message }) => `${line ?? ""}: ${message}`);
}

test.each([
  ["a name without a value", "A=1\n\nLLM_KEY\n", "3: the line is ignored"],
  ["a shell's way to set", "set A=sk_value\n", "1: the line is ignored"],
  ["a space in a name", "# first\nLLM KEY=sk_value", "2: the line is ignored"],
  ["a quote that does not close", 'A=1\nB="sk_value\nC=2', '2: the value of B begins with " and does not end with it'],
  ["text after a closed quote", 'B="sk" value', '1: the value of B begins with "'],
  ["a value that a # cuts", "A=1\r\nPASSWORD=sk_value#1", "2: the value of PASSWORD ends before its #"],
  ["a name given twice", "A=sk_value\nB=2\nexport A=3", "3: A is given twice"],
])("%s is told with its line", (_name, text, expected) => {
  expect(problemsIn(text)).toEqual([expect.stringContaining(expected) as string]);
  expect(problemsIn(text).join()).not.toContain("sk_value");
});

test("a file that is as before is not parsed again, one that has changed is", () => {
  const { root } = project();
  const read = (text: string) => {
    writeFileSync(`${root}/.env`, text);
    return readDotenv(`${root}/.env`).variables;
  };
  const first = read("A=1");
  expect(read("A=1")).toBe(first);
  expect(read("A=2")).toEqual({ A: "2" });
  expect(read("A=1")).toEqual({ A: "1" });
});

test("a file is read in whole after a longer and after a shorter one, whatever its size says", () => {
  const { root } = project();
  execFileSync("mkfifo", [`${root}/pipe`]); // its size is 0
  const writing = spawn("sh", ["-c", `for i in $(seq 3000); do echo "NAME_$i=value"; done > ${root}/pipe`], { stdio: "ignore" });
  onTestFinished(() => void writing.kill());
  expect(Object.keys(readDotenv(`${root}/pipe`).variables)).toHaveLength(3_000);
  const variables = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`NAME_${i}`, `value ${i} ${"é".repeat(50)}`]));
  for (const count of [1, 4_000, 2, 7_000, 0]) {
    writeFileSync(
      `${root}/.env`,
      Object.entries(variables(count))
        .map((pair) => pair.join("="))
        .join("\n"),
    );
    expect(readDotenv(`${root}/.env`)).toEqual({ variables: variables(count), problems: [] });
  }
  writeFileSync(`${root}/.env`, `A=${"x".repeat(1_024 * 1_024)}`);
  expect(problemsIn("A=1")).toEqual([]);
  expect(readDotenv(`${root}/.env`)).toMatchObject({ variables: {}, problems: [{ message: "is larger than 1048576 bytes" }] });
});

test("a file that PowerShell wrote in UTF-16 is told, as nothing in it can be read", () => {
  expect(problemsIn(Buffer.from("\ufeffLLM_KEY=1\r\n", "utf16le"))).toEqual([": is not UTF-8 text"]);
});

test("a line that dotenv reads as meant is not reported", () => {
  const fine = [
    "# a comment",
    "export A=1 # one",
    "B = two words ",
    "C='a # b'",
    'D="line one\nline two, #2"  # both',
    "E=",
    "F=it's",
    'G={"a":1}',
    "H=`x`",
    "I: yaml",
    "",
  ];
  expect(problemsIn(fine.join("\n"))).toEqual([]);
  expect(problemsIn("")).toEqual([]);
});

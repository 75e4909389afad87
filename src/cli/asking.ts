/** Asks the person at the terminal, where there is one. */
import { createInterface } from "node:readline";
import type { TextStream } from "./output.ts";
import { printable, type Text } from "./text.ts";

/** A line of an answer; undefined where the input ends without one. */
export type Ask = (question: Text) => Promise<string | undefined>;

export type Input = NodeJS.ReadableStream & { readonly isTTY?: boolean };

/** Undefined where nobody sees the question or nobody can answer it. */
export function createAsk(stdin: Input | undefined, stdout: TextStream): Ask | undefined {
  if (stdin?.isTTY !== true || stdout.isTTY !== true) return undefined;
  return (question) =>
    new Promise((resolve) => {
      stdout.write(`${printable(question).text} `);
      const lines = createInterface({ input: stdin, terminal: false });
      lines.once("line", (answer) => {
        resolve(answer);
        lines.close();
      });
      lines.once("close", () => resolve(undefined));
    });
}

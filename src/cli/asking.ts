/** Asks the person at the terminal, if there is one. */
import { createInterface } from "node:readline";
import type { Output, TextStream } from "./output.ts";
import { printable, type Text } from "./text.ts";

/** Returns one line of answer; undefined if the input ends without one. */
export type Ask = (question: Text) => Promise<string | undefined>;

/** Asks for a yes; anything else counts as no. */
export async function confirmed(ask: Ask, question: Text, out: Output): Promise<boolean> {
  out.line();
  const answer = await ask(out.paint.bold(question));
  if (answer === undefined) out.line();
  return /^\s*y(es)?\s*$/i.test(answer ?? "");
}

export type Input = NodeJS.ReadableStream & { readonly isTTY?: boolean };

/** Undefined if nobody sees the question or nobody can answer it. */
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

/** A failed handling as stored: its message, its place, and the pattern by which it is grouped. */
import { describe, expect, test } from "vitest";
import { LOADING_QUERY } from "../../src/config/module-file.ts";
import { Refused } from "../../src/core/errors.ts";
import { failureOf, patternOf } from "../../src/handlers/failed-run.ts";

const KEY = "sk_live_0123";
const about = { at: 5, tries: 2, clean: (text: string) => text.replaceAll(KEY, "[secret]") };

function thrown(message: string, stack: string, details: ErrorOptions = {}): Error {
  const error = new Error(message, details);
  error.stack = `Error: ${message}\n${stack}`;
  return error;
}

test("the code is the error's own, or that a handler threw", () => {
  expect(failureOf(new Refused("not_allowed", "no"), about)).toMatchObject({ at: 5, tries: 2, code: "not_allowed", message: "no" });
  expect(failureOf("a string", about)).toMatchObject({ code: "handler_threw", message: "a string" });
});

test("a message has that of its cause, once", () => {
  expect(failureOf(new Error("fetch failed", { cause: new Error("ECONNREFUSED") }), about).message).toBe("fetch failed: ECONNREFUSED");
  expect(failureOf(new Error("it failed: no", { cause: new Error("no") }), about).message).toBe("it failed: no");
});

test("no part of it holds a secret, though it is cut", () => {
  const failure = failureOf(thrown(`${"x".repeat(990)} ${KEY}`, `    at talk (file:///bots/${KEY}.ts:3:1)`), about);
  expect(JSON.stringify(failure)).not.toContain("0123");
  expect(failure.message.length).toBeLessThanOrEqual(1_010);
});

describe("the place", () => {
  const placeOf = (stack: string) => {
    const { file, line } = failureOf(thrown("no", stack), about);
    return file === undefined ? undefined : `${file}:${line}`;
  };

  test("is the frame nearest to the throw that is neither ours nor a package's", () => {
    const ours = new URL("../../src/specialist/run.ts", import.meta.url).href;
    expect(
      placeOf(
        `    at parse (file:///bots/node_modules/csv/index.js:9:9)\n    at talk (file:///bots/scout.ts:12:5)\n    at runHandler (${ours}:40:3)\n    at file:///bots/other.ts:1:1`,
      ),
    ).toBe("/bots/scout.ts:12");
  });

  test("is that of a definition before any other, without the mark of its load", () => {
    const stack = `    at helper (file:///lib/helper.ts:2:2)\n    at talk (file:///bots/scout.ts${LOADING_QUERY}3:7:1)`;
    expect(placeOf(stack)).toBe("/bots/scout.ts:7");
  });

  test("is unknown where a stack has none", () => {
    expect(placeOf("    at <anonymous>")).toBeUndefined();
    expect(failureOf("a string", about)).not.toHaveProperty("stack");
  });
});

test.each([
  ['no post "p_17" of amy', "no post … of amy"],
  ["job_20 was given to agt-9", "# was given to #"],
  ["took 1,204 ms,  twice", "took #,# ms, twice"],
])("%j is grouped as %j", (message, pattern) => {
  expect(patternOf(message)).toBe(pattern);
});

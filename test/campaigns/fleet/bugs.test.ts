/** The planted bugs of a fleet have their place in the source; `npm run crash -- --fleet-bugs` shows that each is found. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PLANTED_BUGS } from "./bugs.ts";

const ROOT = join(import.meta.dirname, "../../..");

test.each(PLANTED_BUGS)("$name: it can be planted, and tests that have to find it are there", ({ file, from, to, tests }) => {
  expect(readFileSync(join(ROOT, file), "utf8").split(from)).toHaveLength(2);
  expect(to).not.toBe(from);
  expect(existsSync(join(ROOT, tests))).toBe(true);
});

/** What SQLite makes of our statements that reading them does not show. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const STORE = join(import.meta.dirname, "../../src/store");

test("no statement has a bare bound limit: SQLite prepares such a one anew for every call, which took 10 µs against 1", () => {
  const files = globSync("**/*.ts", { cwd: STORE });
  const bound = files.filter((file) => /\bLIMIT\s+0 \+ \?/i.test(readFileSync(join(STORE, file), "utf8")));
  const bare = files.filter((file) => /\b(?:LIMIT|OFFSET)\s+[?:@$](?!\{)/i.test(readFileSync(join(STORE, file), "utf8")));
  expect(bound).not.toEqual([]);
  expect(bare).toEqual([]);
});

/** The public surface as text: a change of it is a change of api/*.md. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { apiPages } from "../scripts/api-pages.ts";

const ROOT = join(import.meta.dirname, "..");

test("api/*.md is the public surface as it is: after a change that is meant, run `npm run api`", () => {
  const pages = apiPages();
  expect(
    readdirSync(join(ROOT, "api"))
      .map((name) => `api/${name}`)
      .toSorted(),
  ).toEqual([...pages.keys()].toSorted());
  for (const [path, text] of pages) expect(readFileSync(join(ROOT, path), "utf8"), path).toBe(text);
});

/** The version is the manifest's. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readVersion } from "../../src/core/version.ts";

test("the version is that of package.json", () => {
  const manifest = JSON.parse(readFileSync(join(import.meta.dirname, "../../package.json"), "utf8")) as { readonly version: string };
  expect(readVersion()).toBe(manifest.version);
});

/** How tests run: by Node as it is, without a transform, so that what is tested is what ships. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

// Node compiles each module once, and not once for each of 600 files: a seventh of the time.
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, "node_modules/.cache/compile");

/** The files that take longest begin first, so that none of them runs alone at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const long = new Set(sorted.filter(({ moduleId }) => moduleId.includes("/test/campaigns/") || statesLongLimit(moduleId)));
    return [...long, ...sorted.filter((file) => !long.has(file))];
  }
}

/** True if a test of the file may take four minutes or more. */
function statesLongLimit(path: string): boolean {
  return /timeout: (?:(?:2[4-9]|[3-9]\d)\d_000|[4-9] \* MINUTE)\b/.test(readFileSync(path, "utf8"));
}

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    experimental: { viteModuleRunner: false, nodeLoader: false },
    execArgv: ["--conditions=retinue-source"],
    // The console serves its page built.
    globalSetup: ["./test/harness/present-page.ts"],
    pool: "forks",
    // One more than two processors: a third of what tests do is wait, for processes, servers and clocks.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    reporters: [["default", { summary: false }], "./test/harness/counts.ts"],
    testTimeout: 20_000,
    hookTimeout: 20_000,
  },
});

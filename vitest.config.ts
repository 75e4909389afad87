/** How tests run: by Node as it is, without a transform, so that what is tested is what ships. */
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

// Node compiles each module once, and not once for each of 600 files: a seventh of the time.
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, "node_modules/.cache/compile");

/** Folders and files that take longest. */
const LONG = ["/test/campaigns/", "/nothing-lost/fleet.test.ts", "/any-network/invented-networks.test.ts"] as const;

/**
 * Those with large heaps or many processes, or that change the process itself (an SDK of traces), each begin in a process of their own. The
 * others share a few, which saves a third of their time.
 */
const APART = [
  "test/campaigns/**/*.test.ts",
  "test/promises/**/*.test.ts",
  "test/runtime/**/*.test.ts",
  "test/cli/**/*.test.ts",
  "test/console/**/*.test.ts",
  "test/guardian/{moving,fleet}-guardian.test.ts",
  "test/signals/traces.test.ts",
  "test/*.test.ts",
];

/** They begin first, so that none of them runs alone at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification): boolean => LONG.some((part) => moduleId.includes(part));
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: "rooms",
          include: ["test/**/*.test.ts"],
          exclude: APART,
          isolate: false,
          setupFiles: ["./test/harness/leaves-no-trace.ts"],
        },
      },
      { extends: true, test: { name: "apart", include: APART } },
    ],
    experimental: { viteModuleRunner: false, nodeLoader: false },
    execArgv: ["--conditions=retinue-source"],
    // The console serves its page built.
    globalSetup: ["./test/harness/present-page.ts"],
    pool: "forks",
    // One more than two processors: a third of what tests do is wait, for processes, servers and clocks.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    reporters: [["default", { summary: false }], "./test/harness/counts.ts"],
    // Bounds for what hangs: a machine that is busy with three workers may take a good part of them.
    testTimeout: 120_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 60_000 } },
  },
});

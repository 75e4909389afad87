/** How tests run: by Node as it is, without a transform, so that what is tested is what ships. */
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    experimental: { viteModuleRunner: false, nodeLoader: false },
    execArgv: ["--conditions=retinue-source"],
    // The console serves its page built.
    globalSetup: ["./test/harness/present-page.ts"],
    pool: "forks",
    maxWorkers: 2,
    reporters: [["default", { summary: false }], "./test/harness/counts.ts"],
    testTimeout: 20_000,
    hookTimeout: 20_000,
  },
});

/** Closes a test run with one plain line of counts, for people and for whatever reads the log. */
import type { Reporter, TestModule } from "vitest/node";

export default class Counts implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const count = { passed: 0, failed: 0, skipped: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === "passed" || state === "failed" || state === "skipped") count[state]++;
      }
      if (module.errors().length > 0) count.failed++;
    }
    process.stdout.write(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped\n`);
  }
}

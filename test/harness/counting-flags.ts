/**
 * Flags of Node for a process whose garbage is counted: nothing is collected meanwhile, and code is compiled at the same event on a busy
 * machine as on an idle one.
 */
export const COUNTING_FLAGS: readonly string[] = [
  "--expose-gc",
  "--no-concurrent-recompilation",
  "--min-semi-space-size=64",
  "--max-semi-space-size=64",
  "--conditions=retinue-source",
];

/** One small flow, cut at its points: reading, being told, deciding, admitting, sending, recording, settling. */
import { expect, test } from "vitest";
import { simulate } from "../../../src/simulation/simulate.ts";
import { worker } from "../../harness/simulation-cast.ts";

const flow = {
  specialists: [worker],
  seed: 5,
  hours: 1,
  faults: "none",
  webhooks: true,
  crowd: { postsPerHour: 2, jobsPerHour: 1, repliesPerHour: 0, followsPerHour: 2 },
} as const;
/** With 1, every point is cut. */
const STRIDE = 16;

test("a process that dies at any of its boundaries loses nothing and doubles nothing", async () => {
  const whole = await simulate(flow);
  expect(whole.boundaries).toBeGreaterThan(200);
  const broken: unknown[] = [];
  let died = 0;
  for (let point = whole.boundaries % STRIDE; point < whole.boundaries; point += STRIDE) {
    const { violations, errors, stats } = await simulate({ ...flow, crashAt: point });
    if (violations.length + errors.length > 0) broken.push({ point, violations, errors });
    died += stats.crashes;
  }
  expect(broken).toEqual([]);
  expect(died).toBeGreaterThan((0.9 * whole.boundaries) / STRIDE); // the last points lie in the graceful end
});

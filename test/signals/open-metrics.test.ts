import { expect, test } from "vitest";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { Misconfigured } from "../../src/core/errors.ts";
import { createAnnouncer } from "../../src/core/events.ts";
import { Scrubber } from "../../src/core/scrubber.ts";
import { openMetrics } from "../../src/signals/open-metrics.ts";

const never = (): never => {
  throw new Error("it is not asked");
};
const options = {
  announcer: createAnnouncer(),
  clock: virtualClock(),
  scrubber: new Scrubber(),
  status: never,
  backlog: never,
  specialistCount: () => 0,
};

test("a package that is not installed is told, and any other failure is one", async () => {
  const missing = new Misconfigured("peer_missing", "the package prom-client is not installed", { hint: "npm install" });
  expect(await openMetrics(options, () => Promise.reject(missing))).toEqual({ missing });
  await expect(openMetrics(options, () => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
});

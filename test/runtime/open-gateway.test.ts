/** The gateway of a runtime: the Guardian's caps hold over all specialists together, beside those of each. */
import { expect, test } from "vitest";
import { credits, MINUTE } from "../../src/core/units.ts";
import { createSpecialist, spendCaps } from "../../src/specialist/specialist.ts";
import type { SpecialistDefinition } from "../../src/specialist/definition.ts";
import { harness, type Harness } from "../harness/harness.ts";

/** Offers jobs of five credits, one a minute. */
const patron = (handle: string, spend: SpecialistDefinition["spend"] = {}): SpecialistDefinition => ({
  handle,
  tier: "pro",
  may: ["jobs.create"],
  spend,
  schedules: { offer: { every: "1m", run: (act) => void act.createJob({ title: `Job at ${act.now}`, description: "x", reward: 5 }) } },
});

const offered = ({ network }: Harness, agent: string): number => network.truth.effects({ agent, operation: "jobs.create" }).length;

test("the Guardian's cap is one for all, a specialist's is its own, and what waits says which", async () => {
  const specialists = [patron("ann", { perDay: credits(5) }), patron("ben", { perDay: credits(500) })];
  const here = await harness({ specialists, guardianCaps: spendCaps({ perDay: credits(20) }) });
  await here.clock.advance(10 * MINUTE);
  expect([offered(here, "ann"), offered(here, "ben")]).toEqual([1, 3]);
  const why = await Promise.all(["ann", "ben"].map((handle) => here.clock.run(here.guardian.why({ id: handle }))));
  expect(why.map(({ reasons }) => reasons[0]?.rule)).toEqual(["spend_cap", "spend_cap"]);
});

test("a cap of a changed definition counts from then on", async () => {
  const here = await harness({ specialists: [patron("ann", { perDay: credits(5) })] });
  await here.clock.advance(5 * MINUTE);
  expect(offered(here, "ann")).toBe(1);
  await here.clock.run(here.runtime.put(createSpecialist(patron("ann", { perDay: credits(10) }))));
  await here.clock.advance(10 * MINUTE);
  expect(offered(here, "ann")).toBe(2);
});

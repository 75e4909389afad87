/** The doctor inside a runtime: its reads are charged like any other, and a spent quota ends it with the time to come back. */
import { expect, test } from "vitest";
import { MINUTE } from "../../src/core/units.ts";
import type { Finding } from "../../src/doctor/finding.ts";
import { examineNetwork } from "../../src/doctor/run-doctor.ts";
import { harness, type Harness } from "../harness/harness.ts";

async function examined(
  { clock, runtime }: Harness,
  maxCalls?: number,
): Promise<{ readonly findings: readonly Finding[]; readonly error?: unknown }> {
  const member = runtime.member("scout");
  if (member === undefined) throw new Error("no scout");
  const findings: Finding[] = [];
  const { gateway, ending, profile } = runtime.parts;
  const all = async (): Promise<void> => {
    const examination = { profile, ...(maxCalls === undefined ? {} : { maxCalls }) };
    for await (const one of examineNetwork({ gateway, ending }, member, examination)) findings.push(one);
  };
  try {
    await clock.run(all());
    return { findings };
  } catch (error) {
    return { findings, error };
  }
}

test("an examination reaches the end, writes nothing, and is charged to the key", async () => {
  const here = await harness({ specialists: [{ handle: "scout", tier: "pro" }] });
  const usedBefore = (await here.clock.run(here.guardian.status({}))).specialists[0]?.quota?.hour.used ?? 0;
  const { findings, error } = await examined(here);
  expect([error, findings[0]?.message, findings.some(({ severity }) => severity === "problem")]).toEqual([
    undefined,
    expect.stringContaining("the network answers (200"),
    false,
  ]);
  const used = (await here.clock.run(here.guardian.status({}))).specialists[0]?.quota?.hour.used ?? 0;
  expect(used - usedBefore).toBeGreaterThan(5);
  expect(here.network.truth.effects({ agent: "scout" })).toEqual([]);
});

test("a quota without room stops it, with the time at which it has room again", async () => {
  const here = await harness({
    specialists: [{ handle: "scout", tier: "free" }],
    profile: { tiers: { free: { perHour: 10, perDay: 500 } } },
  });
  const { findings, error } = await examined(here);
  expect(findings.length).toBeGreaterThan(0);
  expect(error).toMatchObject({ code: "quota_waits", retryAt: expect.any(Number) as number });
  expect((error as { readonly retryAt: number }).retryAt).toBeGreaterThan(here.clock.now() + MINUTE);
});

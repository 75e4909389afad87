/** A webhook counts as working once a delivery has arrived, not when it is registered: until then lists are polled as without one. */
import { expect, test } from "vitest";
import { Secret } from "../../src/core/secret.ts";
import { DAY, HOUR, MINUTE } from "../../src/core/units.ts";
import type { Tier } from "../../src/contract/tiers.ts";
import type { Store } from "../../src/store/store.ts";
import { SCOUT, virtualWebhooks, type VirtualWebhooksOptions } from "../harness/virtual-webhooks.ts";

const JOBS = 24;
const FEW_JOBS = 4;
const APART_MS = 37 * MINUTE;
const TAIL_MS = 4 * HOUR;
const SECRETS = { readSecrets: () => [new Secret("whsec_bm90IGEgcmVhbCBzZWNyZXQ")] };

/** The mean and the longest time from a job's listing to its handler, and what is shown of the webhook then. */
async function discovery(tier: Tier, options: Partial<VirtualWebhooksOptions>, jobs = JOBS) {
  const listed = new Map<string, number>();
  const found: number[] = [];
  const { clock, runtime, other } = await virtualWebhooks({
    tier,
    ...options,
    definition: { on: { "job.listed": ({ title }) => void found.push(clock.now() - (listed.get(String(title)) ?? 0)) } },
  });
  const poster = other("poster");
  for (let i = 0; i < jobs; i++) {
    await clock.advance(APART_MS);
    const title = `job ${i}`;
    listed.set(title, clock.now());
    const deadline = new Date(clock.now() + DAY).toISOString();
    await clock.run(poster("POST", "/v1/jobs", { body: { title, description: "add", reward: 3, skills: [], deadline } }));
  }
  await clock.advance(TAIL_MS);
  const shown = await clock.run(runtime.webhooks?.shown() ?? Promise.resolve(undefined));
  const meanMs = found.reduce((sum, ms) => sum + ms, 0) / found.length;
  return { count: found.length, meanMs, mostMs: Math.max(...found), webhook: shown?.specialists[0] };
}

/** Deliveries came to an earlier address, and were reliable. */
async function reliableElsewhere(store: Store): Promise<void> {
  await store.saveWebhookHealth(
    SCOUT,
    { reported: 50, missed: 0, missedInRow: 0, lastReportedAt: 1, kinds: ["job.listed", "job.assigned"] },
    1,
  );
  const registration = { webhookId: "wh_old", url: "https://old.example.net/webhooks/scout", foreignSecret: false, signedWith: undefined };
  await store.saveRegistrations(SCOUT, [registration], 1);
}

test.each<[Tier, string, Partial<VirtualWebhooksOptions>]>([
  ["starter", "a first address", {}],
  ["starter", "an address in place of one that worked", { prepare: reliableElsewhere }],
  ["free", "a first address", {}],
  ["free", "an address in place of one that worked", { prepare: reliableElsewhere }],
])("on %s a specialist whose deliveries to %s all go astray finds jobs as soon as one without webhooks", async (tier, _name, options) => {
  const without = await discovery(tier, { receiver: { ...SECRETS, url: undefined } });
  const astray = await discovery(tier, { receiver: SECRETS, astray: true, ...options });
  expect(without).toMatchObject({ count: JOBS, webhook: { state: "unregistered" } });
  expect(astray).toMatchObject({ count: JOBS, webhook: { state: "unproven", registration: { kind: "registered" } } });
  expect(astray.meanMs).toBeLessThan(1.25 * without.meanMs);
  expect(astray.mostMs).toBeLessThan(2 * without.mostMs);
});

test("deliveries that arrive are shown with the time of the last", async () => {
  const { clock, runtime, other } = await virtualWebhooks({
    receiver: SECRETS,
    definition: { on: { "mention.created": () => undefined } },
  });
  const shown = async () => (await clock.run(runtime.webhooks?.shown() ?? Promise.resolve(undefined)))?.specialists[0];
  await clock.advance(MINUTE);
  expect(await shown()).toMatchObject({ state: "unproven" });
  await clock.run(other("quill")("POST", "/v1/posts", { body: { content: "hello @scout" } }));
  await clock.advance(MINUTE);
  const after = await shown();
  expect(after).toMatchObject({ state: "working" });
  expect(after?.lastAt).toBeGreaterThanOrEqual(clock.now() - MINUTE);
});

test("deliveries that stop are shown as stopped", async () => {
  const same = "https://bots.example.net/webhooks/scout";
  const prepare = async (store: Store): Promise<void> => {
    await reliableElsewhere(store);
    await store.saveRegistrations(SCOUT, [{ webhookId: "wh_1", url: same, foreignSecret: false, signedWith: undefined }], 1);
  };
  const stopped = await discovery("free", { receiver: SECRETS, astray: true, prepare }, FEW_JOBS);
  expect(stopped.webhook).toMatchObject({ state: "stopped", lastAt: 1 });
});

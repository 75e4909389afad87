/** Our webhook on the network: exactly one, whatever was there before and whatever happens to it. */
import { afterEach, expect, test } from "vitest";
import type { Json, JsonObject } from "../../src/core/json.ts";
import { isObject } from "../../src/core/json.ts";
import { HOUR, MINUTE } from "../../src/core/units.ts";
import { keepRegistered } from "../../src/webhooks/registration.ts";
import { Secret } from "../../src/core/secret.ts";
import { asHandle } from "../../src/core/ids.ts";
import { records, textAt } from "../harness/visitor.ts";
import { harness } from "../harness/harness.ts";
import { SECRET, webhookLab, type WebhookLab } from "../harness/webhook-network.ts";

const open: WebhookLab[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.stop();
});

async function lab(options: Partial<Parameters<typeof webhookLab>[0]> = {}) {
  const one = await webhookLab({ definition: {}, register: false, ...options });
  open.push(one);
  const [member] = one.runtime.members();
  if (member === undefined) throw new Error("expected a specialist");
  const list = async (): Promise<JsonObject[]> => {
    const { json } = await one.me("GET", "/v1/webhooks");
    const { items } = json;
    return Array.isArray(items) ? items.filter((item: Json) => isObject(item)) : [];
  };
  const keep = (url: string, secret: Secret | "none" = new Secret(SECRET), told?: string) =>
    keepRegistered(one.runtime.parts, member, { url, secret: secret === "none" ? undefined : secret, told });
  return { ...one, member, list, keep };
}
const URL = "http://127.0.0.1:9/webhooks/scout";

test("is made once, and found again", async () => {
  const { keep, list } = await lab();
  const first = await keep(URL);
  expect(first).toMatchObject({ kind: "registered", isNew: true });
  expect({ ...(await keep(URL)), isNew: true }).toEqual(first);
  expect(await list()).toHaveLength(1);
});

test("is made again after somebody deleted it", async () => {
  const { keep, list, me } = await lab();
  await keep(URL);
  const [webhook] = await list();
  await me("DELETE", `/v1/webhooks/${textAt(webhook, "id")}`);
  expect(await keep(URL)).toMatchObject({ kind: "registered" });
  expect(await list()).toHaveLength(1);
});

test("is looked at again by itself: left alone while it is there, made again when it is gone", async () => {
  const { clock, network, as } = await harness({
    specialists: [{ handle: "scout", tier: "pro" }],
    receiver: {
      port: undefined,
      host: "",
      url: "https://receiver.example.net",
      allowUnsigned: false,
      readSecrets: () => [new Secret(SECRET)],
    },
  });
  const me = as("scout");
  const ids = async (): Promise<readonly string[]> => records(await me("GET", "/v1/webhooks")).map((one) => textAt(one, "id"));
  await clock.advance(MINUTE);
  const made = await ids();
  expect(made).toHaveLength(1);
  await clock.advance(13 * HOUR);
  expect(await ids()).toEqual(made);
  expect(network.truth.requests({ operation: "webhooks.create" })).toHaveLength(1);

  await me("DELETE", `/v1/webhooks/${made[0] ?? ""}`);
  expect(await ids()).toEqual([]);
  await clock.advance(7 * HOUR);
  expect(await ids()).toHaveLength(1);
  expect(await ids()).not.toEqual(made);
  expect(network.truth.requests({ operation: "webhooks.create" })).toHaveLength(2);
});

test("takes the place of its own doubles and of the one under an earlier address, and leaves others alone", async () => {
  const { keep, list, me } = await lab();
  await keep("http://127.0.0.1:8/webhooks/scout");
  await me("POST", "/v1/webhooks", { body: { url: URL } });
  await me("POST", "/v1/webhooks", { body: { url: URL } });
  await me("POST", "/v1/webhooks", { body: { url: "http://127.0.0.1:7/somebody-else" } });
  await keep(URL);
  expect((await list()).map((webhook) => textAt(webhook, "url")).toSorted((a, b) => (a < b ? -1 : 1))).toEqual([
    "http://127.0.0.1:7/somebody-else",
    URL,
  ]);
});

test("whose secret only the network knew is made anew by a new process, and is not written down", async () => {
  const { keep, list, store } = await lab();
  const made = await keep(URL, "none");
  expect(made).toMatchObject({ kind: "registered" });
  const secret = made.kind === "registered" ? made.secret?.reveal() : undefined;
  expect(secret).toMatch(/^whsec_/);
  expect(JSON.stringify(await store.registrations(asHandle("scout")))).not.toContain(secret);
  const [before] = await list();
  expect(await keep(URL, "none", textAt(before, "id"))).toMatchObject({ kind: "registered", webhookId: before?.["id"] });
  const again = await keep(URL, "none");
  expect(again).toMatchObject({ kind: "registered" });
  expect((await list()).map(({ id }) => id)).not.toEqual([before?.["id"]]);
  expect(await list()).toHaveLength(1);
});

test("whose address ends in the secret is registered whole, and kept and logged without it", async () => {
  const { list, store, log, runtime } = await lab({ register: true, profile: { webhooks: { scheme: "path" } } });
  await expect.poll(async () => (await runtime.webhooks?.shown())?.specialists[0]?.registration.kind).toBe("registered");
  const [webhook] = await list();
  expect(textAt(webhook, "url")).toContain(`/webhooks/scout/${SECRET}`);
  const kept = await store.registrations(asHandle("scout"));
  expect(kept).toMatchObject([{ url: expect.stringMatching(/\/webhooks\/scout$/) as string }]);
  expect(JSON.stringify(log)).not.toContain(SECRET);
});

test("is taken away with its specialist", async () => {
  const { runtime, list } = await lab({ register: true });
  await expect.poll(list).toHaveLength(1);
  await expect.poll(async () => (await runtime.webhooks?.shown())?.specialists[0]?.registration.kind).toBe("registered");
  runtime.retire(asHandle("scout"));
  await expect.poll(list).toHaveLength(0);
});

test("is not written while writes are halted, and is afterwards", async () => {
  const { keep, list, store } = await lab();
  await store.stop("halt", "scout", "test", Date.now());
  expect(await keep(URL)).toMatchObject({ kind: "deferred" });
  expect(await list()).toHaveLength(0);
  await store.lift("halt", "scout");
  expect(await keep(URL)).toMatchObject({ kind: "registered" });
});

test("is left alone where no address is set", async () => {
  const { runtime, list, me } = await lab();
  await me("POST", "/v1/webhooks", { body: { url: URL } });
  expect((await runtime.webhooks?.shown())?.specialists[0]?.registration).toMatchObject({ kind: "notNeeded" });
  expect(await list()).toHaveLength(1);
});

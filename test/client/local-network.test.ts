/** All 45 published rows, over real HTTP, through our client, against a network that knows nothing of it. */
import { afterEach, describe, expect, test } from "vitest";
import { createClient } from "../../src/client/client.ts";
import { methods, type Methods } from "../../src/client/methods.ts";
import { createTransport } from "../../src/client/transport.ts";
import type { Outcome } from "../../src/contract/call.ts";
import { ENDPOINT_ROWS, SETS, type EndpointSet } from "../../src/contract/operations.ts";
import type { Observation } from "../../src/contract/reading/pinned-fields.ts";
import { shippedProfile } from "../../src/contract/profile/profile.ts";
import { systemClock } from "../../src/core/clock.ts";
import { seededRandom } from "../../src/core/random.ts";
import { Secret } from "../../src/core/secret.ts";
import { createLocalNetwork } from "../../src/local-network/local-network.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

type Api = Methods<Promise<Outcome>>;

interface Bench {
  readonly api: Api;
  /** The other specialist, who owns what this one acts on. */
  readonly other: Api;
  readonly me: { readonly id: string; readonly handle: string };
  readonly called: string[];
  readonly drift: Observation[];
}

async function bench(set: EndpointSet): Promise<Bench> {
  const clock = systemClock();
  const network = createLocalNetwork({ clock, random: seededRandom(7) });
  const listening = await network.listen({ set });
  const transport = createTransport({ clock });
  closers.push(
    () => network.stop(),
    () => listening.close(),
    () => transport.close(),
  );
  const me = network.provision({ handle: "scout", tier: "pro", set });
  const neighbour = network.provision({ handle: "neighbour", tier: "pro", set });
  const called: string[] = [];
  const drift: Observation[] = [];
  const client = createClient({
    profile: shippedProfile(set),
    baseUrl: listening.baseUrls[set] ?? "",
    clock,
    transport: transport.send,
    onDrift: (_, observations) => void drift.push(...observations),
  });
  const api = methods((call) => {
    called.push(call.operation);
    return client.send(call, { key: new Secret(me.key), idempotencyKey: `once-${called.length}` });
  });
  const other = methods((call) => client.send(call, { key: new Secret(neighbour.key) }));
  return { api, other, me, called, drift };
}

/** The outcome of a call that must succeed. */
async function done(pending: Promise<Outcome>): Promise<Extract<Outcome, { class: "confirmed" }>> {
  const outcome = await pending;
  if (outcome.class !== "confirmed") throw new Error(`expected confirmed, got ${JSON.stringify(outcome)}`);
  return outcome;
}

async function made(pending: Promise<Outcome>): Promise<string> {
  const { record } = await done(pending);
  if (record === undefined || !("id" in record) || record.id === undefined) throw new Error("expected a record with an id");
  return record.id;
}

async function shared(set: EndpointSet, { api, other, me }: Bench): Promise<void> {
  const self = set === "a" ? me.handle : me.id;
  const theirs = await made(other.posts.create({ content: "Who knows about tables?" }));
  const own = await made(api.posts.create({ content: "Hello." }));
  expect((await done(api.posts.reply(theirs, { content: "I do." }))).record).toMatchObject({ parentId: theirs, authorHandle: "scout" });
  await done(api.posts.vote(theirs));
  expect((await done(api.posts.get(theirs))).record).toMatchObject({ votes: 1, replies: [{ content: "I do." }] });
  expect((await done(api.posts.list({ limit: 1 }))).next).toBeDefined();
  const job = await made(other.jobs.create({ title: "A table", description: "Make one.", reward: 0 }));
  await done(api.jobs.create({ title: "Mine", description: "Do it.", reward: 0 }));
  expect((await done(api.jobs.list())).items?.length).toBe(2);
  expect((await done(api.jobs.get(job))).record).toMatchObject({ kind: "job", authorHandle: "neighbour", status: "open" });
  expect((await done(api.jobs.apply(job, { message: "Me." }))).record).toMatchObject({ kind: "application", jobId: job });
  expect(await api.jobs.submit(job, { deliverable: { rows: [] } })).toMatchObject({ class: "refused", code: "not_assignee" });
  const community = (await done(api.communities.list())).items?.[0];
  const place = community?.kind === "community" ? (set === "a" ? community.id : (community.handle ?? "")) : "";
  await done(api.communities.join(place));
  await done(api.communities.leave(place));
  await done(api.agents.list());
  await done(api.agents.update(self, { bio: "Makes tables." }));
  expect((await done(api.agents.get(self))).record).toMatchObject({ kind: "agent", handle: "scout", bio: "Makes tables." });
  if (set === "a") await done(api.posts.delete(own));
  else await done(api.communities.get(place));
}

async function onlyA({ api, me }: Bench): Promise<void> {
  await done(api.agents.stats(me.handle));
  await done(api.search.web({ query: "table" }));
  await done(api.search.agents({ query: "scout" }));
  await done(api.search.jobs({ query: "table" }));
  const traded = await done(api.auth.token());
  expect(traded.secrets?.accessToken?.reveal()).toBeTruthy();
  await done(api.auth.refresh({ refreshToken: traded.secrets?.refreshToken?.reveal() ?? "" }));
}

async function onlyB({ api }: Bench): Promise<void> {
  const created = await done(api.agents.create({ handle: "newcomer" }));
  expect(created.secrets?.apiKey?.reveal()).toMatch(/^sk_live_/);
  expect(JSON.stringify(created)).not.toContain("sk_live_");
  await done(api.agents.delete(created.record?.kind === "agent" ? created.record.id : ""));
  const hook = await made(api.webhooks.create({ url: "http://127.0.0.1:9/hook", events: ["post.created"] }));
  expect((await done(api.webhooks.list())).items).toMatchObject([{ id: hook }]);
  await done(api.webhooks.delete(hook));
}

describe.each(SETS)("set %s", (set) => {
  test("every published row does over HTTP what it says, and nothing is read as drift", async () => {
    const here = await bench(set);
    await shared(set, here);
    await (set === "a" ? onlyA(here) : onlyB(here));
    expect(new Set(here.called)).toEqual(new Set(ENDPOINT_ROWS.filter((row) => row.set === set).map(({ operation }) => operation)));
    expect(here.drift).toEqual([]);
  });
});

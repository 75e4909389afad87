/** A dry run reads as a real one does, decides as it does, and sends nothing. Real runtime, rows and network, virtual time. */
import { mkdtempSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { createAnnouncer, type Announcements } from "../../src/core/events.ts";
import { asEventId, asHandle } from "../../src/core/ids.ts";
import { seededRandom } from "../../src/core/random.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { resolveProfile, type Profile } from "../../src/contract/profile/profile.ts";
import { decide } from "../../src/limits/decide.ts";
import { EVERYONE } from "../../src/limits/verdict.ts";
import { createLocalNetwork } from "../../src/local-network/local-network.ts";
import { openDryStore } from "../../src/runtime/launch.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import type { SpecialistDefinition } from "../../src/specialist/definition.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";
import { plainLink } from "../harness/plain-transport.ts";
import { virtualRuntime } from "../harness/harness.ts";
import { spentBy } from "../harness/spent-by.ts";

const SCOUT = asHandle("scout");

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

type Scout = Omit<SpecialistDefinition, "handle">;

interface RunOptions {
  /** Default true. */
  readonly dry?: boolean;
  readonly forMs?: number;
  readonly profile?: Profile;
  /** Done while it is at work, at the end of that time. */
  readonly during?: (runtime: Runtime) => Promise<unknown>;
}

/** A project on a network where people post and offer jobs: its store outlives its runs. */
function project(seed = 5) {
  const clock = virtualClock(Date.UTC(2026, 10, 21));
  const random = seededRandom(seed);
  const network = createLocalNetwork({
    clock,
    random: random.fork("network"),
    residents: { perMinute: { post: 0.2, reply: 0, like: 0, follow: 0, offer: 0.2, work: 0 }, already: { post: 8 } },
  });
  const { key } = network.provision({ handle: "scout", tier: "pro" });
  network.start();
  const folder = mkdtempSync(join(tmpdir(), "retinue-dry-"));
  const path = join(folder, "store.sqlite");
  closing.push(
    () => rmSync(folder, { recursive: true, force: true }),
    () => network.stop(),
  );
  const open = (): Store => openSqliteStore({ path, clock, random: random.fork(`store ${clock.now()}`), blocking: true });

  return {
    clock,
    network,
    path,
    /** What a person does while nothing runs. */
    async meanwhile(work: (store: Store) => Promise<unknown>): Promise<void> {
      const store = open();
      await clock.run(work(store));
      await clock.run(store.close());
    },
    async run(definition: Scout, { dry = true, forMs = HOUR, profile, during }: RunOptions = {}) {
      const real = open();
      const store = dry ? await clock.run(openDryStore(real, { clock, random: random.fork(`dry ${clock.now()}`) })) : real;
      const announcer = createAnnouncer();
      const intents: Announcements["intent"][] = [];
      const waits: Announcements["wait"][] = [];
      announcer.on("intent", (what) => void intents.push(what));
      announcer.on("wait", (what) => void waits.push(what));
      const from = network.truth.requests({ agent: "scout" }).length;
      const began = clock.now();
      const runtime = virtualRuntime({
        specialists: [createSpecialist({ handle: "scout", tier: "pro", ...definition })],
        store,
        transport: plainLink(network, "b"),
        keyOf: () => key,
        clock,
        random: random.fork(`run ${began}`),
        announcer,
        writes: dry ? "refuse" : "send",
        ...(profile === undefined ? {} : { profile }),
      });
      await clock.run(runtime.start());
      await clock.advance(forMs);
      if (during !== undefined) await clock.run(during(runtime));
      await clock.run(runtime.stop());
      const [scout] = runtime.members();
      const use = scout?.keyId === undefined ? undefined : await clock.run(real.quotaUse(scout.keyId, clock.now()));
      const money = await clock.run(spentBy(real, SCOUT, clock.now()));
      await clock.run(store.close());
      if (dry) await clock.run(real.close());
      const sent = network.truth.requests({ agent: "scout" }).slice(from);
      return {
        intents,
        waits,
        used: use?.hour.used ?? 0,
        money,
        reads: sent.filter(({ operation }) => /\.(list|get)$/.test(operation)),
        writes: sent.filter(({ operation }) => !/\.(list|get)$/.test(operation)),
      };
    },
  };
}

const replying: Scout = {
  watch: { feed: true, jobs: true },
  may: ["posts.reply"],
  on: { "post.created": (post, act) => void act.reply(post, `I read ${post.id}`), "job.listed": () => undefined },
};

/** Everything in a store but its ledger, row by row. */
function thoughts(path: string): { readonly [table: string]: readonly object[] } {
  const ledger = ["ledger_time", "quota_key", "quota_cell", "attempt", "answer", "limited_use", "mark"];
  const db = new DatabaseSync(path, { readOnly: true });
  const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'").all();
  const rows = tables
    .map(({ name }) => String(name))
    .filter((name) => !ledger.includes(name))
    .map((name) => [name, db.prepare(`SELECT * FROM ${name}`).all()] as const);
  db.close();
  return Object.fromEntries(rows);
}

describe("a dry run", () => {
  test("reads as often as a real run, within five per cent, over one hour of a busy specialist", async () => {
    const real = await project().run(replying, { dry: false });
    const dry = await project().run(replying);
    expect(real.reads.length).toBeGreaterThan(500);
    expect(real.writes.length).toBeGreaterThan(5);
    expect(Math.abs(dry.reads.length / real.reads.length - 1)).toBeLessThan(0.05);
    expect(dry.writes).toEqual([]);
  });

  test("says all that each write would have sent, also of one about what another would have created, and sends none", async () => {
    const { run } = project();
    const told: string[] = [];
    const content = `${"long ".repeat(200)}\u001B[2Jend`;
    const { intents, writes } = await run(
      {
        watch: {},
        may: ["posts.create", "posts.reply"],
        schedules: {
          once: {
            every: "2h",
            run(act) {
              const first = act.post(content, { community: "news" });
              act.reply(first, "and one more");
            },
          },
        },
        on: {
          "intent.refused": ({ code }) => void told.push(code ?? ""),
          "intent.confirmed": ({ intent }) => void told.push(intent),
        },
      },
      { forMs: 3 * HOUR },
    );
    expect(writes).toEqual([]);
    const [first, second, ...rest] = intents.filter(({ state }) => state !== "ready");
    expect(first).toMatchObject({ operation: "posts.create", state: "refused", code: "dry_run", input: { content, community: "news" } });
    expect(second).toMatchObject({
      operation: "posts.reply",
      state: "refused",
      code: "dry_run",
      message: "not sent: this is a dry run",
      target: first?.id,
      input: { content: "and one more" },
    });
    expect(rest).toEqual([]);
    expect(told).toEqual([]); // a real run would have told neither
  });

  test("charges its reads to the project's ledger, and changes nothing else in the project's store", async () => {
    const { run, path, clock } = project();
    await run(replying, { dry: false, forMs: 10 * MINUTE });
    const before = thoughts(path);
    expect(before["event"]?.length).toBeGreaterThan(0);
    await clock.advance(DAY + HOUR); // nothing that was used before counts any more
    const dry = await run({ ...replying, watch: { feed: { from: "start" } } }, { forMs: 10 * MINUTE });
    expect(dry.intents.length).toBeGreaterThan(0);
    expect(dry.used).toBe(dry.reads.length);
    expect(dry.used).toBeGreaterThan(10);
    expect(thoughts(path)).toEqual(before);
  });

  test("counts what a process that was killed had under way, and leaves its recovery to the next real run", async () => {
    const { run, meanwhile, path, clock } = project();
    await run(replying, { dry: false, forMs: 5 * MINUTE });
    const lost: { used?: number | undefined } = {};
    await meanwhile(async (store) => {
      const key = await store.keyOf(SCOUT);
      if (key === undefined) throw new Error("it has no key");
      const post = { specialist: SCOUT, id: asEventId("post.created:p"), kind: "post.created", payload: {}, via: "poll", hops: 0 } as const;
      await store.putEvents({ events: [post] }, clock.now());
      store.claimEvents(SCOUT, clock.now(), 1);
      const request = { specialist: SCOUT, key, operation: "posts.list", effect: "read", lane: "poll", price: { kind: "free" } } as const;
      const times = { now: clock.now(), deadlineAt: clock.now() + MINUTE, holdExpiresAt: clock.now() };
      await store.admit({ request, ...times, known: { may: [], review: false } }, decide);
      lost.used = (await store.quotaUse(key, clock.now()))?.hour.used;
    });
    const before = thoughts(path);
    expect(before["open"]).toContainEqual(expect.objectContaining({ state: expect.stringContaining('"begun":true') }));
    const dry = await run(replying, { forMs: 5 * MINUTE });
    expect(thoughts(path)).toEqual(before);
    expect(dry.used).toBe(Number(lost.used) + dry.reads.length);
  });

  test("refuses the runtime's own writes too, such as making a webhook", async () => {
    const answers: unknown[] = [];
    const { writes } = await project().run(replying, {
      forMs: MINUTE,
      async during(runtime) {
        const call = { operation: "webhooks.create", input: { url: "https://bots.example.com/scout" } };
        for (const member of runtime.members())
          answers.push(await runtime.parts.gateway.perform(member, call, new AbortController().signal));
      },
    });
    expect(answers).toEqual([{ kind: "refused", code: "dry_run", message: "not sent: this is a dry run" }]);
    expect(writes).toEqual([]);
  });

  test("knows what the project's keys have used, and waits where a real run would", async () => {
    const { run } = project();
    const small = resolveProfile({ extends: "set-b", tiers: { pro: { perHour: 40, perDay: 60 } } });
    const asking: Scout = { schedules: { often: { every: "1m", run: async (act) => void (await act.read.posts()) } } };
    const first = await run(asking, { dry: false, forMs: 20 * MINUTE, profile: small });
    const second = await run(asking, { forMs: 20 * MINUTE, profile: small });
    expect(second.reads.length).toBeLessThan(first.reads.length / 2);
    expect(second.used).toBe(first.reads.length + second.reads.length);
    expect(second.waits[0]?.message).toContain("this hour's 40 requests");
  });

  test("says what would hold a write back in a real run: a halt, a cap; and holds no money", async () => {
    const paid = resolveProfile({ extends: "set-b", operations: { "posts.create": { price: { micros: 2_000_000 } } } });
    const posting = (perDay: number): Scout => ({
      may: ["posts.create"],
      spend: { perDay: { currency: "credits", micros: perDay } },
      schedules: { often: { every: "10m", run: (act) => void act.post(`at ${act.now}`) } },
    });
    const { run, meanwhile, clock } = project();
    await run(posting(5_000_000), { dry: false, forMs: 25 * MINUTE, profile: paid });
    const full = await run(posting(5_000_000), { forMs: 15 * MINUTE, profile: paid });
    expect(full.intents.find(({ state }) => state === "refused")).toMatchObject({
      code: "dry_run",
      message: expect.stringMatching(/^not sent: this is a dry run; a real run would wait: scout: 4 credits of the 5 credits allowed/),
    });
    const free = await run(posting(50_000_000), { forMs: 45 * MINUTE, profile: paid });
    expect(free.intents.filter(({ message }) => message === "not sent: this is a dry run").length).toBeGreaterThan(2);
    expect(free.money).toEqual(full.money);
    expect(free.money).toMatchObject([{ postedMicros: 4_000_000, heldMicros: 0 }]);
    await meanwhile((store) => store.stop("halt", EVERYONE, "the cat is on the keyboard", clock.now()));
    const halted = await run(posting(50_000_000), { forMs: 15 * MINUTE, profile: paid });
    expect(halted.intents.find(({ state }) => state === "refused")?.message).toContain("halted: the cat is on the keyboard");
  });

  test("is refused by the rules that would refuse a real run, with their codes", async () => {
    const priceless = resolveProfile({ extends: "set-b", operations: { "posts.create": { price: { micros: 9_000_000 } } } });
    const { intents } = await project().run(
      {
        may: ["posts.create"],
        spend: { perAction: { currency: "credits", micros: 1_000_000 }, perDay: { currency: "credits", micros: 5_000_000 } },
        schedules: { often: { every: "10m", run: (act) => void act.post(`at ${act.now}`) } },
      },
      { forMs: 15 * MINUTE, profile: priceless },
    );
    expect(intents.find(({ state }) => state === "refused")?.code).toBe("spend_over_cap");
  });

  test("knows what earlier runs have learnt of the network", async () => {
    const { run, network } = project();
    const posting: Scout = { may: ["posts.create"], schedules: { often: { every: "10m", run: (act) => void act.post(`at ${act.now}`) } } };
    network.faults.add({ fault: { kind: "account", answer: "suspended" }, match: { writes: true } });
    await run(posting, { dry: false, forMs: 10 * MINUTE + SECOND });
    const { intents, reads } = await run(posting, { forMs: 10 * MINUTE + SECOND });
    expect(intents.find(({ state }) => state === "refused")?.message).toMatch(/a real run would wait: the network has stopped the account/);
    expect(reads).toEqual([]); // its account is known too
  });

  test("begins nothing while the project is paused, and says so", async () => {
    const { run, meanwhile, clock } = project();
    await meanwhile((store) => store.stop("pause", "scout", "on holiday", clock.now()));
    const { reads, waits } = await run(replying);
    expect(reads).toEqual([]);
    expect(waits[0]?.message).toContain("on holiday");
  });

  test("brakes its words as a real run does, though none was said", async () => {
    const { intents } = await project().run(
      {
        may: ["posts.create"],
        brakes: { sameTextWithin: "1d" },
        schedules: { often: { every: "1m", run: (act) => void act.post("the same words") } },
      },
      { forMs: 10 * MINUTE + SECOND },
    );
    expect(intents.filter(({ code }) => code === "dry_run")).toHaveLength(1);
    expect(intents.filter(({ code }) => code === "brake_same_text").length).toBeGreaterThan(5);
  });
});

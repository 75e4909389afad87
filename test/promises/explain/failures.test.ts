/** P8, explain: a handler that fails is seen, with the reason and the place, by whatever a person asks; the real runtime on virtual time. */
import { describe, expect, test } from "vitest";
import { asEventId, asHandle } from "../../../src/core/ids.ts";
import { credits, HOUR, MINUTE } from "../../../src/core/units.ts";
import { whyLab, type WhyLab } from "../../harness/explained-specialist.ts";
import { textAt } from "../../harness/visitor.ts";

const A_TIME = expect.any(Number);
const A_NUMBER = expect.any(Number);
const SCOUT = asHandle("scout");
const KEY = "sk_live_0123456789abcdef";
/** Three posts by somebody else, each handled and failed at. */
const threePosts = async ({ other }: Pick<WhyLab, "other">): Promise<void> => {
  for (const content of ["one", "two", "three"]) await other("POST", "/v1/posts", { body: { content } });
};
const nothing = (): void => {};

function failingLab(fail: (id: string) => never): Promise<WhyLab> {
  return whyLab(
    nothing,
    { watch: { feed: { from: "start" }, threads: false }, on: { "post.created": (post) => fail(post.id) } },
    { before: threePosts, network: { residents: false } },
  );
}

const noModel = (id: string): never => {
  throw new TypeError(`there is no model for ${id}`);
};

describe("failing handlers", () => {
  test("stand in status as one group, with count, place and next try, and what to do", async () => {
    const { guardian, clock } = await failingLab(noModel);
    const { failing, failingCounts } = await clock.run(guardian.status({}));
    expect(failingCounts).toMatchObject({ events: 3, groups: 1 });
    expect(failing).toMatchObject([
      {
        handle: "scout",
        what: "post.created",
        count: 3,
        parked: 0,
        tries: A_NUMBER,
        message: expect.stringContaining("there is no model for"),
        nextAt: A_TIME,
        file: import.meta.filename,
        line: A_NUMBER,
        hint: expect.stringContaining("retinue retry scout"),
      },
    ]);
    expect(failing[0]?.nextAt).toBeGreaterThan(clock.now());
  });

  test("stand in status apart where they fail in different ways, and parked ones are counted", async () => {
    let nth = 0;
    const words = ["the disk is full", "the model is gone", "the answer is no JSON"];
    const { guardian, clock } = await failingLab(() => {
      throw new Error(words[nth++ % words.length]);
    });
    await clock.advance(2 * HOUR);
    const { failing, failingCounts } = await clock.run(guardian.status({}));
    expect(failingCounts).toMatchObject({ events: 3, groups: failing.length });
    expect(failing.reduce((sum, { parked }) => sum + parked, 0)).toBe(3);
    expect(failing.length).toBeGreaterThan(1);
  });

  test("are counted exactly where the list ends", async () => {
    const { guardian, clock, store } = await whyLab(nothing);
    const word = (n: number): string => String.fromCharCode(97 + (n % 26), 97 + (Math.floor(n / 26) % 26));
    await clock.run(
      store.putEvents(
        {
          events: Array.from({ length: 150 }, (_, n) => ({
            specialist: asHandle("idle"),
            id: asEventId(`post.created:${n}`),
            kind: "post.created",
            payload: {},
            via: "poll",
            hops: 0,
          })),
        },
        clock.now(),
      ),
    );
    for (const [n, event] of (await clock.run(store.claimEvents(asHandle("idle"), clock.now(), 200))).entries())
      await clock.run(store.parkEvent(event.seq, clock.now(), JSON.stringify({ failed: 1, message: word(n), pattern: word(n), tries: 1 })));
    const { failing, failingCounts } = await clock.run(guardian.status({}));
    expect(failing).toHaveLength(100);
    expect(failingCounts).toMatchObject({ events: 150, groups: 150 });
  });

  test("are what why of the handle says first, and why of the event with its stack", async () => {
    const { why, guardian, clock } = await failingLab(noModel);
    const scout = await why("scout");
    expect(scout).toMatchObject({ state: "failing", hint: expect.stringContaining("retinue retry scout") });
    expect(scout.reasons[0]).toMatchObject({
      rule: "handler_failed",
      message: expect.stringMatching(/^3 post\.created: there is no model/),
    });
    const [group] = (await clock.run(guardian.status({}))).failing;
    expect(await why(group?.id)).toMatchObject({
      about: "event",
      state: "failing",
      reasons: [
        {
          rule: "handler_failed",
          message: expect.stringContaining("there is no model for"),
          tries: A_NUMBER,
          until: A_TIME,
          file: import.meta.filename,
          line: A_NUMBER,
          stack: expect.stringContaining("noModel"),
        },
      ],
      hint: expect.stringContaining(`retinue retry ${group?.id}`),
    });
  });

  test("say their cause where the message leaves it out", async () => {
    const { guardian, clock } = await failingLab(() => {
      throw new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED 127.0.0.1:9") });
    });
    const [group] = (await clock.run(guardian.status({}))).failing;
    expect(group?.message).toBe("fetch failed: connect ECONNREFUSED 127.0.0.1:9");
  });

  test("name their place however long the message, and none where they ran out of time", async () => {
    const long = await failingLab(() => {
      throw new Error("x".repeat(100_000));
    });
    expect((await long.clock.run(long.guardian.status({}))).failing).toMatchObject([{ file: import.meta.filename, count: 3 }]);
    const late = await whyLab(
      nothing,
      { watch: { feed: { from: "start" }, threads: false }, deadline: "1s", on: { "post.created": () => new Promise(() => {}) } },
      { before: threePosts, network: { residents: false } },
    );
    const [group] = (await late.clock.run(late.guardian.status({}))).failing;
    expect(group).toMatchObject({ count: 3, code: "run_deadline" });
    expect(group?.file).toBeUndefined();
  });

  test("keep no secret and no endless text", async () => {
    const { store, clock, guardian } = await failingLab(() => {
      throw new Error(`refused ${KEY} ${"x".repeat(1_000_000)}`);
    });
    const kept = await clock.run(store.failedEvents({ limit: 10 }));
    expect(kept).toHaveLength(3);
    expect(JSON.stringify(kept)).not.toContain(KEY);
    expect(JSON.stringify([await clock.run(guardian.status({})), kept]).length).toBeLessThan(30_000);
  });

  test("stand in the log among what was done, by kind and by page, and stay there once they work", async () => {
    let broken = true;
    const { guardian, clock } = await whyLab(
      (act) => void act.post("words"),
      {
        may: ["posts.create"],
        watch: { feed: { from: "start" }, threads: false },
        on: {
          "post.created": (post) => {
            if (broken) noModel(post.id);
          },
        },
      },
      { before: threePosts, network: { residents: false } },
    );
    const all = await clock.run(guardian.log({ limit: 100 }));
    expect(all.entries.filter(({ about }) => about === "action")).toHaveLength(1);
    expect(all.entries.filter(({ about }) => about === "failure")).toMatchObject(
      Array.from({ length: 3 }, () => ({
        kind: "post.created",
        state: "failing",
        tries: A_NUMBER,
        file: import.meta.filename,
        nextAt: A_TIME,
      })),
    );
    const paged = [];
    let next: number | undefined;
    do {
      const page = await clock.run(guardian.log(next === undefined ? { limit: 1 } : { limit: 1, before: next }));
      paged.push(...page.entries);
      next = page.next;
    } while (next !== undefined);
    expect(paged).toEqual(all.entries);
    expect((await clock.run(guardian.log({ kind: "post", limit: 100 }))).entries).toHaveLength(3);
    expect((await clock.run(guardian.log({ kind: "posts.create", limit: 100 }))).entries).toHaveLength(1);
    broken = false;
    await clock.run(guardian.retry({ id: "scout" }));
    await clock.advance(MINUTE);
    expect((await clock.run(guardian.status({}))).failingCounts).toEqual({ events: 0, parked: 0, groups: 0 });
    expect((await clock.run(guardian.log({ kind: "post.created", limit: 100 }))).entries).toMatchObject(
      Array.from({ length: 3 }, () => ({ state: "handled", message: expect.stringContaining("there is no model") })),
    );
  });
});

test("an object of the network has all that is about it: events, actions and what is followed", async () => {
  let job = "";
  const { why } = await whyLab(
    nothing,
    {
      may: ["jobs.apply"],
      watch: { feed: false, jobs: {} },
      on: {
        "job.listed": (offered, act) => void act.apply(offered),
        "job.assigned": () => {
          throw new Error("the deliverable is empty");
        },
      },
    },
    {
      network: { residents: false },
      before: async ({ other }) => {
        const body = { title: "Count words", description: "How many?", reward: 2, skills: [] };
        job = textAt((await other("POST", "/v1/jobs", { body })).json, "id");
      },
    },
  );
  const { about, found = [] } = await why(job);
  expect(about).toBe("object");
  expect(found).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ about: "watch", what: "job", state: expect.any(String) }),
      expect.objectContaining({ about: "intent", what: "jobs.apply", state: expect.any(String) }),
    ]),
  );
  expect(found.some((one) => one.about === "event" && one.what.startsWith("job."))).toBe(true);
});

test("why of a handle groups waiting actions by rule, with the end of each wait", async () => {
  const lab = await whyLab(
    (act) => {
      for (let n = 0; n < 8; n++) act.createJob({ title: `job ${n}`, description: "do it", reward: 1, skills: [] });
    },
    { may: ["jobs.create"], spend: { perDay: credits(1) } },
  );
  expect((await lab.why("scout")).reasons).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ rule: "spend_cap", message: expect.stringMatching(/^7 jobs\.create wait: /), until: A_TIME }),
    ]),
  );
  const { specialists } = await lab.clock.run(lab.guardian.status({}));
  expect(specialists[0]?.held).toMatchObject([{ operation: "jobs.create", rule: "spend_cap", count: 7, until: A_TIME }]);
});

test.each([
  ["job.rejected", { kind: "job", id: "job_1", verdict: "late by 4 s" }, "turned down: late by 4 s"],
  ["intent.refused", { intent: "i1", operation: "jobs.apply", code: "too_late", message: "the job is taken" }, "the job is taken"],
])("the reason stands where the event does: %s", async (kind, payload, message) => {
  const { why, clock, store } = await whyLab(nothing);
  const event = { specialist: SCOUT, id: asEventId(`${kind}:1`), kind, payload, via: "poll", hops: 0 } as const;
  await clock.run(store.putEvents({ events: [event] }, clock.now()));
  expect((await why(event.id)).reasons).toMatchObject([{ message }]);
});

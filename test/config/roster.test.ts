/** Who is to run: the Guardian's overrides, and what definitions say that this network cannot do. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { loadConfig } from "../../src/config/config.ts";
import { keepLastGood } from "../../src/config/definitions.ts";
import { loadRoster, type Roster } from "../../src/config/roster.ts";
import { shippedProfile } from "../../src/contract/profile.ts";
import { CREDITS, HOUR, MICROS_PER_UNIT } from "../../src/core/units.ts";
import { checkCron } from "../../src/schedule/cron.ts";
import { project } from "./project.ts";

async function rosterOf(root: string, set: "a" | "b" = "b"): Promise<Roster> {
  const config = await loadConfig({ env: {}, cwd: root });
  return loadRoster({ config, profile: shippedProfile(set), checkCron: (expression, zone) => checkCron(expression, zone, 0) });
}

const credits = (amount: number) => [{ currency: CREDITS, micros: amount * MICROS_PER_UNIT }];

describe("the Guardian's overrides", () => {
  test("win over the definition, period by period, and can only add reviews", async () => {
    const { root } = project({
      "agents/scout.yaml":
        "handle: scout\nmay: [posts.reply, posts.vote]\nreview: [posts.vote]\nspend: {perDay: 40, perHour: 10}\nbrakes: {hops: 2}\n",
      "retinue.config.yaml":
        "specialists: {scout: {tier: pro, id: '7', spend: {perDay: 5}, brakes: {sameTextWithin: 1h}, review: [posts.reply]}}",
    });
    const { definitions, problems } = await rosterOf(root);
    expect(problems).toEqual([]);
    expect(definitions[0]?.specialist).toMatchObject({
      tier: "pro",
      id: "7",
      spend: { perDay: credits(5), perHour: credits(10), perMonth: [] },
      brakes: { hops: 2, sameTextWithinMs: HOUR, repliesPerThread: 5 },
      review: ["posts.vote", "posts.reply"],
    });
  });

  test("can leave a specialist out", async () => {
    const { root } = project({
      "agents/a.yaml": "handle: a",
      "agents/b.yaml": "handle: b",
      "retinue.config.yaml": "specialists: {a: {enabled: false}}",
    });
    expect((await rosterOf(root)).definitions.map(({ specialist }) => specialist.handle)).toEqual(["b"]);
  });
});

describe("what cannot work or cannot be meant:", () => {
  const on = (kind: string, rest = ""): string => `export default { handle: "a", on: { "${kind}": () => {} }, ${rest} };`;
  test.each([
    { name: "a handler that may write nothing", text: on("mention.created"), level: "warning", code: "handler_without_may" },
    {
      name: "a handler whose watch is off",
      text: on("job.listed", 'watch: { jobs: false }, may: ["jobs.apply"]'),
      level: "warning",
      code: "handler_never_called",
    },
    {
      name: "a watch that nobody handles",
      text: `export default { handle: "a", watch: { feed: true } };`,
      level: "warning",
      code: "watch_without_handler",
    },
    {
      name: "a read among the writes",
      text: `export default { handle: "a", may: ["posts.list"] };`,
      level: "warning",
      code: "read_in_may",
    },
    {
      name: "a write that the set lacks",
      text: `export default { handle: "a", may: ["posts.delete"] };`,
      level: "warning",
      code: "operation_unsupported",
    },
    {
      name: "a review of what is refused anyway",
      text: `export default { handle: "a", review: ["posts.reply"] };`,
      level: "warning",
      code: "review_without_may",
    },
    {
      name: "an operation that does not exist",
      text: `export default { handle: "a", may: ["posts.rely"] };`,
      level: "error",
      code: "operation_unknown",
    },
    {
      name: "a cron expression that never comes",
      text: `export default { handle: "a", schedules: { d: { cron: "0 0 31 2 *", run() {} } } };`,
      level: "error",
      code: "cron_never",
    },
  ])("$name", async ({ text, level, code }) => {
    const { root } = project({ "agents/a.ts": text });
    const { problems } = await rosterOf(root);
    expect(problems).toMatchObject([{ level, code, file: join(root, "agents/a.ts"), hint: expect.any(String) }]);
  });

  test("a tier that the set lacks, which keeps the version that ran before", async () => {
    const { root, write } = project({ "agents/a.yaml": "handle: a\ntier: pro" });
    const before = await rosterOf(root, "a");
    write("agents/a.yaml", "handle: a\ntier: growth");
    const now = await rosterOf(root, "a");
    expect(now.problems).toMatchObject([{ code: "tier_not_in_set" }]);
    expect(keepLastGood(before.definitions, now)).toEqual(before.definitions);
  });

  test("prices of operations that do not exist", async () => {
    const { root } = project({ "agents/a.yaml": "handle: a", "retinue.config.yaml": "prices: {post.create: 5, posts.create: free}" });
    expect((await rosterOf(root)).problems).toMatchObject([{ code: "operation_unknown", hint: 'did you mean "posts.create"?' }]);
  });
});

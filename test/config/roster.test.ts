/** Who is to run: the Guardian's overrides, and what definitions say that this network cannot do. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { loadConfig } from "../../src/config/config.ts";
import type { Roster } from "../../src/config/roster.ts";
import { resolveProfile, shippedProfile } from "../../src/contract/profile/profile.ts";
import { CREDITS, HOUR, MICROS_PER_UNIT } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { readRoster } from "../../src/runtime/launch.ts";
import { project } from "../harness/project.ts";

async function rosterOf(root: string, set: "a" | "b" = "b"): Promise<Roster> {
  const config = await loadConfig({ env: {}, cwd: root });
  return readRoster(config, shippedProfile(set), virtualClock(0));
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

describe("settings that cannot work or cannot be meant:", () => {
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
    {
      name: "a write whose price nobody stated",
      text: `export default { handle: "a", may: ["agents.create"] };`,
      level: "error",
      code: "may_unpriced",
    },
    {
      name: "a write that costs, without a cap",
      text: `export default { handle: "a", may: ["jobs.create"], spend: { perAction: 3 } };`,
      level: "warning",
      code: "may_without_cap",
    },
  ])("$name", async ({ text, level, code }) => {
    const { root } = project({ "agents/a.ts": text });
    const { problems } = await rosterOf(root);
    expect(problems).toMatchObject([{ level, code, file: join(root, "agents/a.ts"), hint: expect.any(String) }]);
  });

  test("a tier that the set lacks", async () => {
    const { root } = project({ "agents/a.yaml": "handle: a\ntier: growth" });
    expect((await rosterOf(root, "a")).problems).toMatchObject([{ code: "tier_not_in_set", file: join(root, "agents/a.yaml") }]);
  });

  test.each([
    { name: "a cap above a wider one", spend: "{perAction: 50, perDay: 20}", says: /^spend\.perAction: 50 credits is above spend\.perDay/ },
    {
      name: "a currency there is not",
      spend: "{perDay: {currency: euro, micros: 5}}",
      says: /^spend\.perDay: there is no currency "euro"/,
    },
  ])("$name, in a definition, an override and the Guardian's own caps", async ({ spend, says }) => {
    const { root } = project({
      "agents/a.yaml": `handle: a\nspend: ${spend}\n`,
      "agents/b.yaml": "handle: b",
      "retinue.config.yaml": `{guardian: {spend: ${spend}}, specialists: {b: {spend: ${spend}}}}`,
    });
    const { problems } = await rosterOf(root);
    expect(problems.map(({ level, code, file }) => ({ level, code, file }))).toEqual(
      ["agents/a.yaml", "retinue.config.yaml", "retinue.config.yaml"].map((file) => ({
        level: "error",
        code: "spend_invalid",
        file: join(root, file),
      })),
    );
    expect(problems[0]?.message).toMatch(says);
    expect(problems.map(({ message }) => message.replace(/spend\..*/, ""))).toEqual(["", "guardian.", "specialists.b."]);
  });

  test("a price that the Guardian states is known", async () => {
    const { root } = project({
      "agents/a.yaml": "handle: a\nmay: [agents.create]",
      "retinue.config.yaml": "prices: {agents.create: free}",
    });
    expect((await rosterOf(root)).problems).toEqual([]);
  });

  test("prices of operations that do not exist", async () => {
    const { root } = project({ "agents/a.yaml": "handle: a", "retinue.config.yaml": "prices: {post.create: 5, posts.create: free}" });
    expect((await rosterOf(root)).problems).toMatchObject([{ code: "operation_unknown", hint: 'did you mean "posts.create"?' }]);
  });
});

test("a tier that the profile defines with both figures is a tier, whatever the set publishes", async () => {
  const { root } = project({ "agents/a.yaml": "handle: a\ntier: starter\n" });
  const config = await loadConfig({ env: {}, cwd: root });
  const told = async (tiers: object) => {
    const { problems } = await readRoster(config, resolveProfile({ extends: "set-a", tiers }), virtualClock(0));
    return problems.filter(({ level }) => level === "error").map(({ code }) => code);
  };
  expect(await told({})).toEqual(["tier_not_in_set"]);
  expect(await told({ starter: { perHour: 100 } })).toEqual(["tier_not_in_set"]);
  expect(await told({ starter: { perHour: 100, perDay: 1_000 } })).toEqual([]);
});

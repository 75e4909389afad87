/** `--log-level` and `RETINUE_LOG_LEVEL`: the lines that are shown, and a level that there is not. */
import { expect, test } from "vitest";
import { inProcess, retinue } from "../harness/cli.ts";
import { project } from "../harness/project.ts";

const LOUD = `
import { defineSpecialist } from "retinue";
export default defineSpecialist({
  handle: "scout",
  watch: { feed: { from: "start" } },
  tier: "pro",
  on: {
    "post.created": (post, act) => {
      act.log.debug("a detail");
      act.log.info("a fact");
      act.log.warn("a warning");
      act.log.error("a fault");
    },
  },
});
`;
/** The last line of a handled post, which is shown at every level. */
const HANDLED = /a fault/;
const LINES = ["a fault", "a warning", "a fact", "a detail"];

test.for([
  [["--log-level", "error"], {}, 1],
  [["--log-level", "WARN"], { RETINUE_LOG_LEVEL: "debug" }, 2],
  [[], {}, 3],
  [[], { RETINUE_LOG_LEVEL: "debug" }, 4],
] as const)("%j with %j shows %i of the levels", async ([args, env, shown]) => {
  const { root } = project({ "agents/scout.ts": LOUD });
  const { stderr, stdout } = await retinue(["demo", "--json", ...args], { cwd: root, env, until: HANDLED });
  expect(LINES.map((line) => stderr.includes(line))).toEqual(LINES.map((_, i) => i < shown));
  expect(JSON.parse(stdout)).toMatchObject({ ok: true });
});

test("each line has its time in ISO 8601, as JSON and where it is no terminal that reads", async () => {
  const { root } = project({ "agents/scout.ts": LOUD });
  const [json, people] = await Promise.all([
    retinue(["demo", "--json"], { cwd: root, until: HANDLED }),
    retinue(["demo"], { cwd: root, until: HANDLED }),
  ]);
  const lines = json.stderr
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { time?: string; at: number; type: string });
  expect(lines.filter(({ time, at }) => time !== new Date(at).toISOString())).toEqual([]);
  expect(lines.some(({ type }) => type === "log")).toBe(true);
  expect(people.stdout).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z {2}scout a fact /m);
});

test.each([
  [["--log-level", "loud"], {}, '--log-level: there is no level "loud"'],
  [[], { RETINUE_LOG_LEVEL: "inf" }, 'did you mean "info"?'],
])("a level that there is not is told: %j", async (args, env, says) => {
  const { root } = project({ "agents/scout.yaml": "handle: scout" });
  const result = await inProcess(["run", "--base-url", "http://127.0.0.1:1/v1", ...args], {
    cwd: root,
    env: { ...env, RETINUE_KEY_SCOUT: "sk_live_0123456789" },
  });
  expect([result.code, result.stderr]).toEqual([2, expect.stringContaining(says) as string]);
  const halted = await inProcess(["halt", "--reason", "a test"], { cwd: root, env });
  expect(halted.stderr).not.toContain("level");
});

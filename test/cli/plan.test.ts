/** `retinue plan` as a stranger reads it: how soon, how many, until when, and what will not work out. */
import { expect, test } from "vitest";
import { project } from "../harness/project.ts";
import { inProcess } from "../harness/cli.ts";

const READER = `
import { defineSpecialist } from "retinue";
export default defineSpecialist({
  handle: "HANDLE",
  tier: "free",
  watch: { feed: true },
  may: ["posts.create"],
  schedules: { SCHEDULES },
  on: { "post.created": () => {} },
});
`;
const CHATTER = READER.replace("HANDLE", "chatter").replace("SCHEDULES", 'talk: { every: "1m", run: (act) => void act.post("x") }');
const TWIN = READER.replace("HANDLE", "twin").replace("SCHEDULES", "");

const planned = (env: Record<string, string>) =>
  inProcess(["plan"], { cwd: project({ "agents/chatter.ts": CHATTER, "agents/twin.ts": TWIN }).root, env });

test("says how soon each sees news, what it asks of hour and day by lane, and when the day is used up", async () => {
  const { code, stdout } = await planned({ RETINUE_KEY_CHATTER: "sk_live_0123456789abcdef", RETINUE_KEY_TWIN: "sk_live_fedcba9876543210" });
  expect(code).toBe(0);
  expect(stdout).toMatch(/specialist +looks at +every +sees news after +at worst/);
  expect(stdout).toMatch(/twin +feed +3m 26s/);
  expect(stdout).toMatch(/calls a day +obligation +reply +act +watch +poll +explore +in all +used up after/);
  expect(stdout).toMatch(/chatter .* 1440 \(75\) .* of 500 +7h/);
  expect(stdout).toMatch(/twin .* 420 of 500 +never/);
  expect(stdout).toMatch(/chatter .* 60 \(9\) .* of 60 /);
  expect(stdout).toContain("chatter wants 1440 calls a day of 500: the excess will wait");
  expect(stdout).toContain("poll public lists for each other");
  expect(stdout).not.toContain("shares its key");
});

test("warns where two specialists share a key, and plans with what both want", async () => {
  const key = "sk_live_0123456789abcdef";
  const { stdout } = await planned({ RETINUE_KEY_CHATTER: key, RETINUE_KEY_TWIN: key });
  expect(stdout).toContain("twin shares its key with chatter: they share 500 calls a day");
  expect(stdout).toContain("chatter shares its key with twin: they share 500 calls a day");
  expect(stdout).toContain("twin wants, together with chatter, 1440 calls a day of 500");
  expect(stdout).not.toContain("poll public lists for each other");
});

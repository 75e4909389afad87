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

const planned = (env: Record<string, string>, ...args: readonly string[]) =>
  inProcess(["plan", ...args], { cwd: project({ "agents/chatter.ts": CHATTER, "agents/twin.ts": TWIN }).root, env });
const SEPARATE = { RETINUE_KEY_CHATTER: "sk_live_0123456789abcdef", RETINUE_KEY_TWIN: "sk_live_fedcba9876543210" };

test("says in one sentence how soon a specialist sees news, what that takes, and when the quota is used up", async () => {
  const { code, stdout } = await planned(SEPARATE);
  expect(code).toBe(0);
  const text = stdout;
  expect(text).toContain(
    "twin (free) polls the feed every 3m 26s and sees news after 51s, at worst 13m 43s: its polls and schedules take 420 of 500 calls a day and 18 of 60 an hour.",
  );
  expect(text).toMatch(
    /chatter \(free\) polls the feed .*: its polls and schedules take \d+ of 500 calls a day, used up after \d+h.*, and \d+ of 60 an hour, used up after \d+m/,
  );
  expect(text).toContain("chatter wants 1440 calls a day of 500: the excess will wait");
  expect(text).toContain("poll public lists for each other");
  expect(text).toContain("handles events one after the other");
  expect(text).not.toContain("shares its key");
});

test("says no number that cannot happen, and nothing of purposes that nobody asked for", async () => {
  const { stdout } = await planned(SEPARATE);
  expect(stdout).not.toMatch(/never|jobs at a time|obligation/);
  const machines = await planned(SEPARATE, "--json");
  expect(machines.stdout).not.toContain("maxObligations");
});

test("says which limits of the network count for a specialist, and where each comes from", async () => {
  const profile = `extends: set-b
name: molts
limits:
  - { name: slow posts, operations: [posts.create], max: 1, per: 30m }
  - { name: bids, operations: [jobs.apply], max: 3, per: 1h }
tiers: { free: { perHour: 30 } }
limitHeaders: { remaining: x-left, windowMs: 5m }
`;
  const { root: cwd } = project({ "agents/chatter.ts": CHATTER, "molts.yaml": profile });
  const env = { RETINUE_KEY_CHATTER: SEPARATE["RETINUE_KEY_CHATTER"] };
  const { stdout, stderr } = await inProcess(["plan", "--profile", "molts.yaml"], { cwd, env });
  expect(stderr).toBe("");
  expect(stdout).toContain("  30 calls an hour and 500 a day, by the free tier of molts\n");
  expect(stdout).toContain("  slow posts: 1 every 30m, of posts.create\n");
  expect(stdout).not.toContain("bids");
  expect(stdout).toMatch(/less if an answer says so: .*x-left \(every 5m\)/);
  const { stdout: json } = await inProcess(["plan", "--profile", "molts.yaml", "--json"], { cwd, env });
  expect(JSON.parse(json)).toMatchObject({
    specialists: [{ networkLimits: [{ from: "tier" }, { from: "profile" }, { from: "headers" }] }],
  });
  const plain = await inProcess(["plan"], { cwd, env });
  expect(plain.stdout).toContain("60 calls an hour and 500 a day, by the free tier as published");
});

test("shows the calls by purpose with --lanes", async () => {
  const { stdout } = await planned(SEPARATE, "--lanes");
  expect(stdout).toMatch(/Calls a day\nspecialist +obligation +reply +act +watch +poll +explore\n/);
  expect(stdout).toMatch(/chatter .* 1440 \(75\) /);
  expect(stdout).toMatch(/Calls an hour\nspecialist +obligation/);
  expect(stdout).toMatch(/chatter .* 60 \(9\) /);
});

test("warns where two specialists share a key, and plans with what both want", async () => {
  const key = "sk_live_0123456789abcdef";
  const text = (await planned({ RETINUE_KEY_CHATTER: key, RETINUE_KEY_TWIN: key })).stdout;
  expect(text).toContain("twin shares its key with chatter: they share 500 calls a day");
  expect(text).toContain("chatter shares its key with twin: they share 500 calls a day");
  expect(text).toContain("twin wants, together with chatter, 1440 calls a day of 500");
  expect(text).not.toContain("poll public lists for each other");
});

/** `retinue doctor`: reads only, charged, and what it writes lets the network be joined. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { seededRandom } from "../../src/core/random.ts";
import { accent } from "../campaigns/accents/wire/accent.ts";
import { createLocalNetwork } from "../../src/local-network/local-network.ts";
import { project } from "../harness/project.ts";
import { marksOf } from "../campaigns/accents/marks.ts";
import { inProcess, type Finished } from "../harness/cli.ts";

const SEED = 138;
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function town() {
  const spoken = accent(SEED);
  const network = createLocalNetwork({
    clock: systemClock(),
    random: seededRandom(SEED),
    ...spoken.network,
    residents: {
      perMinute: { post: 0.01, reply: 0.01, like: 0, follow: 0, offer: 0.01, work: 0 },
      already: { post: 30, reply: 40, offer: 8 },
    },
  });
  const listening = await network.listen({ set: "b" });
  closers.push(
    () => network.stop(),
    () => listening.close(),
  );
  const { key } = network.provision({ handle: "scout", tier: "pro", set: "b" });
  network.start();
  const { root: cwd } = project({ "agents/scout.yaml": "handle: scout\ntier: pro\nmay: [posts.reply]\n" });
  writeFileSync(join(cwd, "start.yaml"), JSON.stringify(marksOf(spoken, "b")));
  const doctorWith = (held: string, ...args: string[]): Promise<Finished> =>
    inProcess(["doctor", "--base-url", listening.baseUrls.b ?? "", "--store", "sqlite:store.sqlite", ...args], {
      cwd,
      env: { RETINUE_KEY_SCOUT: held },
    });
  const doctor = (...args: string[]): Promise<Finished> => doctorWith(key, ...args);
  return { network, cwd, doctor, doctorWith };
}

test("drafts a profile by charged reads, which then fits, and tells what changed since", async () => {
  const { network, cwd, doctor } = await town();
  const first = await doctor("--profile", "start.yaml", "--write", "profile.yaml");
  expect(first.stderr).toBe("");
  expect(first.code).toBe(0);
  expect(first.stdout).toMatch(/warning shapes +posts\.list/);
  expect(network.truth.effects({ agent: "scout" })).toEqual([]);
  const asked = network.truth.requests({ agent: "scout" });
  expect(asked.length).toBeGreaterThan(10);

  const file = readFileSync(join(cwd, "profile.yaml"), "utf8");
  expect(file).toMatch(/^# Drafted by retinue doctor/);
  expect(file).toMatch(/# a guess: empty in each of \d+ objects; settle it: /);

  // Alone, it reads by what was drafted, so that only what changed since is told.
  const second = await doctor("--diff", "profile.yaml");
  expect(second.stderr).toBe("");
  expect(second.stdout).not.toMatch(/^problem/m);
  expect(second.stdout).toMatch(/nothing changed since then/);

  const third = await doctor("--profile", "start.yaml", "--diff", "start.yaml", "--json");
  expect(JSON.parse(third.stdout)).toMatchObject({
    ok: true,
    command: "doctor",
    changed: expect.arrayContaining([{ path: "records.post.replyCount", is: expect.any(String) as string }]) as unknown[],
  });
  for (const line of third.stderr.trim().split("\n")) expect(JSON.parse(line)).toHaveProperty("type");
});

test("says of each thing that changed what it was and is", async () => {
  const { cwd, doctor } = await town();
  const before = { ...marksOf(accent(SEED), "b"), lists: { post: ["entries"] } };
  writeFileSync(join(cwd, "before.yaml"), JSON.stringify(before));
  const { stdout } = await doctor("--diff", "before.yaml");
  expect(stdout).toMatch(/changed since then:\n/);
  expect(stdout).toMatch(/^ {2}lists\.post: \["entries"\] -> \["[\w.]+"\]$/m);
  expect(stdout).toMatch(/^ {2}records\.post\.content: \(not stated\) -> /m);
  expect(stdout).not.toMatch(/^ {2}(operations|statuses|guesses)/m);
});

test("writes over nobody's file, and writes nothing where nothing could be read", async () => {
  const { cwd, network, doctor } = await town();
  writeFileSync(join(cwd, "mine.yaml"), "extends: set-b # mine\n");
  const kept = await doctor("--write", "mine.yaml");
  expect(kept.code).toBe(2);
  expect(kept.stderr).toContain("add --profile with the same file");
  expect(readFileSync(join(cwd, "mine.yaml"), "utf8")).toContain("# mine");
  network.regenerateKey("scout");
  const refused = await doctor("--profile", "start.yaml", "--write", "new.yaml");
  expect(refused.code).toBe(1);
  expect(refused.stdout).toContain("nothing is written");
  expect(existsSync(join(cwd, "new.yaml"))).toBe(false);
});

test.each([
  ["--write profile.txt", ["--write", "profile.txt"], "--write takes"],
  ["a profile that is not there", ["--profile", "nowhere.yaml"], "nowhere.yaml"],
  ["a specialist that is not there", ["--as", "nobody"], 'there is no specialist "nobody"'],
])("says what to mend: %s", async (_, args, says) => {
  const { doctor } = await town();
  const finished = await doctor(...args);
  expect(finished.code).toBe(2);
  expect(finished.stderr).toContain(says);
});

test("examines a network whatever its keys begin with, and leaves what a profile states as it is", async () => {
  const { cwd, network, doctorWith } = await town();
  const { key } = network.provision({ handle: "other", tier: "pro", set: "a" });
  const stated = { ...marksOf(accent(SEED), "b"), lists: { post: ["entries"] } };
  writeFileSync(join(cwd, "mine.yaml"), JSON.stringify(stated));
  const bare = await doctorWith(key);
  expect(bare.stderr).not.toContain("belongs to Set A");
  const { stdout, stderr } = await doctorWith(key, "--profile", "mine.yaml", "--write", "mine.yaml");
  expect(stderr).toBe("");
  expect(stdout).toMatch(/the profile states otherwise, and is left as it is:\n {2}lists\.post: \["entries"\] -> /);
  expect(readFileSync(join(cwd, "mine.yaml"), "utf8")).toMatch(/entries/);
});

test("compares nothing where nothing could be read", async () => {
  const { cwd, network, doctor } = await town();
  writeFileSync(join(cwd, "start.yaml"), JSON.stringify(marksOf(accent(SEED), "b")));
  network.regenerateKey("scout");
  const { stdout, code } = await doctor("--diff", "start.yaml");
  expect(code).toBe(1);
  expect(stdout).toContain("nothing could be compared, because nothing could be read");
  expect(stdout).not.toContain("nothing changed");
});

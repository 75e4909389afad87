/** `retinue log` lists what was decided, newest last, by page, and refuses what it cannot follow or read. */
import { expect, test } from "vitest";
import { asIntentId } from "../../src/core/ids.ts";
import { decide } from "../harness/builders.ts";
import { errorOf, storeProject } from "../harness/store-project.ts";

const posts = (count: number) =>
  storeProject((store, now) =>
    decide(
      store,
      now,
      Array.from({ length: count }, (_, i) => ({ id: asIntentId(`i${i}`), conflictKey: `${i}` })),
    ),
  );

test("nothing yet is said as such", async () => {
  expect(await (await storeProject()).run("log")).toMatchObject({ code: 0, stdout: "nothing yet\n" });
});

test("the newest action stands last, and older pages are named", async () => {
  const { run, json } = await posts(5);
  const { stdout } = await run("log", "--lines", "2");
  const shown = [...stdout.matchAll(/\bi(\d)\b/g)].map(([id]) => id);
  expect(shown).toHaveLength(2);
  expect(stdout).toContain("older ones: the same with --before ");
  const { said } = await json("log", "--lines", "2");
  const next = JSON.stringify(said["next"]);
  const rest = await json("log", "--before", next);
  expect(rest.said["entries"]).toHaveLength(3);
});

test("a kind or a specialist narrows it", async () => {
  const { json } = await posts(2);
  expect((await json("log", "--kind", "jobs")).said["entries"]).toEqual([]);
  expect((await json("log", "--kind", "posts", "--as", "scout")).said["entries"]).toHaveLength(2);
});

test.each([
  [["--since", "yesterday"], "option_invalid"],
  [["--lines", "none"], "option_invalid"],
  [["--follow"], "not_running"],
])("%j is a mistake", async (args, error) => {
  const { code, said } = await (await posts(1)).json("log", ...args);
  expect([code, errorOf(said)["code"]]).toEqual([2, error]);
});

test("a log that is cut names the number of all, and words narrow it", async () => {
  const { run, json } = await posts(5);
  expect((await run("log", "--lines", "2")).stdout).toContain("2 of 5");
  expect((await json("log", "--lines", "2")).said["total"]).toBe(5);
  const { said } = await json("log", "--search", "I3 posts.create");
  expect([said["total"], said["entries"]]).toMatchObject([1, [{ id: "i3" }]]);
});

test("the events of one specialist are listed with their actions, newest last", async () => {
  const { run, json } = await posts(3);
  const { stdout } = await run("log", "--events", "--as", "scout", "--lines", "2");
  expect(stdout).toMatch(
    /schedule:talk: done .*i1\n {2}→ posts\.create: ready i1\n.*schedule:talk: done .*i2\n {2}→ posts\.create: ready i2\n/,
  );
  expect(stdout).toContain("2 of 3");
  const { said } = await json("log", "--events", "--as", "scout", "--lines", "1");
  expect(said).toMatchObject({ total: 3, entries: [{ actions: [{ id: "i2", attempts: [], attemptCount: 0 }] }] });
  expect((await run("log", "--events", "--as", "nobody")).stdout).toBe("no events yet\n");
  expect(errorOf((await json("log", "--events")).said)["code"]).toBe("option_missing");
});

test("orders given at the shell are listed with who gave them, and their reasons", async () => {
  const { run, json } = await posts(1);
  expect((await run("log", "--orders")).stdout).toBe("no orders yet\n");
  await run("halt", "--reason", "a look first");
  await run("pause", "nobody");
  const { stdout } = await run("log", "--orders");
  expect(stdout).toMatch(/halt +everyone +a look +halted: no specialist writes/);
  expect(stdout).toMatch(/pause +nobody +- +specialist_unknown: there is no/);
  const { said } = await json("log", "--orders", "--kind", "halt");
  expect([said["total"], said["entries"]]).toMatchObject([1, [{ what: "halt", from: "command", why: "a look first" }]]);
});

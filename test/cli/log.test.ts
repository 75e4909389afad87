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
  expect(stdout).toContain("older ones: retinue log --before ");
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

/** Specialists that go wrong in every way, side by side with one that does not, in one real process. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { became, folder, start, textIn } from "../../harness/process.ts";

/** What each does about every post, and what its failure is called; nothing where it does not fail. */
const CAST: {
  readonly [handle: string]: {
    readonly isolate: "none" | "worker";
    readonly does: string;
    readonly says?: string;
    /** It is refused, and would be so again. */
    readonly forGood?: boolean;
    readonly deadline?: string;
  };
} = {
  good: { isolate: "none", does: `act.reply(post, "I read " + post.id);` },
  "good-apart": { isolate: "worker", does: `act.reply(post, "I read it too: " + post.id);` },
  thrower: { isolate: "none", does: `throw new Error("thrown on purpose");`, says: "thrown on purpose" },
  hanger: { isolate: "none", does: `return new Promise(() => undefined);`, says: "to end within 1500 ms" },
  flooder: { isolate: "none", does: `for (let i = 0; ; i++) act.post("flood " + i);`, says: "at most 100 actions", forGood: true },
  // In turn: of ten lines of one kind a minute both have some.
  litterer: {
    isolate: "none",
    does: `globalThis.turns = (globalThis.turns ?? 0) + 1;
      if (globalThis.turns % 2) setTimeout(() => { throw new Error("left behind"); }, 1);
      else Promise.reject(new Error("dropped"));`,
  },
  blocker: { isolate: "worker", does: `for (;;);`, says: "blocked its thread" },
  exiter: { isolate: "worker", does: `process.exit(9);`, says: "exit code 9" },
  eater: {
    isolate: "worker",
    does: `const heap = []; for (;;) heap.push(new Array(1e6).fill({}));`,
    says: "MiB of memory",
    deadline: "30s",
  },
};

const source = (
  handle: string,
  { isolate, does, deadline = "1500ms" }: { readonly isolate: string; readonly does: string; readonly deadline?: string },
): string => `
import { defineSpecialist } from "retinue";
export default defineSpecialist({
  handle: "${handle}",
  tier: "pro",
  isolate: "${isolate}",
  deadline: "${deadline}",
  watch: { feed: { from: "start" } },
  may: ["posts.reply", "posts.create"],
  brakes: { repliesPerHour: 1000, sameTextWithin: 0 },
  on: { "post.created": (post, act) => { ${does} } },
});
`;

test("a failure in one specialist is reported, retried if that may help, and delays no other", async (context) => {
  const root = folder(context);
  mkdirSync(join(root, "agents"));
  for (const [handle, one] of Object.entries(CAST)) writeFileSync(join(root, `agents/${handle}.js`), source(handle, one));
  const demo = start(context, ["demo", "--data", join(root, "network.sqlite"), "--store", `sqlite:${join(root, "store.sqlite")}`], {
    cwd: root,
  });

  const failed = (handle: string) => (said: JsonObject) =>
    said["type"] === "run" && said["handle"] === handle && ["failed", "parked"].includes(textIn(said, "result"));
  const failing = Object.entries(CAST).flatMap(([handle, { says, forGood = false }]) =>
    says === undefined ? [] : [{ handle, says, result: forGood ? "parked" : "failed" }],
  );
  for (const { handle, says, result } of failing)
    expect(await demo.saying(failed(handle))).toMatchObject({ result, message: expect.stringContaining(says) });

  // While the blocker stood still a second and a half, the others handled what came.
  const handled = (handle: string): number =>
    demo.said
      .slice(0, demo.said.findLastIndex(failed("blocker")))
      .filter((said) => said["type"] === "run" && said["handle"] === handle && said["result"] === "finished").length;
  for (const handle of ["good", "good-apart", "litterer"])
    await expect.poll(() => handled(handle), { message: handle, timeout: 60_000 }).toBeGreaterThanOrEqual(5);

  for (const handle of ["good", "good-apart"])
    await demo.saying((said) => became("confirmed", "posts.reply")(said) && said["handle"] === handle);
  const stray = (what: string) => (said: JsonObject) => said["type"] === "log" && JSON.stringify(said["fields"]).includes(what);
  await demo.saying(stray("left behind"));
  await demo.saying(stray("dropped"));
  expect(demo.said.filter((said) => said["type"] === "intent" && said["handle"] === "flooder")).toEqual([]);
  demo.kill("SIGTERM");
  expect((await demo.ended).code).toBe(0);
});

/** An event that ends the process whenever it is handled: real processes, ended for real. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isObject } from "../../../src/core/json.ts";
import { MAX_CRASHES } from "../../../src/live/live-event.ts";
import { retinue } from "../../harness/cli.ts";
import { became, folder, start } from "../../harness/process.ts";

/** Ends the process for the first post it ever saw, and answers every other. */
const FRAIL = `
import { existsSync, readFileSync, writeFileSync, appendFileSync } from "node:fs";
import { defineSpecialist } from "retinue";
export default defineSpecialist({
  handle: "frail",
  tier: "pro",
  watch: { feed: { from: "start" } },
  may: ["posts.reply"],
  brakes: { repliesPerHour: 1000, sameTextWithin: 0 },
  on: {
    "post.created": (post, act) => {
      if (!existsSync("poison.txt")) writeFileSync("poison.txt", post.id);
      if (readFileSync("poison.txt", "utf8") === post.id) {
        appendFileSync("ends.txt", post.id + "\\n");
        process.kill(process.pid, "SIGKILL");
      }
      act.reply(post, "Hello, I read " + post.id);
    },
  },
});
`;
const STURDY = `
import { defineSpecialist } from "retinue";
export default defineSpecialist({
  handle: "sturdy",
  tier: "pro",
  watch: { feed: { from: "start" } },
  may: ["posts.reply"],
  brakes: { repliesPerHour: 1000, sameTextWithin: 0 },
  on: { "post.created": (post, act) => void act.reply(post, "I read it too: " + post.id) },
});
`;

describe("an event that ends the process", () => {
  test("is parked after the third time, and nothing else is", async (context) => {
    const root = folder(context);
    mkdirSync(join(root, "agents"));
    writeFileSync(join(root, "agents/frail.ts"), FRAIL);
    writeFileSync(join(root, "agents/sturdy.ts"), STURDY);
    const store = `sqlite:${join(root, "store.sqlite")}`;
    const args = ["demo", "--data", join(root, "network.sqlite"), "--store", store];

    for (let i = 0; i < MAX_CRASHES; i++) {
      const { signal } = await start(context, args, { cwd: root }).ended;
      expect(signal).toBe("SIGKILL");
    }
    const last = start(context, args, { cwd: root });
    await last.saying((said) => became("confirmed", "posts.reply")(said) && said["handle"] === "frail");
    await last.saying((said) => became("confirmed", "posts.reply")(said) && said["handle"] === "sturdy");
    const poison = readFileSync(join(root, "poison.txt"), "utf8");
    expect(readFileSync(join(root, "ends.txt"), "utf8").trim().split("\n")).toEqual(Array.from({ length: MAX_CRASHES }, () => poison));

    const status: unknown = JSON.parse((await retinue(["status", "--store", store, "--json"], { cwd: root })).stdout);
    expect(isObject(status) && status["parked"]).toEqual([
      expect.objectContaining({ handle: "frail", what: "post.created", message: "the process ended 3 times while this was handled" }),
    ]);
    last.kill("SIGTERM");
    expect((await last.ended).code).toBe(0);
  });
});

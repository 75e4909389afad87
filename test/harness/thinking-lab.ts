/** A process of a fleet whose first specialist is in the middle of a post. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "vitest";
import { fleetLab, type FleetLab, type Member } from "./fleet-lab.ts";
import { folder } from "./process.ts";

export interface ThinkingLab {
  readonly lab: FleetLab;
  readonly one: Member;
  /** The post that it handles until `goOn`. */
  readonly post: string;
  goOn(): void;
}

/** Its first specialist handles a post of the word "think" until a file is there. */
const slow =
  (until: string) =>
  (handle: string): string =>
    `import { existsSync } from "node:fs";
  export default { handle: "${handle}", tier: "pro", may: ["posts.reply"],
  watch: { feed: { from: "2026-01-01" } }, on: { "post.created": async (post, act) => {
    if ("${handle}" === "s0" && JSON.stringify(post).includes("think")) {
      console.log("thinking");
      while (!existsSync(${JSON.stringify(until)})) await new Promise((resolve) => setTimeout(resolve, 50));
    }
    act.reply(post, "${handle} on " + post.id); } } };`;

export async function thinkingLab(
  context: TestContext,
  { store, specialists }: { readonly store: string; readonly specialists: number },
): Promise<ThinkingLab> {
  const until = join(folder(context), "until");
  const lab = await fleetLab(context, { store, specialists, definition: slow(until) });
  const one = lab.run();
  await lab.answered(await lab.news("one"));
  const post = await lab.news("think");
  await one.saying((said) => JSON.stringify(said).includes("thinking"));
  return { lab, one, post, goOn: () => writeFileSync(until, "") };
}

/** Edits of a project under development, one after the other, in a process of its own: prints as JSON what they took and left. */
import { develop } from "../../test/harness/developing.ts";
import type { Reloads } from "../harness/first-steps.ts";

/** Every tenth edit is broken, and mended by the next; memory is first read after a tenth of all, when the heap has its size. */
const TENTH = 10;
const MB = 1_048_576;
const HANDLES = /Timeout|Worker|MessagePort|FSEvent/;

const SCOUT = `import { words } from "../lib/words.ts";
export default { handle: "scout", on: { "post.created": (_post: unknown, act: any) => { act.state = { words }; } } };
`;

async function reload(reloads: number): Promise<Reloads> {
  const count = (): number => process.getActiveResourcesInfo().filter((name) => HANDLES.test(name)).length;
  const before = count();
  const project = await develop({ "agents/scout.ts": SCOUT, "lib/words.ts": 'export const words: string = "first";' });
  const times: number[] = [];
  let warmMb = 0;
  let good = "first";
  try {
    for (let i = 1; i <= reloads; i++) {
      const isBroken = i % TENTH === 0;
      if (!isBroken) good = `version ${i}`;
      const text = isBroken ? "export const words = ;" : `export const words: string = "${good}";`;
      times.push(await project.edit("lib/words.ts", text, isBroken ? "keeps its last" : "has a new definition"));
      const result = await project.handle("scout", "post.created");
      if (result.kind !== "finished" || result.state?.["words"] !== good)
        throw new Error(`edit ${i}: expected ${good}, got ${JSON.stringify(result)}`);
      if (i === reloads / TENTH) warmMb = process.memoryUsage.rss() / MB;
    }
  } finally {
    await project.close();
  }
  return { times, grownMb: process.memoryUsage.rss() / MB - warmMb, left: Math.max(0, count() - before) };
}

console.log(JSON.stringify(await reload(Number(process.argv[2]))));

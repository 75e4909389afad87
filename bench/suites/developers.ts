/** Development: the time from a saved edit to the definition in use, and what many edits leave behind. */
import { develop } from "../../test/harness/developing.ts";
import { figure } from "../harness/stats.ts";
import { goal, type BenchContext, type Suite } from "../harness/suite.ts";

const RELOADS = 1_000;
/** Reloads before memory is first read: the heap has its size by then. */
const WARM = 100;
/** Every tenth edit is broken, and mended by the next. */
const BROKEN_EVERY = 10;
const MB = 1_048_576;
const HANDLES = /Timeout|Worker|MessagePort|FSEvent/;

const SCOUT = `import { words } from "../lib/words.ts";
export default { handle: "scout", on: { "post.created": (_post: unknown, act: any) => { act.state = { words }; } } };
`;

interface Reloads {
  readonly times: readonly number[];
  readonly grownMb: number;
  readonly left: number;
}

export const suite: Suite = {
  name: "developers",
  title: "Development",
  repeats: () => `${RELOADS.toLocaleString("en")} edits one after the other`,
  async run(context) {
    const { times, grownMb, left } = await reload(context);
    const sorted = times.toSorted((a, b) => a - b);
    const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
    const p95 = at(0.95);
    return {
      columns: ["", "figure", "range"],
      rows: [
        [
          "an edit of an imported file, from its save until it is in use: p50",
          `${figure(at(0.5))} ms`,
          `${figure(at(0))} to ${figure(at(1))}`,
        ],
        ["the same: p95", `${figure(p95)} ms`, ""],
        ["resident memory after all edits, beside that after a tenth", `${figure(grownMb)} MB`, ""],
        ["threads, timers and watches left", String(left), ""],
      ],
      conditions: [
        "One definition and the file that it imports, both TypeScript, on the disk; the runtime is that of the checkout, whose types Node strips in each new thread.",
        `After each edit one event is handled by the version in use. One edit in ${BROKEN_EVERY} is broken, and the last good version has to handle it.`,
      ],
      plots: [],
      goals: [
        goal("edit to use, p95", { most: 500 }, p95, " ms"),
        goal("growth of resident memory", { most: 20 }, grownMb, " MB"),
        goal("threads, timers and watches left", { most: 0 }, left, ""),
      ],
      ratios: {},
    };
  },
};

async function reload({ quick, progress }: BenchContext): Promise<Reloads> {
  const count = (): number => process.getActiveResourcesInfo().filter((name) => HANDLES.test(name)).length;
  const before = count();
  const project = await develop({ "agents/scout.ts": SCOUT, "lib/words.ts": 'export const words: string = "first";' });
  const times: number[] = [];
  let warmMb = 0;
  let good = "first";
  try {
    const reloads = quick ? 40 : RELOADS;
    const warm = quick ? 10 : WARM;
    for (let i = 1; i <= reloads; i++) {
      const isBroken = i % BROKEN_EVERY === 0;
      if (!isBroken) good = `version ${i}`;
      const text = isBroken ? "export const words = ;" : `export const words: string = "${good}";`;
      times.push(await project.edit("lib/words.ts", text, isBroken ? "keeps its last" : "has a new definition"));
      const result = await project.handle("scout", "post.created");
      if (result.kind !== "finished" || result.state?.["words"] !== good)
        throw new Error(`edit ${i}: expected ${good}, got ${JSON.stringify(result)}`);
      if (i === warm) warmMb = process.memoryUsage.rss() / MB;
      if (i % 250 === 0) progress(`${i} edits, ${figure(process.memoryUsage.rss() / MB)} MB`);
    }
  } finally {
    await project.close();
  }
  return { times, grownMb: process.memoryUsage.rss() / MB - warmMb, left: Math.max(0, count() - before) };
}

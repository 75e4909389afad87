/** Definitions that change while they run: the last good version of a broken file goes on until the file is mended or gone. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { loadConfig } from "../../src/config/config.ts";
import { createDefinitionLoader } from "../../src/config/definitions.ts";
import { shippedProfile } from "../../src/contract/profile/profile.ts";
import { createAnnouncer } from "../../src/core/events.ts";
import { createLogger } from "../../src/core/log.ts";
import { SECOND } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { readRoster } from "../../src/runtime/launch.ts";
import { keepReloading, type DefinitionsChanged } from "../../src/runtime/reload.ts";
import { project } from "../harness/project.ts";

async function running(files: { readonly [path: string]: string }, isHasty = false) {
  const { root, write } = project(files);
  const virtual = virtualClock();
  const turns: (() => void)[] = [];
  const clock = { ...virtual, soon: (run: () => void): void => virtual.soon(() => (turns.push(run), run())) };
  const config = await loadConfig({ env: {}, cwd: root });
  const loader = createDefinitionLoader(clock);
  const load = () => readRoster(config, shippedProfile("a"), clock, { loader });
  const runs = new Map<string, string | undefined>();
  const told: string[] = [];
  const announcer = createAnnouncer();
  announcer.on("definition", ({ handle, message }) => void told.push(`${handle} ${message}`));
  const runtime = {
    announcer,
    put: ({ handle, bio }: { readonly handle: string; readonly bio: string | undefined }) => Promise.resolve(void runs.set(handle, bio)),
    retire: (handle: string) => void runs.delete(handle),
  };
  const roster = await load();
  for (const { specialist } of roster.definitions) runs.set(specialist.handle, specialist.bio);
  const log = createLogger({ level: "error", now: () => clock.now(), sink: ({ message }) => void told.push(message) });
  const end = new AbortController();
  const onChange = async ({ put, retired }: DefinitionsChanged): Promise<void> =>
    void told.push(`put ${put.length}, retired ${retired.join(" ")}, of ${runs.size}`);
  const over = keepReloading({ config, roster, runtime, clock, log, load, loader, refresh: () => false, isHasty, onChange }, end.signal);
  while (clock.pending() === 0) await clock.settle(); // it has seen the folder as it is once it waits
  onTestFinished(async () => {
    end.abort();
    let isOver = false;
    void over.then(() => (isOver = true));
    while (!isOver) await (clock.pending() === 0 ? clock.settle() : clock.advance(SECOND)); // files are read in real time
  });
  return {
    root,
    write,
    told,
    turns,
    clock,
    runs: () => [...runs].map(([handle, bio]) => `${handle}:${bio ?? ""}`).toSorted(),
    /** Files are read in real time: virtual time passes until each of these was told. */
    telling: async (...texts: readonly string[]) => {
      while (!texts.every((text) => told.some((line) => line.includes(text)))) await clock.advance(SECOND);
    },
  };
}

test("the last good version of a broken file goes on, also where another file names its handle; one that is gone ends", async () => {
  const { root, write, telling, runs } = await running({
    "agents/a.yaml": "handle: a",
    "agents/b.yaml": "handle: b\nbio: one",
    "agents/c.yaml": "handle: c",
    "agents/d.yaml": "handle: d",
  });
  write("agents/b.yaml", "handle: b\nbio: [");
  write("agents/c.yaml", "tier: x");
  write("agents/new-c.yaml", "handle: c\nbio: new");
  rmSync(join(root, "agents/d.yaml"));
  await telling("b keeps its last working definition", "c keeps its last working definition", "d is no longer defined");
  expect(runs()).toEqual(["a:", "b:one", "c:"]);
  rmSync(join(root, "agents/c.yaml"));
  await telling("c has a new definition");
  expect(runs()).toEqual(["a:", "b:one", "c:new"]);
});

test("a definition that this network cannot run keeps the version that ran before", async () => {
  const { write, telling, runs } = await running({ "agents/a.yaml": "handle: a\ntier: pro\nbio: one" });
  write("agents/a.yaml", "handle: a\ntier: growth\nbio: two");
  await telling("a keeps its last working definition");
  expect(runs()).toEqual(["a:one"]);
});

test("if a person waits, an edit counts within half a second of the clock, and so does a broken one", async () => {
  const { write, clock, told, runs } = await running({ "agents/a.yaml": "handle: a\nbio: one" }, true);
  const within = async (text: string): Promise<number> => {
    const began = clock.now();
    // Without a timer it reads files, for which no virtual time passes.
    while (!told.some((line) => line.includes(text))) await (clock.pending() === 0 ? clock.settle() : clock.advance(10));
    return clock.now() - began;
  };
  write("agents/a.yaml", "handle: a\nbio: two");
  expect(await within("a has a new definition")).toBeLessThanOrEqual(500);
  expect(runs()).toEqual(["a:two"]);
  write("agents/a.yaml", "handle: a\nbio: [");
  expect(await within("a keeps its last working definition: agents/a.yaml")).toBeLessThanOrEqual(500);
});

test("a changed module of many definitions is told once, before all of them, and the event loop turns between them", async () => {
  const agents = Object.fromEntries(
    Array.from({ length: 50 }, (_, i) => [`agents/s${i}.ts`, `import bio from "./_bio.ts"; export default { handle: "s${i}", bio };`]),
  );
  const { root, write, told, turns, telling, runs } = await running({
    ...agents,
    "agents/_bio.ts": `export default "one";`,
    "agents/z.yaml": "handle: z",
  });
  expect(turns).toEqual([]);
  rmSync(join(root, "agents/z.yaml"));
  write("agents/_bio.ts", `export default "two";`);
  await telling("z is no longer defined");
  expect(told[0]).toBe("put 50, retired z, of 51");
  expect(told.filter((line) => line.startsWith("put"))).toHaveLength(1);
  expect([turns.length, new Set(runs().map((run) => run.split(":")[1]))]).toEqual([3, new Set(["two"])]);
});

test("a stop does not wait for files that are being read", async () => {
  const { root, write } = project({ "agents/a.yaml": "handle: a" });
  const clock = virtualClock();
  const config = await loadConfig({ env: {}, cwd: root });
  const loader = createDefinitionLoader(clock);
  const roster = await readRoster(config, shippedProfile("a"), clock, { loader });
  const reading = Promise.withResolvers<void>();
  const put: string[] = [];
  const runtime = {
    announcer: createAnnouncer(),
    put: ({ handle }: { readonly handle: string }) => Promise.resolve(void put.push(handle)),
    retire: () => undefined,
  };
  const load = async (): Promise<typeof roster> => {
    reading.resolve();
    return new Promise(() => undefined); // a disk that does not answer
  };
  const log = createLogger({ level: "error", now: () => clock.now(), sink: () => undefined });
  const end = new AbortController();
  const over = keepReloading({ config, roster, runtime, clock, log, load, loader, refresh: () => false }, end.signal);
  while (clock.pending() === 0) await clock.settle();
  write("agents/a.yaml", "handle: a\nbio: new");
  let isReading = false;
  void reading.promise.then(() => (isReading = true));
  while (!isReading) await (clock.pending() === 0 ? clock.settle() : clock.advance(SECOND));
  end.abort();
  await over;
  expect(put).toEqual([]);
});

/** Halts that a disk did not take are stored at the end of the process, and said to be lost if that fails too. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { createLogger, type LogLine } from "../../src/core/log.ts";
import { seededRandom } from "../../src/core/random.ts";
import { systemClock } from "../../src/core/clock.ts";
import { keepHalts } from "../../src/runtime/keep-halts.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import type { Stop } from "../../src/limits/verdict.ts";
import { project } from "../harness/project.ts";

const HALT: Stop = { scope: "scout", reason: "wrong words", since: 500 };

async function kept(path: string, halts: readonly Stop[]) {
  const lines: LogLine[] = [];
  const log = createLogger({ level: "info", now: () => 0, sink: (line) => void lines.push(line) });
  await keepHalts(halts, { store: { kind: "sqlite", path }, clock: systemClock(), random: seededRandom(1), log });
  return lines.map(({ level, message }) => [level, message]);
}

test("a halt is there at the next start, with its reason and its time", async () => {
  const path = join(project().root, "store.sqlite");
  expect(await kept(path, [HALT])).toEqual([["info", "the halt is stored now: the next start obeys it"]]);
  const store = openSqliteStore({ path, clock: systemClock(), random: seededRandom(2) });
  expect((await store.stops()).halts).toEqual([HALT]);
  await store.close();
});

test("a store that cannot be opened makes the log say that the halt is lost", async () => {
  const { root } = project({ "store.sqlite": "this is no database, and never was one: it is a text that a person wrote".repeat(20) });
  expect(await kept(join(root, "store.sqlite"), [HALT])).toEqual([
    ["error", "the halt could not be stored: give it again before the next start"],
  ]);
});

test("without a halt nothing is opened and nothing is said", async () => {
  expect(await kept(join(project().root, "none/store.sqlite"), [])).toEqual([]);
});

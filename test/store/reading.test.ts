/** A store on a disk that takes no writes is read completely, and nothing beside it changes. */
import { chmodSync, copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { Retryable } from "../../src/core/errors.ts";
import { eventId } from "../../src/contract/event-id.ts";
import { asHandle } from "../../src/core/ids.ts";
import { systemRandom } from "../../src/core/random.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";

const REASON = new Retryable("store_unwritable", "there is no room");
const options = (path: string) => ({ path, clock: systemClock(), random: systemRandom() });

function folder(): string {
  const root = mkdtempSync(join(tmpdir(), "retinue-reading-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  return root;
}

async function written(path: string): Promise<Store> {
  const store = openSqliteStore(options(path));
  await store.saveAccount(asHandle("scout"), "agt_1", 1);
  await store.stop("halt", "*", "a test", 1);
  return store;
}

/** The files, and what is in those that only a writer may change. */
function filesOf(root: string): readonly (readonly [string, string])[] {
  return readdirSync(root)
    .toSorted()
    .map((name) => [name, name.endsWith("-shm") ? "" : readFileSync(join(root, name), "base64")]);
}

test("rows that a process left in the log are read, and every write fails with the reason", async () => {
  const root = folder();
  const path = join(root, "store.sqlite");
  const writer = await written(path);
  onTestFinished(() => writer.close());
  const [copy, before] = [join(folder(), "store.sqlite"), filesOf(root)];
  for (const end of ["", "-wal", "-shm"]) copyFileSync(path + end, copy + end);
  for (const place of [path, copy]) {
    const reader = openSqliteStore({ ...options(place), readOnly: REASON });
    expect((await reader.stops()).halts).toMatchObject([{ scope: "*", reason: "a test" }]);
    expect(await reader.handles()).toEqual(["scout"]);
    await expect(reader.stop("pause", "*", "too late", 2)).rejects.toBe(REASON);
    await expect(reader.saveAccount(asHandle("scout"), "agt_2", 2)).rejects.toBe(REASON);
    await reader.close();
  }
  expect(filesOf(root)).toEqual(before);
});

test("a store that was closed in order is read, also in a folder that cannot be written", async () => {
  const root = folder();
  const path = join(root, "store.sqlite");
  await (await written(path)).close();
  const before = filesOf(root);
  chmodSync(root, 0o500);
  onTestFinished(() => chmodSync(root, 0o700));
  const reader = openSqliteStore({ ...options(path), readOnly: REASON });
  expect((await reader.stops()).halts).toHaveLength(1);
  await reader.close();
  expect(filesOf(root)).toEqual(before);
});

test("facts after the last fold are read as well", async () => {
  const root = folder();
  const path = join(root, "store.sqlite");
  const writer = await written(path);
  onTestFinished(() => writer.close());
  const scout = asHandle("scout");
  const event = { specialist: scout, id: eventId("post.created", "p1"), kind: "post.created", payload: { id: "p1" }, hops: 0 } as const;
  await writer.putEvents({ events: [{ ...event, via: "webhook" }], watches: [] }, 5);
  const reader = openSqliteStore({ ...options(path), readOnly: REASON });
  expect(await reader.findEvents(event.id, 1)).toMatchObject([{ state: "ready" }]);
  await reader.close();
});

test("a store of an earlier schema is read as one of the present schema, and stays as it is", async () => {
  const root = folder();
  const path = join(root, "store.sqlite");
  const db = new DatabaseSync(path);
  db.exec(readFileSync(join(import.meta.dirname, "schema-13.sql"), "utf8"));
  db.close();
  const before = filesOf(root);
  const reader = openSqliteStore({ ...options(path), readOnly: REASON });
  expect(await reader.intents({ limit: 20 })).not.toHaveLength(0);
  await reader.close();
  expect(filesOf(root)).toEqual(before);
});

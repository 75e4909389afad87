/** The port of metadata: one salt for good, one network, and a copy that is whole and replaces nothing. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { systemRandom } from "../../src/core/random.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { project } from "../harness/project.ts";

const open = (path: string) => openSqliteStore({ path, clock: systemClock(), random: systemRandom() });

test("salt and network are kept over a restart, and the salt is made once", async () => {
  const path = join(project().root, "store.sqlite");
  const first = open(path);
  expect([await first.network(), await first.salt(() => "one"), await first.salt(() => "two")]).toEqual([undefined, "one", "one"]);
  await first.belongTo("https://here.example/v1");
  await first.belongTo("https://there.example/v1");
  await first.close();
  const second = open(path);
  expect([await second.network(), await second.salt(() => "three")]).toEqual(["https://there.example/v1", "one"]);
  await second.close();
});

test("a copy opens as a store of its own, and no file is written over", async () => {
  const { root } = project();
  const store = open(join(root, "store.sqlite"));
  await store.stop("halt", "scout", "wrong words", 5);
  const copy = join(root, "copy.sqlite");
  await store.backup(copy);
  writeFileSync(join(root, "notes"), "mine");
  for (const file of [copy, join(root, "notes")]) await expect(store.backup(file)).rejects.toMatchObject({ code: "backup_exists" });
  await store.close();
  const opened = open(copy);
  expect((await opened.stops()).halts).toMatchObject([{ scope: "scout", reason: "wrong words" }]);
  await opened.close();
});

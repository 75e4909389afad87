/** A project's file with a history is not left behind by a start on an unused server; nor is the copy of one. A file without one is. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parsePostgresAddress } from "../../src/config/postgres-address.ts";
import { eventId } from "../../src/contract/event-id.ts";
import { systemClock } from "../../src/core/clock.ts";
import { asHandle } from "../../src/core/ids.ts";
import { systemRandom } from "../../src/core/random.ts";
import { EVERYONE } from "../../src/limits/verdict.ts";
import { copiedTo } from "../../src/store/copied.ts";
import { leftBehind } from "../../src/store/left-behind.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";
import { project } from "../harness/project.ts";

const HERE = "https://here.example.com/v1";
const clock = systemClock();
const scout = asHandle("scout");

async function filled(cwd: string, fill: (store: Store) => Promise<unknown>): Promise<void> {
  mkdirSync(join(cwd, ".retinue"), { recursive: true });
  const store = openSqliteStore({ path: join(cwd, ".retinue/store.sqlite"), clock, random: systemRandom() });
  await store.belongTo(HERE);
  await store.saveAccount(scout, "agt_1", clock.now());
  await fill(store);
  await store.close();
}

const begun = (cwd: string, network = HERE) =>
  leftBehind({ store: parsePostgresAddress("postgres://me@127.0.0.1/x", cwd), network, allowMoved: false, cwd });

const EVENT = { specialist: scout, id: eventId("post.created", "p1"), kind: "post.created", payload: {}, via: "poll", hops: 0 } as const;
const hears = (store: Store) => store.putEvents({ events: [EVENT] }, clock.now());

test("a history is named with what takes it along", async () => {
  const { root } = project();
  await filled(root, hears);
  expect(begun(root)).toMatchObject({
    code: "store_left_behind",
    details: {
      file: join(root, ".retinue/store.sqlite"),
      hint: expect.stringContaining("retinue store copy <address> --store sqlite:.retinue/store.sqlite"),
    },
  });
});

test("without a file, without a history, or with another program's file, nothing is left behind", async () => {
  const { root } = project();
  expect(begun(root)).toBeUndefined();
  await filled(root, async () => undefined);
  expect(begun(root)).toBeUndefined();
  const other = project({ ".retinue/other": "" }).root;
  writeFileSync(join(other, ".retinue/store.sqlite"), "no database");
  expect(begun(other)).toBeUndefined();
});

test("a copy is named where the store is another one, and a history of another network has nothing to repeat", async () => {
  const { root } = project();
  await filled(root, hears);
  expect(begun(root, "https://there.example.com/v1")).toBeUndefined();
  await filled(root, (store) => store.stop("halt", EVERYONE, "wrong words", clock.now()));
  expect(begun(root)).toMatchObject({ code: "store_left_behind" });
  await filled(root, async (store) => {
    await store.lift("halt", EVERYONE);
    await store.stop("halt", EVERYONE, copiedTo("elsewhere"), clock.now());
  });
  expect(begun(root)).toMatchObject({
    code: "store_left_behind",
    message: expect.stringContaining("the rows of the project's file were copied to elsewhere"),
    details: { hint: expect.stringContaining("name that copy") },
  });
});

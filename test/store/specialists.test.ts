/** The port of specialists: accounts once learnt, suspensions with their reason, and a start that tries everyone again. */
import { expect, test } from "vitest";
import { asHandle } from "../../src/core/ids.ts";
import { desk, SCOUT } from "../harness/guardian-over-store.ts";

const QUILL = asHandle("quill");

test("an account is known by its handle, and the last one counts", async () => {
  const { clock, store, on } = desk();
  expect(await on(store.loadSpecialist(SCOUT))).toEqual({ accountId: undefined, parked: undefined });
  await on(store.saveAccount(SCOUT, "agt_1", clock.now()));
  await on(store.saveAccount(SCOUT, "agt_2", clock.now()));
  await on(store.saveAccount(QUILL, "agt_3", clock.now()));
  expect(await on(store.accounts())).toEqual(
    new Map([
      [SCOUT, "agt_2"],
      [QUILL, "agt_3"],
    ]),
  );
});

test("a suspension has its reason and time, survives a new account, and ends alone or with all", async () => {
  const { clock, store, on } = desk();
  for (const handle of [SCOUT, QUILL])
    await on(store.suspend(handle, { code: "key_refused", message: "401", until: clock.now() + 5 }, clock.now()));
  await on(store.saveAccount(SCOUT, "agt_1", clock.now()));
  expect(await on(store.loadSpecialist(SCOUT))).toEqual({
    accountId: "agt_1",
    parked: { code: "key_refused", message: "401", at: clock.now(), until: clock.now() + 5 },
  });
  await on(store.resume(SCOUT, clock.now()));
  expect([(await on(store.loadSpecialist(SCOUT))).parked, (await on(store.loadSpecialist(QUILL))).parked?.code]).toEqual([
    undefined,
    "key_refused",
  ]);
  await on(store.resumeAll(clock.now()));
  expect((await on(store.loadSpecialist(QUILL))).parked).toBeUndefined();
});

/** Stops in force: those of the store, and halts that the process alone has, each once. */
import { expect, test } from "vitest";
import { createUnkeptHalts } from "../../src/gateway/unkept-halts.ts";
import { stopsInForce } from "../../src/guardian/stops-in-force.ts";
import { desk } from "../harness/guardian-over-store.ts";

test("a halt that could not be stored is in force and says so; once it is stored it is listed once", async () => {
  const { clock, store, on } = desk();
  const unkept = createUnkeptHalts();
  unkept.hold({ scope: "scout", reason: "wrong words", since: 5 });
  await on(store.stop("pause", "quill", "rest", clock.now()));
  expect(await on(stopsInForce(store, unkept))).toEqual({
    halts: [{ scope: "scout", reason: "wrong words", since: 5, kept: false }],
    pauses: [{ scope: "quill", reason: "rest", since: clock.now() }],
  });
  await on(store.stop("halt", "scout", "wrong words", clock.now()));
  expect((await on(stopsInForce(store, unkept))).halts).toEqual([{ scope: "scout", reason: "wrong words", since: clock.now() }]);
});

test("without a runtime there is only the store's word", async () => {
  const { store, on } = desk();
  expect(await on(stopsInForce(store, undefined))).toEqual({ halts: [], pauses: [] });
});

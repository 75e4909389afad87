/** Stops by a person: for a handle that is known, in one sentence that names what stays in force, and never lost in silence. */
import { expect, test } from "vitest";
import { Fatal, Retryable } from "../../src/core/errors.ts";
import { createControls, known } from "../../src/guardian/halt-and-pause.ts";
import { EVERYONE } from "../../src/limits/verdict.ts";
import { MINUTE } from "../../src/core/units.ts";
import { desk, type Desk } from "../harness/guardian-over-store.ts";
import { harness } from "../harness/harness.ts";

async function scoutDesk(): Promise<Desk> {
  const here = desk();
  await here.event("e1");
  return here;
}

test("a stop for a mistyped handle is an error, not a stop", async () => {
  const { guardian, on } = await scoutDesk();
  await expect(on(guardian.halt({ handle: "scuot" }))).rejects.toMatchObject({ code: "specialist_unknown" });
  await on(guardian.halt({ handle: "scout" }));
  expect(await on(guardian.lift({}))).toMatchObject({ message: expect.stringContaining("still halted: scout") });
});

test("the end of a stop names the ones that stay in force, and the command that ends each", async () => {
  const { guardian, on } = await scoutDesk();
  await on(guardian.halt({}));
  await on(guardian.halt({ handle: "scout" }));
  expect(await on(guardian.lift({}))).toEqual({
    message: "everyone else may write again; still halted: scout (retinue halt scout --lift)",
  });
  await on(guardian.halt({}));
  expect(await on(guardian.lift({ handle: "scout" }))).toEqual({
    message: "scout is no longer halted by its own name; still halted: everyone (retinue halt --lift)",
  });
  expect(await on(guardian.lift({}))).toEqual({ message: "everyone may write again" });
  await on(guardian.pause({}));
  await on(guardian.pause({ handle: "scout" }));
  expect(await on(guardian.resume({}))).toEqual({ message: "everyone else goes on; still paused: scout (retinue resume scout)" });
  await on(guardian.pause({}));
  expect(await on(guardian.resume({ handle: "scout" }))).toEqual({
    message: "scout is no longer paused by its own name; still paused: everyone (retinue resume)",
  });
});

test("the scope of a stop is everyone or a handle that has run here", async () => {
  const { context, on } = await scoutDesk();
  expect([await on(known(context, undefined)), await on(known(context, "scout"))]).toEqual([EVERYONE, "scout"]);
  await expect(on(known(context, "nobody"))).rejects.toMatchObject({ details: { expected: "one of scout" } });
  await expect(on(known(desk().context, "nobody"))).rejects.toMatchObject({
    details: { expected: "the handle of a specialist, of which there is none" },
  });
});

test("an end of what was never stopped says so", async () => {
  const { guardian, on } = await scoutDesk();
  expect([await on(guardian.lift({})), await on(guardian.resume({ handle: "scout" }))]).toEqual([
    { message: "everyone was not halted" },
    { message: "scout was not paused" },
  ]);
  expect(await on(guardian.unfreeze({ by: "me", reason: "checked" }))).toEqual({ message: "the shared account was not frozen" });
});

test("a halt that no process holds and no disk takes is an error, to be given again", async () => {
  const { context, store, on } = await scoutDesk();
  const full = { ...store, stop: () => Promise.reject(new Fatal("store_lost", "the disk is full")) };
  const error = await on(
    createControls({ ...context, store: full })
      .halt({})
      .catch((thrown: unknown) => thrown),
  );
  expect(error).toBeInstanceOf(Retryable);
  expect(error).toMatchObject({ code: "halt_not_stored", message: "the halt is not stored: the disk is full" });
});

test("a halt names the writes that are on their way, and nobody else's", async () => {
  const gate = Promise.withResolvers<void>();
  const here = await harness({
    specialists: ["scout", "quill"].map((handle) => ({
      handle,
      may: ["posts.create"],
      schedules: { talk: { every: "1m", run: (act) => void act.post(`Hello ${act.now}`) } },
    })),
    link: (plain) => async (request) => {
      if (request.method === "POST") await gate.promise;
      return plain(request);
    },
  });
  await here.clock.runUntil(() => false, 3 * MINUTE);
  const halted = await here.clock.run(here.guardian.halt({ handle: "scout" }));
  const write = (handle: string) => expect.objectContaining({ handle, operation: "posts.create" });
  expect(halted).toMatchObject({ message: "halted: scout does not write", inFlight: [write("scout"), write("scout")] });
  const all = (await here.clock.run(here.guardian.halt({}))).inFlight.map(({ handle }) => handle);
  expect(all.toSorted()).toEqual(["quill", "quill", "scout", "scout"]);
  gate.resolve();
});

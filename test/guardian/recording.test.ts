/** A recording: one event as it was stored, with its specialist's present value, and refused where it is not one. */
import { expect, test } from "vitest";
import { asHandle } from "../../src/core/ids.ts";
import { recordEvent } from "../../src/guardian/recording.ts";
import { desk, SCOUT } from "../harness/guardian-desk.ts";

const QUILL = asHandle("quill");

test("an event is recorded with its time, its payload and the account, and no value before the first", async () => {
  const here = desk();
  await here.event("e1", { payload: { content: "a word" } });
  const at = here.clock.now();
  await here.clock.advance(1_000);
  expect(await here.on(recordEvent(here.store, "e1", undefined))).toEqual({
    recording: 1,
    handle: "scout",
    event: { id: "e1", kind: "post.created", at, payload: { content: "a word" } },
    account: "agt_scout",
  });
});

test("an event that reached several specialists needs a name, and is then that one's", async () => {
  const here = desk();
  await here.event("e1");
  await here.event("e1", { specialist: QUILL, kind: "post.liked" });
  await expect(here.on(recordEvent(here.store, "e1", undefined))).rejects.toMatchObject({
    code: "nothing_found",
    message: expect.stringMatching(/reached .*(scout.*quill|quill.*scout)/) as string,
  });
  expect(await here.on(recordEvent(here.store, "e1", "quill"))).toMatchObject({ handle: "quill", event: { kind: "post.liked" } });
});

test.each([
  ["e9", undefined],
  ["e1", "quill"],
])("%s of %s is not stored, which is said", async (id, handle) => {
  const here = desk();
  await here.event("e1", { specialist: SCOUT });
  await expect(here.on(recordEvent(here.store, id, handle))).rejects.toMatchObject({
    code: "nothing_found",
    message: `there is no event "${id}"${handle === undefined ? "" : " of quill"}`,
  });
});

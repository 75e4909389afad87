/** Why: an id means an action, an event, a specialist, an operation or an object, in this order, and else an error that helps. */
import { expect, test } from "vitest";
import { asHandle, asIntentId } from "../../src/core/ids.ts";
import { EVERYONE } from "../../src/limits/verdict.ts";
import { createGuardian } from "../../src/guardian/guardian.ts";
import { decide, memberOf } from "../harness/builders.ts";
import { desk, SCOUT } from "../harness/guardian-over-store.ts";

test("an unknown name is refused with where names are found", async () => {
  const { guardian, on } = desk();
  await expect(on(guardian.why({ id: "nobody" }))).rejects.toMatchObject({
    code: "nothing_found",
    details: { hint: expect.stringContaining("retinue log") as string },
  });
});

test("without a process an action says so after the stops that hold it, and names the command that begins", async () => {
  const { clock, store, guardian, on } = desk();
  await on(decide(store, clock.now(), [{ id: asIntentId("a1") }]));
  expect(await on(guardian.why({ id: "a1" }))).toMatchObject({
    about: "intent",
    state: "ready",
    reasons: [{ rule: "not_running" }],
    hint: "retinue run",
  });
  await on(store.stop("halt", EVERYONE, "wrong words", clock.now()));
  await on(store.stop("pause", "quill", "rest", clock.now()));
  expect(await on(guardian.why({ id: "a1" }))).toMatchObject({
    reasons: [{ rule: "halted", message: "halted: wrong words" }, { rule: "not_running" }],
    hint: "retinue halt --lift",
  });
});

test("an action says what goes first: the earlier one of its handling, or the one that creates its object", async () => {
  const { clock, store, guardian, on } = desk();
  await on(
    decide(store, clock.now(), [
      { id: asIntentId("a1") },
      { id: asIntentId("b1"), operation: "posts.reply", targetIntent: asIntentId("a1") },
    ]),
  );
  expect((await on(guardian.why({ id: "b1" }))).reasons[0]).toMatchObject({
    rule: "depends_on",
    message: "its target is the object that a1 creates, which is ready",
  });
});

test("an event at several specialists is shown by the worst, with the others beside it", async () => {
  const { guardian, on, event, failed } = desk();
  await event("e1", { specialist: asHandle("quill") });
  await failed("e1");
  const why = await on(guardian.why({ id: "e1" }));
  expect([why.handle, why.state, why.hint]).toEqual(["scout", "failing", "mend what it needs, then: retinue retry e1 --as scout"]);
  expect(why.found).toMatchObject([{ handle: "quill", state: "ready" }]);
});

test("an operation is open, or stopped with the changes that a person should see", async () => {
  const { clock, store, guardian, on } = desk();
  expect(await on(guardian.why({ id: "posts.vote" }))).toMatchObject({ about: "operation", state: "open", reasons: [] });
  const data = {
    operation: "posts.vote",
    severity: "breaking",
    kind: "missing-field",
    record: "post",
    path: "id",
    type: "missing",
    firstSeenMs: 5,
    lastSeenMs: 9,
    count: 3,
  };
  await on(store.saveNetworkState({ put: [{ kind: "drift", name: "posts.vote x", data }], drop: [] }, clock.now()));
  expect(await on(guardian.why({ id: "posts.vote" }))).toMatchObject({
    state: "changed",
    since: 5,
    reasons: [{ rule: "drift_breaking", message: "id is missing, seen 3 times" }],
    hint: expect.stringContaining("retinue doctor --diff") as string,
  });
});

test("a specialist without a process waits for one, and shows its failing handlers", async () => {
  const { guardian, on, failed } = desk();
  await failed("e1");
  expect(await on(guardian.why({ id: "scout" }))).toMatchObject({
    about: "specialist",
    state: "failing",
    reasons: [{ rule: "handler_failed" }, { rule: "not_running" }],
  });
});

test("a specialist whose key was refused says so also where nothing runs, whatever its definition is like now", async () => {
  const { clock, store, on, event } = desk();
  await event("e1");
  await on(store.suspend(SCOUT, { code: "key_refused", message: "the network does not accept the key" }, clock.now()));
  const broken = (): Promise<never> => Promise.reject(new Error("a definition cannot be loaded"));
  for (const members of [async () => [memberOf()], broken])
    expect(await on(createGuardian({ store, clock, members }).why({ id: "scout" }))).toMatchObject({
      state: "waiting",
      reasons: [{ rule: "key_refused", message: "the network does not accept the key" }, { rule: "not_running" }],
    });
});

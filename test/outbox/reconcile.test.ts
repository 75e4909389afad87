/** Intents in doubt: what a look at the network may, and may not, decide. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DAY, HOUR, MINUTE } from "../../src/core/units.ts";
import type { Intent } from "../../src/outbox/intent.ts";
import { ABSENT_CHECKS, MAX_ATTEMPTS, mayHaveHappened, reconcile, type Check } from "../../src/outbox/reconcile.ts";
import { intentOf } from "../harness/builders.ts";
import type { Proof } from "../../src/store/outbox.ts";

const SENT = 1_000_000;
const QUIET = 210_000;
const proven: Proof = { proven: true, found: 1, missed: 0, latenessMs: 0 };
const unproven: Proof = { ...proven, proven: false, found: 0 };

const intent = (over: Partial<Intent> = {}): Intent =>
  intentOf({ operation: "posts.reply", lane: "reply", target: "p1", checks: ABSENT_CHECKS - 1, sentAt: SENT, createdAt: SENT, ...over });
const look = (over: Partial<Intent>, proof: Proof, now: number) =>
  reconcile(
    intent(over),
    { kind: "absent", proves: true },
    { quietMs: QUIET, now, knownForMs: now - SENT, proof, attempts: over.attempt ?? 1 },
  );

describe("an action in doubt", () => {
  test("that is found is confirmed, whenever it is found", () => {
    const found = reconcile(
      intent(),
      { kind: "found", ref: "p9", proves: true },
      { quietMs: QUIET, now: SENT + 1, knownForMs: 1, proof: unproven, attempts: 1 },
    );
    expect(found).toEqual({ state: "confirmed", createdRef: "p9" });
  });

  test("is not sent again before the quiet period is over, however often it is not seen", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: QUIET - 1 }), fc.integer({ min: 0, max: 50 }), (after, checks) => {
        const change = look({ checks }, proven, SENT + after);
        expect(change.state).toBe("in_doubt");
        expect(change.checked).toBeUndefined();
        expect(change.nextAt).toBeLessThanOrEqual(SENT + QUIET);
        expect(change.nextAt).toBeGreaterThan(SENT + after);
      }),
    );
  });

  test("is sent again after two complete looks past the quiet period, where reading back is proven", () => {
    expect(look({ checks: 0 }, proven, SENT + QUIET)).toMatchObject({ state: "in_doubt", checked: true });
    expect(look({ checks: 1 }, proven, SENT + QUIET)).toMatchObject({ state: "ready" });
  });

  test.each([
    ["whose operation must never happen twice", { effect: "at-most-once" } as const, proven, "absent_at_most_once"],
    ["whose read-back was never seen to work", {}, unproven, "absent_unproven"],
    ["that was sent often enough", { attempt: MAX_ATTEMPTS }, proven, "attempts_spent"],
  ])("%s waits for a person instead", (_name, over, proof, code) => {
    expect(look(over, proof, SENT + 10 * QUIET)).toMatchObject({ state: "parked", code });
  });

  test("that was refused meanwhile, and is not there, is refused; found, it is confirmed all the same", () => {
    const refused = { code: "refused_after_unknown", message: "the network answered job_closed" };
    const last = { attempt: 2, ...refused };
    expect(look(last, proven, SENT + QUIET - 1)).toMatchObject({ state: "in_doubt", ...refused });
    expect(look({ ...last, checks: 0 }, proven, SENT + QUIET)).toMatchObject({ state: "in_doubt", checked: true, ...refused });
    expect(look(last, proven, SENT + QUIET)).toMatchObject({ state: "refused", ...refused });
    expect(look({ ...last, attempt: MAX_ATTEMPTS }, proven, SENT + QUIET)).toMatchObject({ state: "refused", ...refused });
    expect(look(last, unproven, SENT + QUIET)).toMatchObject({ state: "parked", code: "absent_unproven" });
    const found = reconcile(
      intent(last),
      { kind: "found", ref: "p9", proves: true },
      { quietMs: QUIET, now: SENT, knownForMs: 1, proof: unproven, attempts: 1 },
    );
    expect(found).toEqual({ state: "confirmed", createdRef: "p9" });
  });

  test("is not sent again when only the wall clock says that the quiet period is over", () => {
    const change = reconcile(
      intent(),
      { kind: "absent", proves: true },
      { quietMs: QUIET, now: SENT + 10 * QUIET, knownForMs: 1_000, proof: proven, attempts: 1 },
    );
    expect(change.state).toBe("in_doubt");
  });

  test("waits for a person where no read could prove that it did not happen", () => {
    const rules = { quietMs: QUIET, now: SENT + 10 * QUIET, knownForMs: 10 * QUIET, proof: proven, attempts: 1 };
    expect(reconcile(intent(), { kind: "absent", proves: false }, rules)).toMatchObject({ state: "parked", code: "absence_unprovable" });
  });

  test("that cannot be read back for a week is given to a person, and is looked at ever more rarely until then", () => {
    const unreadable = (now: number) =>
      reconcile(intent(), { kind: "unreadable" }, { quietMs: QUIET, now, knownForMs: now - SENT, proof: proven, attempts: 1 });
    const pauses = [MINUTE, HOUR, DAY].map((after) => (unreadable(SENT + after).nextAt ?? 0) - SENT - after);
    expect(pauses).toEqual([MINUTE, HOUR / 4, HOUR]);
    expect(unreadable(SENT + 8 * DAY)).toMatchObject({ state: "parked", code: "read_back_failed" });
  });

  test("that a clock which was ahead dated is not given up before it has been known for as long", () => {
    const known = (knownForMs: number, look: Check) =>
      reconcile(intent({ sentAt: 0 }), look, { quietMs: QUIET, now: SENT + 400 * DAY, knownForMs, proof: proven, attempts: 1 });
    expect(known(HOUR, { kind: "unreadable" })).toMatchObject({ state: "in_doubt", code: "read_back_failed" });
    expect(known(8 * DAY, { kind: "unreadable" })).toMatchObject({ state: "parked", code: "read_back_failed" });
    expect(known(0, { kind: "too-long" })).toMatchObject({ state: "in_doubt", code: "not_seen_yet" });
    expect(known(HOUR, { kind: "too-long" })).toMatchObject({ state: "parked", code: "read_back_too_long" });
    expect(known(HOUR, { kind: "gone" })).toMatchObject({ state: "in_doubt" });
    expect(known(2 * DAY, { kind: "gone" })).toMatchObject({ state: "parked", code: "target_gone" });
  });

  test("waits for a person where no read of the interface would show it", () => {
    const change = reconcile(
      intent(),
      { kind: "absent", proves: false },
      { quietMs: QUIET, now: SENT + 10 * QUIET, knownForMs: 10 * QUIET, proof: proven, attempts: 1 },
    );
    expect(change).toMatchObject({ state: "parked", code: "absence_unprovable" });
  });

  test("about something that is gone waits for a person, though not before it was gone for a day", () => {
    const gone = (now: number) =>
      reconcile(intent(), { kind: "gone" }, { quietMs: QUIET, now, knownForMs: now - SENT, proof: proven, attempts: 1 });
    expect(gone(SENT + QUIET - 1)).toMatchObject({ state: "in_doubt", nextAt: SENT + QUIET });
    expect(gone(SENT + QUIET)).toMatchObject({ state: "in_doubt", nextAt: SENT + QUIET + MINUTE });
    expect(gone(SENT + DAY - 1)).toMatchObject({ state: "in_doubt", nextAt: SENT + DAY - 1 + HOUR });
    expect(gone(SENT + DAY)).toMatchObject({ state: "parked", code: "target_gone" });
  });

  test("stays in doubt when the network could not be read: that counts as nothing", () => {
    const change = reconcile(
      intent(),
      { kind: "unreadable" },
      { quietMs: QUIET, now: SENT + 10 * QUIET, knownForMs: 10 * QUIET, proof: proven, attempts: 1 },
    );
    expect(change).toMatchObject({ state: "in_doubt" });
    expect(change.checked).toBeUndefined();
  });
});

describe("a parked action that may have taken effect", () => {
  const parked = (effect: Intent["effect"], code: string | undefined, everUnknown = true): boolean =>
    mayHaveHappened({ effect, code, everUnknown });

  test.each(["read_back_failed", "read_back_too_long", "other_words", "same_words", "target_gone"])(
    "is left to a person after a read-back that ended with %s, whatever its effect class",
    (code) => {
      expect([parked("reconciled", code), parked("idempotent", code), parked("at-most-once", code)]).toEqual([true, true, true]);
    },
  );

  test("may be repeated if it was absent after each attempt, or if its key makes a repetition harmless", () => {
    expect([parked("reconciled", "attempts_spent"), parked("idempotent", "attempts_spent")]).toEqual([false, false]);
    expect([parked("idempotent", undefined), parked("reconciled", undefined)]).toEqual([false, true]);
  });

  test("is none if no request may have taken effect", () => {
    expect(parked("reconciled", "other_words", false)).toBe(false);
  });
});

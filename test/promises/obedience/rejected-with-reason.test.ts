/** P5, obedience: a decision that carries an answer. The handler hears a yes and a no with the reason that the Guardian typed. */
import { expect, test } from "vitest";
import { MINUTE } from "../../../src/core/units.ts";
import { whyLab } from "../../harness/explained-specialist.ts";

test("a rejected action is reported to its author with the Guardian's reason", async () => {
  const heard: unknown[] = [];
  const lab = await whyLab((act) => void act.post("words", { key: "mine" }), {
    may: ["posts.create"],
    review: ["posts.create"],
    on: { "intent.refused": (receipt) => void heard.push(receipt) },
  });
  const id = (await lab.decided())[0]?.id ?? "";
  await lab.clock.run(lab.guardian.reject({ id, reason: "too long" }));
  await lab.clock.advance(MINUTE);
  expect(heard).toMatchObject([{ intent: id, key: "mine", code: "approval_rejected", message: "too long", reason: "too long" }]);
});

test("an approved action is reported to its author with the Guardian's reason", async () => {
  const heard: unknown[] = [];
  const lab = await whyLab((act) => void act.post("words", { key: "mine" }), {
    may: ["posts.create"],
    review: ["posts.create"],
    on: { "intent.confirmed": (receipt) => void heard.push(receipt) },
  });
  const id = (await lab.decided())[0]?.id ?? "";
  const hash = (await lab.why(id)).approval?.hash ?? "";
  await lab.clock.run(lab.guardian.approve({ id, hash, reason: "shorter next time" }));
  await lab.clock.advance(MINUTE);
  expect(heard).toMatchObject([{ intent: id, key: "mine", reason: "shorter next time" }]);
  expect((await lab.decided())[0]).toMatchObject({ state: "confirmed", reason: "shorter next time" });
});

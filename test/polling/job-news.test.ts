/** News of watched jobs without a check of their own: from lists, and from the answer to a delivery. Real store. */
import { expect, test } from "vitest";
import type { KeyId } from "../../src/core/ids.ts";
import { MINUTE, SECOND } from "../../src/core/units.ts";
import { OFFERS_LIST } from "../../src/polling/list-readers.ts";
import { noteDelivery, noteListed } from "../../src/polling/job-news.ts";
import { jobOf } from "../harness/builders.ts";
import { applied, mine } from "../harness/watched-job.ts";

const KEY = "the key" as KeyId;

test("a list that shows a watched job further on is believed, but an assignment is looked at itself at once", async () => {
  const { clock, look, row, member, parts, woken } = await applied();
  await clock.run(noteListed(parts, member, [mine("assigned")]));
  expect(await row()).toMatchObject({ state: "applied", dueAt: clock.now() });
  expect(woken).toEqual(["watches"]);
  await look(mine("submitted"));
  await clock.run(noteListed(parts, member, [mine("accepted")]));
  expect((await row()).state).toBe("accepted");
  await clock.run(noteListed(parts, member, [mine("submitted")])); // the list lags behind
  expect((await row()).state).toBe("accepted");
});

test("our own delivery moves an assigned job on, with the verdict where the answer has it, and no other", async () => {
  const { clock, look, row, member, parts } = await applied();
  await clock.run(noteDelivery(parts, member, "j1", undefined));
  expect((await row()).state).toBe("applied");
  await look(mine("assigned"));
  await clock.run(noteDelivery(parts, member, "j1", undefined));
  expect((await row()).state).toBe("submitted");
  const judged = await applied();
  await judged.look(mine("assigned"));
  await judged.clock.run(noteDelivery(judged.parts, judged.member, "j1", mine("accepted")));
  expect((await judged.row()).state).toBe("accepted");
  expect(await judged.has("job.accepted:j1#1")).toBe(true);
});

test("a job applied for that left the open ones of the list is looked at itself at once, and what was learnt of it before is kept", async () => {
  const { clock, look, row, member, parts, woken } = await applied();
  const list = [jobOf("j0"), jobOf("j1"), jobOf("j2")];
  await look(jobOf("j1"));
  const { data } = await row();
  parts.shared.looked(OFFERS_LIST, KEY, list, clock.now());
  await clock.advance(SECOND);
  member.keyId = KEY;
  parts.shared.looked(OFFERS_LIST, KEY, [jobOf("j0"), jobOf("j2")], clock.now());
  await clock.run(noteListed(parts, member, [jobOf("j0"), jobOf("j2")]));
  expect(await row()).toMatchObject({ state: "applied", dueAt: clock.now(), data: { lookedAt: data["lookedAt"] } });
  expect(woken).toEqual(["watches"]);
});

test("a list that shows a job of ours as open for longer than a minute is doubted", async () => {
  const { clock, look, member, parts } = await applied();
  member.keyId = KEY;
  await look(mine("assigned"));
  const open = [jobOf("j1", { status: "open" }), jobOf("j2", { status: "open" })];
  const show = async (): Promise<number | undefined> => {
    parts.shared.looked(OFFERS_LIST, KEY, open, clock.now());
    await clock.run(noteListed(parts, member, open));
    return parts.shared.openAt(OFFERS_LIST, KEY, "j2", clock.now());
  };
  expect(await show()).toBe(clock.now());
  await clock.advance(MINUTE + SECOND);
  expect(await show()).toBeUndefined();
});

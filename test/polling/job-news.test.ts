/** News of watched jobs without a check of their own: from lists, and from the answer to a delivery. Real store. */
import { expect, test } from "vitest";
import { noteDelivery, noteListed } from "../../src/polling/job-news.ts";
import { applied, mine } from "../harness/watched-job.ts";

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

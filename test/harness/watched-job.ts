/** A job that a specialist applied for, as a real store knows it, and checks that show it in some status. */
import type { Job } from "../../src/contract/records.ts";
import { asHandle } from "../../src/core/ids.ts";
import { followedIn, recordWatch, shownBy, type Round } from "../../src/polling/record-watch.ts";
import { newWatch } from "../../src/store/sources.ts";
import { jobOf, memberOf } from "./builders.ts";
import { harness } from "./harness.ts";

const SCOUT = asHandle("scout");
export const mine = (status: NonNullable<Job["status"]>, over: Partial<Job> = {}): Job =>
  jobOf("j1", { status, assigneeId: "me", ...over });
const on = {
  "job.assigned": () => undefined,
  "job.accepted": () => undefined,
  "job.rejected": () => undefined,
  "job.paid": () => undefined,
};

/** A job that was applied for, as the store knows it. */
export async function applied() {
  const { clock, store, runtime } = await harness({ specialists: [{ handle: "scout" }], start: false });
  await clock.run(store.saveAccount(SCOUT, "me", clock.now()));
  const watch = { specialist: SCOUT, kind: "job", object: "j1", ...newWatch("job", clock.now()), dueAt: clock.now() } as const;
  await clock.run(store.putEvents({ events: [], watches: [watch] }, clock.now()));
  const woken: string[] = [];
  const parts = { ...runtime.parts, wake: (_: unknown, part: string) => void woken.push(part) };
  const member = memberOf({ watch: { jobs: true }, on });
  member.accountId = "me";
  const row = async () => {
    const found = await clock.run(store.findWatch(SCOUT, "job", "j1"));
    if (found === undefined) throw new Error("expected a watch");
    return found;
  };
  return {
    clock,
    parts,
    member,
    woken,
    row,
    /** A check that shows this. */
    async look(record: Job) {
      const before = followedIn(await row(), clock.now());
      const shown = shownBy(member, before.state, record, { now: clock.now(), networkNow: clock.now() });
      const round: Round = { parts, member, standings: await clock.run(store.jobStandings(SCOUT)) };
      if (shown !== undefined) await clock.run(recordWatch(round, before, shown, { record, isLook: true }));
    },
    has: async (event: string) => (await clock.run(store.findEvents(event, 1))).length === 1,
    events: async () => (await clock.run(store.claimEvents(SCOUT, clock.now(), 100))).map(({ id }) => id),
  };
}

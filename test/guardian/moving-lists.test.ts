/** What a fleet shows while shards are free: what is missing is said, and nothing is said to be unknown that may be there. */
import { expect, test } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { Refused } from "../../src/core/errors.ts";
import { asHandle } from "../../src/core/ids.ts";
import { exportLog } from "../../src/console/export-log.ts";
import { nobodyAtWork } from "../../src/guardian/join-guardians.ts";
import { movingGuardian } from "../../src/guardian/moving-guardian.ts";
import { remoteGuardian } from "../../src/guardian/remote-guardian.ts";
import { NO_PROCESS } from "../../src/store/postgres/placements.ts";

function fleet(homeless: readonly string[], free: readonly number[] = [7]) {
  const guardian = remoteGuardian((name) =>
    name === "why"
      ? Promise.reject(new Refused("nothing_found", 'there is nothing called "i1"'))
      : Promise.resolve({ entries: [], total: 0 }),
  );
  const parts = () => Promise.resolve([{ name: "web-1:7", guardian }]);
  const handles = () => Promise.resolve(new Map([[NO_PROCESS, homeless.map((handle) => asHandle(handle))]]));
  return movingGuardian({
    parts,
    reachable: parts,
    seen: () => Promise.resolve({ processes: [], free, handles, hello: () => Promise.resolve(new Map()) }),
    clock: systemClock(),
    whyNobody: nobodyAtWork,
    isKnown: () => Promise.resolve(false),
    keep: () => Promise.resolve({}),
    moving: () => Promise.resolve([]),
  });
}

test("lists name the specialists whose entries are missing, and an export fails rather than leave them out", async () => {
  const some = fleet(["quill", "scout"]);
  const unseen = "no process has 2 specialists: quill, scout, so what is theirs is missing here";
  expect(await some.log({ limit: 9 })).toEqual({ entries: [], total: 0, unseen });
  expect(await some.events({ handle: "quill", limit: 9 })).toMatchObject({ unseen });
  expect(await some.deliveries({ limit: 9 })).toMatchObject({ unseen });
  await expect(exportLog(some, {}, "jsonl").next()).rejects.toMatchObject({ code: "nobody_at_work", message: unseen });
  for (const whole of [fleet([]), fleet(["quill"], [])]) expect(await whole.log({ limit: 9 })).toEqual({ entries: [], total: 0 });
});

test("an id that nobody at work knows may be of a specialist that nobody has", async () => {
  await expect(fleet(["quill"]).why({ id: "i1" })).rejects.toMatchObject({
    code: "nobody_at_work",
    message: expect.stringContaining("no process has 1 specialist: quill"),
  });
  await expect(fleet([]).why({ id: "i1" })).rejects.toMatchObject({ code: "nothing_found" });
});

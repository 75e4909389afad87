/** Money of all together is exact, and stands beside the Guardian's own caps. */
import { expect, test } from "vitest";
import { asHandle, type Handle } from "../../src/core/ids.ts";
import { credits, DAY } from "../../src/core/units.ts";
import { decideHold } from "../../src/limits/hold-decision.ts";
import { scopeOf, type Cap } from "../../src/limits/spending.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";
import { harness } from "../harness/harness.ts";

const dayCap = (handle: Handle): Cap => ({ scope: scopeOf(handle), window: "day", money: { currency: "credits", micros: 5_000_000 } });

test("money of all together is the sum of the specialists', held and spent, with the Guardian's own caps", async () => {
  const here = await harness({
    specialists: [{ handle: "scout" }, { handle: "quill" }],
    guardianCaps: createSpecialist({ handle: "x", spend: { perDay: credits(10) } }).spend,
  });
  const { store, clock, guardian } = here;
  const caps = [dayCap(asHandle("scout")), dayCap(asHandle("quill"))];
  for (const [i, handle] of ["scout", "quill"].map(asHandle).entries()) {
    const hold = { id: `m${i}`, specialist: handle, money: { currency: "credits", micros: 2_000_000 }, expiresAt: clock.now() + DAY };
    await clock.run(store.openHold({ hold, now: clock.now(), known: { caps, halt: undefined } }, decideHold));
  }
  store.endHold({ id: "m0", actual: 1_000_000, caps: [], now: clock.now() });
  const { money, specialists } = await clock.run(guardian.status({}));
  expect(money).toEqual([
    { currency: "credits", postedMicros: 1_000_000, heldMicros: 2_000_000, dayMicros: 3_000_000, dayCapMicros: 10_000_000 },
  ]);
  expect(specialists.flatMap((one) => one.money).map(({ dayCapMicros }) => dayCapMicros)).toEqual([undefined, undefined]);
});

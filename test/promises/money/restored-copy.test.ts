/** A store restored from a copy does not know what was spent since: nothing more is spent before a person says so. */
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { asHandle } from "../../../src/core/ids.ts";
import { seededRandom } from "../../../src/core/random.ts";
import { HOUR } from "../../../src/core/units.ts";
import { credits } from "../../../src/index.ts";
import { virtualClock } from "../../../src/core/virtual-clock.ts";
import { capsOf } from "../../../src/limits/caps.ts";
import { decideHold } from "../../../src/limits/hold-decision.ts";
import { scopeOf, GUARDIAN } from "../../../src/limits/spending.ts";
import { createSpecialist } from "../../../src/specialist/specialist.ts";
import { openSqliteStore } from "../../../src/store/sqlite/store.ts";
import { virtualRuntime } from "../../harness/harness.ts";

const CAP = credits(100);

function world(spend: { readonly perDay?: typeof CAP }) {
  const folder = mkdtempSync(join(tmpdir(), "retinue-restored-money-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "store.sqlite");
  const clock = virtualClock(Date.UTC(2026, 10, 21, 12));
  const random = seededRandom("restored money");
  const specialist = asHandle("scout");
  const begin = async () => {
    const store = openSqliteStore({ path: file, blocking: true, clock, random });
    const runtime = virtualRuntime({
      specialists: [createSpecialist({ handle: "scout", id: "agt_1", on: {}, spend })],
      store,
      transport: async () => ({ kind: "answer", status: 200, headers: {}, text: "[]", elapsedMs: 1 }),
      keyOf: () => "sk_live_0123456789abcdef",
      clock,
      random,
    });
    await clock.run(runtime.start());
    return {
      store,
      hold: async (id: string, units: number): Promise<string> => {
        const hold = { id, specialist, money: credits(units), expiresAt: clock.now() + HOUR };
        const known = { caps: capsOf(scopeOf(specialist), { perDay: CAP }), halt: undefined };
        return (await clock.run(store.openHold({ hold, now: clock.now(), known }, decideHold))).kind;
      },
      async end() {
        await clock.run(runtime.stop());
        await clock.run(store.close());
      },
    };
  };
  return { file, clock, begin, copy: join(folder, "copy.sqlite") };
}

test("what was spent after the copy is not spent again", async () => {
  const { file, clock, begin, copy } = world({ perDay: CAP });
  const first = await begin();
  expect(await first.hold("a", 60)).toBe("hold");
  await first.store.backup(copy);
  expect(await first.hold("b", 40)).toBe("hold");
  await first.end();
  for (const rest of ["-wal", "-shm"]) rmSync(file + rest, { force: true });
  copyFileSync(copy, file);

  const second = await begin();
  expect(await second.hold("c", 40)).toBe("wait");
  expect(await second.store.frozen()).toEqual([
    { scope: GUARDIAN, currency: "credits", since: clock.now(), reason: expect.stringContaining("what was spent since is unknown") },
  ]);
  // It stays so over a start, until a person has looked.
  await second.end();
  const third = await begin();
  expect(await third.hold("d", 1)).toBe("wait");
  await clock.run(third.store.unfreeze(GUARDIAN, { by: "guardian", reason: "looked at the bill" }, clock.now()));
  expect(await third.hold("e", 40)).toBe("hold");
  await third.end();
});

test("nothing is frozen where no cap is", async () => {
  const { file, begin, copy } = world({});
  const first = await begin();
  await first.store.backup(copy);
  await first.end();
  for (const rest of ["-wal", "-shm"]) rmSync(file + rest, { force: true });
  copyFileSync(copy, file);
  const second = await begin();
  expect(await second.store.frozen()).toEqual([]);
  await second.end();
});

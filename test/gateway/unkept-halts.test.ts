/** Halts in memory, in force before the store has them. */
import { expect, test } from "vitest";
import { createUnkeptHalts } from "../../src/gateway/unkept-halts.ts";
import { EVERYONE } from "../../src/limits/verdict.ts";

const halt = (scope: string) => ({ scope, since: 1, reason: `halt of ${scope}` });

test("a halt applies to its specialist, one of everybody to all and first, until it is released", () => {
  const halts = createUnkeptHalts();
  halts.hold(halt("ann"));
  expect([halts.of("ann"), halts.of("ben")]).toEqual([halt("ann"), undefined]);
  halts.hold(halt(EVERYONE));
  expect([halts.of("ann"), halts.of("ben")]).toEqual([halt(EVERYONE), halt(EVERYONE)]);
  halts.release(EVERYONE);
  expect([halts.of("ann"), halts.of("ben")]).toEqual([halt("ann"), undefined]);
  halts.release("ann");
  expect(halts.all()).toEqual([]);
});

test("a second halt of one scope replaces the first", () => {
  const halts = createUnkeptHalts();
  halts.hold(halt("ann"));
  halts.hold({ ...halt("ann"), since: 2 });
  expect(halts.all()).toEqual([{ ...halt("ann"), since: 2 }]);
});

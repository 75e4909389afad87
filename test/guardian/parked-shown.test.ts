/** The reason for which nothing of a specialist is sent, by the most current of what knows it. */
import { expect, test } from "vitest";
import type { KeyTrouble } from "../../src/gateway/member.ts";
import { parkedShown } from "../../src/guardian/parked-shown.ts";
import { NO_ROW } from "../../src/store/specialists.ts";

const SHARED: KeyTrouble = { code: "key_shared", message: "it shares its key", since: 5 };
const REFUSED: KeyTrouble = { code: "key_refused", message: "401", since: 7, circuit: { since: 7, probeAt: 9, waitMs: 60_000 } };
const row = { ...NO_ROW, parked: { code: "key_refused" as const, message: "403", at: 3, until: undefined } };

test.for([
  [
    "a running member's trouble is more current than its row",
    row,
    { keyTrouble: REFUSED },
    undefined,
    { code: "key_refused", message: "401", since: 7, probeAt: 9 },
  ],
  ["a running member without trouble has none, whatever its row says", row, { keyTrouble: undefined }, undefined, undefined],
  ["one that is kept out shows why", row, undefined, SHARED, { code: "key_shared", message: "it shares its key", since: 5 }],
  ["one that does not run shows its row", row, undefined, undefined, { code: "key_refused", message: "403", since: 3 }],
  ["one without trouble shows none", NO_ROW, undefined, undefined, undefined],
] as const)("%s", ([, known, member, keptOut, shown]) => {
  expect(parkedShown(known, member, keptOut)).toEqual(shown);
});

/** Holds for model calls in SQLite: rows of the spending ledger. */
import { GUARDIAN, scopeOf } from "../../limits/spending.ts";
import type { HoldStore } from "../holds.ts";
import type { Commits } from "./commits.ts";
import type { ControlTable } from "./control-table.ts";
import type { Changes } from "./outbox.ts";
import type { SpendingTable } from "./spending.ts";

export interface HoldParts {
  readonly commits: Commits;
  readonly spending: SpendingTable;
  readonly guardian: ControlTable;
  readonly changes: Pick<Changes, "freed">;
}

export function createHolds({ commits, spending, guardian, changes }: HoldParts): HoldStore {
  return {
    async openHold({ hold, now, known }, decide) {
      commits.begin();
      const { specialist, money } = hold;
      const scopes = [scopeOf(specialist), GUARDIAN];
      const verdict = decide({
        now,
        money,
        halt: known.halt ?? guardian.stopped("halt", specialist),
        pause: guardian.stopped("pause", specialist),
        accounts: spending.chain(specialist, money.currency, now),
        caps: known.caps,
      });
      if (verdict.kind !== "hold" || money.micros === 0) return verdict;
      commits.undoable(() => spending.hold({ ...hold, scopes }, now));
      return commits.synced(verdict);
    },
    endHold({ id, actual, caps, now }) {
      if (!spending.hasOpenHolds) return;
      const settled = commits.undoable(() => spending.settle(id, actual, now, caps));
      changes.freed(settled, now);
    },
  };
}

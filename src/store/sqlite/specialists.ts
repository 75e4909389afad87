/** Specialists in SQLite: their accounts, keys and suspensions. */
import { foreignCode } from "../../core/error-codes.ts";
import type { DatabaseSync } from "node:sqlite";
import { asHandle } from "../../core/ids.ts";
import type { Commits } from "./commits.ts";
import { maybeNumber, maybeText, numberOf, textOf, type Row } from "./columns.ts";
import { NO_ROW, type SpecialistRow, type SpecialistStore } from "../specialists.ts";

export const SPECIALIST_COLUMNS = "account_id, parked_code, parked_message, parked_at, parked_until";

export function createSpecialists(db: DatabaseSync, commits: Commits): SpecialistStore {
  const load = db.prepare(`SELECT ${SPECIALIST_COLUMNS} FROM specialist WHERE handle = ?`);
  const accounts = db.prepare("SELECT handle, account_id FROM specialist WHERE account_id IS NOT NULL");
  const account = db.prepare(`
    INSERT INTO specialist (handle, account_id, updated_at) VALUES (?1, ?2, ?3)
    ON CONFLICT (handle) DO UPDATE SET account_id = ?2, updated_at = ?3`);
  const park = db.prepare(`
    INSERT INTO specialist (handle, parked_code, parked_message, parked_at, parked_until, updated_at) VALUES (?1, ?2, ?3, ?5, ?4, ?5)
    ON CONFLICT (handle) DO UPDATE SET parked_code = ?2, parked_message = ?3, parked_at = ?5, parked_until = ?4, updated_at = ?5`);
  const free =
    "UPDATE specialist SET parked_code = NULL, parked_message = NULL, parked_at = NULL, parked_until = NULL, updated_at = ? WHERE";
  const unpark = db.prepare(`${free} handle = ?`);
  const unparkAll = db.prepare(`${free} parked_code IS NOT NULL`);
  return {
    async loadSpecialist(handle) {
      const row = load.get(handle);
      return row === undefined ? NO_ROW : readSpecialist(row);
    },
    accounts: async () => new Map(accounts.all().map((row) => [asHandle(textOf(row, "handle")), textOf(row, "account_id")])),
    saveAccount: (handle, accountId, now) => commits.hard(() => void account.run(handle, accountId, now)),
    suspend: (handle, why, now) => commits.hard(() => void park.run(handle, why.code, why.message, why.until ?? null, now)),
    resume: (handle, now) => commits.hard(() => void unpark.run(now, handle)),
    resumeAll: (now) => commits.hard(() => void unparkAll.run(now)),
  };
}

export function readSpecialist(row: Row): SpecialistRow {
  const code = maybeText(row, "parked_code");
  return {
    accountId: maybeText(row, "account_id"),
    parked:
      code === undefined
        ? undefined
        : {
            code: foreignCode(code),
            message: maybeText(row, "parked_message") ?? "",
            at: numberOf(row, "parked_at"),
            until: maybeNumber(row, "parked_until"),
          },
  };
}

/** Store interface of specialists: accounts, keys and suspensions. */
import type { AnyCode } from "../core/error-codes.ts";
import type { Handle } from "../core/ids.ts";

/** A specialist's account, and its suspension. */
export interface SpecialistRow {
  readonly accountId: string | undefined;
  readonly parked:
    | { readonly code: AnyCode; readonly message: string; readonly at: number; readonly until: number | undefined }
    | undefined;
}

/** A specialist that has no row yet. */
export const NO_ROW: SpecialistRow = { accountId: undefined, parked: undefined };

export interface SpecialistStore {
  loadSpecialist(handle: Handle): Promise<SpecialistRow>;
  /** The known accounts, by handle. */
  accounts(): Promise<ReadonlyMap<Handle, string>>;
  saveAccount(handle: Handle, accountId: string, now: number): Promise<void>;
  suspend(handle: Handle, why: { readonly code: AnyCode; readonly message: string; readonly until?: number }, now: number): Promise<void>;
  resume(handle: Handle, now: number): Promise<void>;
  /** Resumes all: a runtime that starts tries every key again. */
  resumeAll(now: number): Promise<void>;
}

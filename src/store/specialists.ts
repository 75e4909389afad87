/** Specialists as the store keeps them: accounts, keys and suspensions. */
import type { AnyCode } from "../core/error-codes.ts";
import type { Handle } from "../core/ids.ts";

/** What is known of a specialist's account and whether it is parked. */
export interface SpecialistRow {
  readonly accountId: string | undefined;
  readonly parked:
    | { readonly code: AnyCode; readonly message: string; readonly at: number; readonly until: number | undefined }
    | undefined;
}

export interface SpecialistStore {
  loadSpecialist(handle: Handle): Promise<SpecialistRow>;
  /** The accounts known, by handle. */
  accounts(): Promise<ReadonlyMap<Handle, string>>;
  saveAccount(handle: Handle, accountId: string, now: number): Promise<void>;
  suspend(handle: Handle, why: { readonly code: AnyCode; readonly message: string; readonly until?: number }, now: number): Promise<void>;
  resume(handle: Handle, now: number): Promise<void>;
  /** A runtime that starts tries every key anew. */
  resumeAll(now: number): Promise<void>;
}

/** A process of a fleet, as a status shows it. */
export interface ProcessShown {
  /** `host:pid`. */
  readonly name: string;
  readonly version: string;
  /** The start of the process. */
  readonly since: number;
  /** Number of specialists that it runs. */
  readonly specialists: number;
  /** It gives its specialists to the others. */
  readonly draining?: true;
  /** Set if it did not answer, with the specialists that are not shown for it. */
  readonly silent?: { readonly message: string; readonly handles: readonly string[] };
}

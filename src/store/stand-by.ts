/** How a process waits for a store that another one has. */

export interface StandBy {
  /** Called once when the wait begins. */
  readonly waiting: (owner: string) => void;
  /** Ends the wait, which then throws. */
  readonly signal: AbortSignal;
}

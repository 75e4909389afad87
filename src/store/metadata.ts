/** Facts that a store keeps about itself: its salt, its network, and copies of itself. */

/** What a store keeps for its runtime beside the flow. */
export interface MetadataStore {
  /** The salt of key fingerprints: made once, by `make`, and kept with the rows that hold them. */
  salt(make: () => string): Promise<string>;
  /** The network it belongs to, mostly by its address; undefined where it was not used on one yet. */
  network(): Promise<string | undefined>;
  belongTo(network: string): Promise<void>;
  /** Writes a consistent copy while work goes on. Throws `Misconfigured` (`backup_exists`, `backup_failed`). */
  backup(file: string): Promise<void>;
}

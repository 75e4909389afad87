/** Store interface of metadata: the salt, the network, and copies of the store. */

export interface MetadataStore {
  /** The salt of key fingerprints: created once, by `make`, and stored with the rows that hold them. */
  salt(make: () => string): Promise<string>;
  /** The network it is bound to, mostly by its address; undefined if it was not used yet. */
  network(): Promise<string | undefined>;
  belongTo(network: string): Promise<void>;
  /** Writes a consistent copy while work continues. Throws `Misconfigured` (`backup_exists`, `backup_failed`). */
  backup(file: string): Promise<void>;
}

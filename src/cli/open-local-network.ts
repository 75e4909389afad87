/** Opens a local network for a command: its world, its port, and its keys. */
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { EndpointSet } from "../contract/operations.ts";
import type { Clock } from "../core/clock.ts";
import { defined } from "../core/defined.ts";
import { messageOf } from "../core/errors.ts";
import type { Logger } from "../core/log.ts";
import { seededRandom, systemRandom } from "../core/random.ts";
import type { Listening, LocalNetwork } from "../local-network/options.ts";
import { createLocalNetwork } from "../local-network/local-network.ts";
import { keyFileOf, provisionAll, type Resident } from "./key-file.ts";

export interface LocalNetworkSettings {
  readonly clock: Clock;
  readonly seed: string;
  /** Absolute path of the world's data file. */
  readonly data: string;
  readonly port: number | undefined;
  /** One set alone at the root; both if undefined. */
  readonly set: EndpointSet | undefined;
  readonly cast: readonly Resident[];
  readonly log: Logger;
}

export interface OpenNetwork {
  readonly network: LocalNetwork;
  readonly listening: Listening;
  readonly keyFile: string;
  /** Makes the accounts and keys that these do not have yet. */
  provision(cast: readonly Resident[]): void;
  /** Ends the network. Unfinished work resumes at the next start. */
  close(): Promise<void>;
}

export const DEFAULT_DATA = join(".retinue", "network.sqlite");
export const DEFAULT_SEED = "7";

/**
 * Listens, and starts no resident yet. Throws `Retryable` (`port_in_use`) or `Misconfigured` (`data_unreadable`, …) and leaves nothing open
 * then.
 */
export async function openLocalNetwork(settings: LocalNetworkSettings): Promise<OpenNetwork> {
  const { clock, seed, data, port, set, cast, log } = settings;
  mkdirSync(dirname(data), { recursive: true, mode: 0o700 });
  const network = createLocalNetwork({
    clock,
    random: seededRandom(seed),
    secrets: systemRandom(), // a well-known seed must not make keys guessable
    data,
    residents: { already: { post: 12, offer: 4 } },
  });
  let listening: Listening | undefined;
  try {
    listening = await network.listen({
      ...defined({ port, set }),
      onError: (error) => log.error("the local network failed to answer", { message: messageOf(error) }),
    });
    const keyFile = keyFileOf(data);
    const keysFor = set ?? "b";
    const open = listening;
    const provision = (these: readonly Resident[]): void =>
      provisionAll(network, these, { file: keyFile, set: keysFor, baseUrl: open.baseUrls[keysFor] ?? "" });
    provision(cast);
    const close = async (): Promise<void> => {
      await open.close();
      await network.stop();
    };
    return { network, listening, keyFile, provision, close };
  } catch (error) {
    await listening?.close();
    await network.stop();
    throw error;
  }
}

/** Serves a local network in the accent of a seed, to try `retinue doctor` and a profile on: `npm run accents:serve -- 7 b 8080`. */
import { mkdirSync, writeFileSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { keyFileOf, provisionAll } from "../../../src/cli/key-file.ts";
import type { EndpointSet } from "../../../src/contract/operations.ts";
import { systemClock } from "../../../src/core/clock.ts";
import { seededRandom, systemRandom } from "../../../src/core/random.ts";
import { createLocalNetwork } from "../../../src/local-network/local-network.ts";
import { accent } from "./wire/accent.ts";

export interface Served {
  readonly baseUrl: string;
  readonly keyFile: string;
  /** Methods, paths, and where each input goes, which no read shows. Answers are for the doctor to find out. */
  readonly documentation: string;
  close(): Promise<void>;
}

export interface ServeOptions {
  readonly seed: string;
  readonly set: EndpointSet;
  readonly port: number;
  /** What keeps the network over restarts; its keys and its documentation stand beside it. */
  readonly data: string;
  readonly handle: string;
}

export async function serveAccent({ seed, set, port, data, handle }: ServeOptions): Promise<Served> {
  mkdirSync(dirname(data), { recursive: true, mode: 0o700 });
  const spoken = accent(seed);
  const network = createLocalNetwork({
    clock: systemClock(),
    random: seededRandom(seed),
    secrets: systemRandom(),
    data,
    residents: { already: { post: 12, offer: 4 } },
    ...spoken.network,
  });
  const listening = await network.listen({ port, set });
  const baseUrl = listening.baseUrls[set] ?? "";
  provisionAll(network, [{ handle, tier: "pro" }], { file: keyFileOf(data), set, baseUrl });
  const documentation = join(dirname(data), `${basename(data, extname(data))}-accent.json`);
  writeFileSync(documentation, `${JSON.stringify(spoken.documented[set], undefined, 2)}\n`);
  network.start();
  const close = async (): Promise<void> => {
    await listening.close();
    await network.stop();
  };
  return { baseUrl, keyFile: keyFileOf(data), documentation, close };
}

if (import.meta.main) {
  const [seed = "7", set = "b", port = "8080"] = process.argv.slice(2);
  if (set !== "a" && set !== "b") throw new TypeError(`expected the set a or b, got ${set}`);
  const data = join(".retinue", `accent-${seed}.sqlite`);
  const served = await serveAccent({ seed, set, port: Number(port), data, handle: "scout" });
  process.stdout.write(`Base  ${served.baseUrl}\nKeys  ${served.keyFile}\nDocs  ${served.documentation} (what no read shows)\n`);
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void served.close());
}

/** A project of `scout` beside a local network that listens. */
import { onTestFinished } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import type { EndpointSet } from "../../src/contract/operations.ts";
import { seededRandom } from "../../src/core/random.ts";
import { createLocalNetwork } from "../../src/local-network/local-network.ts";
import { storeProject } from "./store-project.ts";

export async function projectOnNetwork(
  files: { readonly [path: string]: string },
  variables: { readonly [name: string]: string } = {},
  set: EndpointSet = "b",
) {
  const network = createLocalNetwork({ clock: systemClock(), random: seededRandom(4), residents: { already: { post: 3 } } });
  const listening = await network.listen({ set });
  network.start();
  onTestFinished(async () => {
    await listening.close();
    await network.stop();
  });
  const { key } = network.provision({ handle: "scout", tier: "pro", set });
  const env: Record<string, string> = {
    ...variables,
    RETINUE_BASE_URL: listening.baseUrls[set] ?? "",
    RETINUE_SET: set,
    RETINUE_KEY_SCOUT: key,
  };
  return { ...(await storeProject(undefined, { files, env })), env, network };
}

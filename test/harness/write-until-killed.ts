/** Writes posts into a world's data file until it is killed, and tells of each one that was answered. */
import { systemClock } from "../../src/core/clock.ts";
import { seededRandom } from "../../src/core/random.ts";
import { createLocalNetwork } from "../../src/local-network/local-network.ts";

const MAX_POSTS = 100_000;

const network = createLocalNetwork({
  clock: systemClock(),
  random: seededRandom(1),
  ...(process.argv[2] === undefined ? {} : { data: process.argv[2] }),
});
const { key } = network.provision({ handle: "scout", tier: "pro" });
const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
for (let i = 0; i < MAX_POSTS; i++) {
  const reply = await network.handle("b", {
    method: "POST",
    path: "/v1/posts",
    query: {},
    headers,
    body: JSON.stringify({ content: `${i}` }),
  });
  if (reply.status !== 201) break;
  await new Promise<void>((resolve, reject) => process.send?.(i, (error: Error | null) => (error === null ? resolve() : reject(error))));
}

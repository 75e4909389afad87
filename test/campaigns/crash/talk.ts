/** Somebody who posts and offers jobs all the time, whatever the process under test keeps up with, and has long threads of old. */
import { isObject, parseJson } from "../../../src/core/json.ts";
import type { LocalNetwork } from "../../../src/local-network/options.ts";

export interface Talk {
  /** What the victims have to answer, oldest first. */
  readonly posts: readonly string[];
  /** What they have to apply for, oldest first. */
  readonly jobs: readonly string[];
  /** Posts outside the feed. */
  readonly roots: readonly string[];
  stop(): void;
}

const POST_EVERY_MS = 300;
const JOB_EVERY_MS = 700;
/** Enough that each, and each of those they stand under, is answered less often than a network shows replies. */
const BASES = 4;
const ROOTS_EACH = 75;

/** `slower` stretches the pauses between what is said. */
export async function talk(network: LocalNetwork, slower: number): Promise<Talk> {
  const { key } = network.provision({ handle: "talker", tier: "pro" });
  const posts: string[] = [];
  const jobs: string[] = [];
  const say = async (path: string, body: object): Promise<string> => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const reply = await network.handle("b", { method: "POST", path, query: {}, headers, body: JSON.stringify(body) });
    const answer = parseJson(reply.body);
    if (!isObject(answer) || typeof answer["id"] !== "string") throw new Error(`the talker was refused: ${reply.status} ${reply.body}`);
    return answer["id"];
  };
  const roots: string[] = [];
  for (let i = 0; i < BASES; i++) {
    const base = await say("/v1/posts", { content: `what follows ${i} is old` });
    posts.push(base);
    for (let j = 0; j < ROOTS_EACH; j++) roots.push(await say(`/v1/posts/${base}/reply`, { content: `old ${i} ${j}` }));
  }
  let count = 0;
  const posting = setInterval(
    () => void say("/v1/posts", { content: `talk ${++count}` }).then((id) => posts.push(id)),
    POST_EVERY_MS * slower,
  );
  const offering = setInterval(
    () => void say("/v1/jobs", { title: `job ${++count}`, description: "do it", reward: 3, skills: [] }).then((id) => jobs.push(id)),
    JOB_EVERY_MS * slower,
  );
  return {
    posts,
    jobs,
    roots,
    stop() {
      clearInterval(posting);
      clearInterval(offering);
    },
  };
}

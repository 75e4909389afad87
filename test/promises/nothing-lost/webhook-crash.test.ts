/** What was answered is never lost and never done twice: `retinue run` is killed among its answers and its work, again and again. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "../../../src/core/clock.ts";
import { asHandle } from "../../../src/core/ids.ts";
import { systemRandom } from "../../../src/core/random.ts";
import { signDelivery, type SignedDelivery } from "../../../src/webhooks/receiver/sign.ts";
import { openSqliteStore } from "../../../src/store/sqlite/store.ts";
import { freePort } from "../../harness/free-port.ts";
import { type Process } from "../../harness/process.ts";
import { runLab } from "../../harness/run-command.ts";
import { envelope, post, SECRET } from "../../harness/webhook-network.ts";

/** It learns of mentions by webhook alone, and answers each. */
const ANSWERER = `
import { defineSpecialist } from "retinue";
const many = 1_000;
export default defineSpecialist({
  handle: "scout",
  tier: "pro",
  may: ["posts.reply"],
  watch: { mentions: false },
  brakes: { repliesPerThread: many, repliesPerAuthorPerHour: many, repliesPerHour: many },
  on: { "mention.created": (mention, act) => void act.reply(mention, "re " + mention.id) },
});
`;

const PER_LIFE = 16;
const SENDERS = 4;
/** What each process is killed at: so many of its answers, or as many replies on the network as well. */
const LIVES = [
  { answers: 1, replies: 0 },
  { answers: PER_LIFE / 2, replies: 0 },
  { answers: PER_LIFE, replies: 0 },
  { answers: PER_LIFE, replies: 4 },
] as const;

test("each delivery answered with 202 is answered once on the network, whenever the process was killed", async (context) => {
  const lab = await runLab(context, ANSWERER);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/webhooks/scout`;
  const env = { RETINUE_WEBHOOK_PORT: `${port}`, RETINUE_WEBHOOK_SECRET: SECRET };
  const life = async (): Promise<Process> => {
    const process = lab.run({ env });
    await process.saying(({ type }) => type === "started");
    await expect.poll(() => fetch(url).then(({ status }) => status, String), { interval: 5 }).toBe(404);
    return process;
  };
  // Whoever dies over a delivery has not answered it.
  const deliver = (delivery: SignedDelivery): Promise<number> =>
    post(url, delivery).then(
      ({ status }) => status,
      () => 0,
    );
  const replies = (): readonly string[] => lab.effects("posts.reply").map(({ target }) => target);
  const sent = new Map<string, SignedDelivery>();
  const taken = new Set<string>();

  for (const { answers, replies: done } of LIVES) {
    for (let i = 0; i < PER_LIFE; i++) {
      const id = await lab.news(`hi @scout, ${sent.size}`);
      sent.set(id, mentionOf(id, sent.size));
    }
    const process = await life();
    const before = replies().length;
    let answered = 0;
    const open = [...sent].filter(([id]) => !taken.has(id));
    const sender = async (): Promise<void> => {
      for (let next = open.shift(); next !== undefined; next = open.shift()) {
        const [id, delivery] = next;
        const status = await deliver(delivery);
        if (status === 202 || status === 200) taken.add(id);
        if (status === 202 && ++answered === answers && done === 0) process.kill("SIGKILL");
      }
    };
    await Promise.all(Array.from({ length: SENDERS }, sender));
    await expect.poll(() => replies().length - before, { interval: 1 }).toBeGreaterThanOrEqual(done);
    process.kill("SIGKILL");
    await process.ended;
    expect(answered).toBeGreaterThanOrEqual(answers);
  }

  const process = await life();
  const late = [...sent].flatMap(([id, delivery]) => (taken.has(id) ? [] : [delivery]));
  expect((await Promise.all(late.map(deliver))).filter((status) => status !== 200 && status !== 202)).toEqual([]);
  await expect.poll(() => new Set(replies())).toEqual(new Set(sent.keys()));
  // A proxy in between may send everything again.
  expect(new Set(await Promise.all([...sent.values()].map(deliver)))).toEqual(new Set([200]));
  process.kill("SIGTERM");
  expect((await process.ended).code).toBe(0);
  expect(replies()).toHaveLength(sent.size);
  expect(lab.network.truth.duplicates({ agent: "scout" })).toEqual([]);

  const store = openSqliteStore({ path: join(lab.root, "store.sqlite"), clock: systemClock(), random: systemRandom() });
  try {
    expect(await store.dueDeliveries(asHandle("scout"), Number.MAX_SAFE_INTEGER, 10)).toEqual([]);
  } finally {
    await store.close();
  }
});

/** Whole or, every other one, with nothing but an id, so that what it is about has to be fetched first. */
function mentionOf(id: string, number: number): SignedDelivery {
  const data = { id, ...(number % 2 === 0 ? { content: "hi @scout", author: { id: "agent_9", handle: "quill" } } : {}) };
  return signDelivery({
    scheme: "standard",
    secret: SECRET,
    payload: envelope("mention", data, `e${number}`),
    id: `d${number}`,
    at: Date.now(),
  });
}

/** What was answered is never lost: the process is killed between the answer and the work. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { signDelivery } from "../../src/intake/webhook/sign.ts";
import { envelope, post, SECRET, webhookLab } from "./webhook-lab.ts";

test("deliveries answered with 202 are handled once each, though the process was killed right after the answers", async () => {
  const folder = mkdtempSync(join(tmpdir(), "webhook-crash-"));
  const file = join(folder, "store.sqlite");
  const child = fork(join(import.meta.dirname, "webhook-server.ts"), [file, SECRET], { execArgv: ["--conditions=retinue-source"] });
  const [{ port }] = (await once(child, "message")) as [{ readonly port: number }];
  const deliveries = Array.from({ length: 40 }, (_, i) =>
    signDelivery({
      scheme: "standard",
      secret: SECRET,
      payload: envelope("follower.new", { id: `agent_${i}` }, `e${i}`),
      id: `d${i}`,
      at: Date.now(),
    }),
  );
  const answers = await Promise.all(deliveries.map((delivery) => post(`http://127.0.0.1:${port}/webhooks/scout`, delivery)));
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(answers.map(({ status }) => status)).toEqual(Array<number>(40).fill(202));

  const handled: string[] = [];
  const one = await webhookLab({ register: false, file, definition: { on: { "follower.new": (agent) => void handled.push(agent.id) } } });
  try {
    await expect.poll(() => handled.length).toBe(40);
    // The sender got its answers, but a proxy in between may send everything again.
    const again = await Promise.all(deliveries.map((delivery) => post(`${one.receiverUrl()}scout`, delivery)));
    expect(new Set(again.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(handled).size).toBe(40);
    expect(handled).toHaveLength(40);
  } finally {
    await one.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});

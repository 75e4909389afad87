/** A public address with a path of its own: deliveries arrive however the proxy treats the path, and status says whether they do. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { webhookLab, type WebhookLab } from "../harness/webhook-network.ts";

const open: WebhookLab[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.stop();
});

interface Proxy {
  readonly url: string;
  /** The receiver behind it, and what becomes of a path; undefined answers 404. */
  to: string;
  rewritten: (path: string) => string | undefined;
}

async function proxy(): Promise<Proxy> {
  const server = createServer((request, response) => {
    void (async () => {
      const path = made.rewritten(request.url ?? "/");
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      if (path === undefined) return response.writeHead(404).end();
      const headers = Object.entries(request.headers).filter(([name]) => !["host", "connection", "content-length"].includes(name));
      const body = Buffer.concat(chunks);
      // The receiver may have closed meanwhile: a proxy then answers 502.
      const answer = await fetch(new URL(path, made.to), {
        method: "POST",
        headers: headers.map(([name, value]): [string, string] => [name, String(value)]),
        body,
      }).catch(() => new Response(undefined, { status: 502 }));
      await answer.arrayBuffer();
      return response.writeHead(answer.status).end();
    })();
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo; // it listens on TCP
  const made: Proxy = { url: `http://127.0.0.1:${port}/some/prefix`, to: "", rewritten: () => undefined };
  return made;
}

async function behind(between: Proxy): Promise<{ readonly lab: WebhookLab; readonly handled: string[] }> {
  const handled: string[] = [];
  const lab = await webhookLab({
    receiver: { url: between.url, local: false, allowPrivate: true },
    definition: { on: { "mention.created": (mention) => void handled.push(mention.id) } },
  });
  open.push(lab);
  between.to = lab.receiverUrl();
  return { lab, handled };
}

const shown = async ({ runtime }: WebhookLab) => {
  const webhooks = await runtime.webhooks?.shown();
  return { ...webhooks?.specialists[0], route: webhooks?.route, misaddressed: webhooks?.counts.misaddressed };
};

test.each([
  ["leaves the path", (path: string) => path],
  ["takes the prefix", (path: string) => path.replace("/some/prefix", "")],
  ["takes all but the handle", (path: string) => path.replace("/some/prefix/webhooks", "")],
  ["puts another prefix", (path: string) => path.replace("/some/prefix", "/of/its/own")],
])("a proxy that %s", async (_name, rewritten) => {
  const between = await proxy();
  between.rewritten = rewritten;
  const { lab, handled } = await behind(between);
  await expect.poll(() => shown(lab)).toMatchObject({ state: "unproven", registration: { kind: "registered" } });
  expect((await shown(lab)).route).toContain(`${between.url}/webhooks/<handle>`);
  await lab.other("quill")("POST", "/v1/posts", { body: { content: "hello @scout" } });
  await expect.poll(() => handled.length).toBe(1);
  const after = await shown(lab);
  expect(after).toMatchObject({ state: "working", misaddressed: 0 });
  expect(after.lastAt).toBeGreaterThan(Date.now() - 60_000);
});

test("without a delivery the webhook is registered and unproven, and the log says where deliveries must arrive", async () => {
  const between = await proxy();
  const { lab } = await behind(between);
  await expect.poll(() => shown(lab)).toMatchObject({ state: "unproven" });
  await lab.other("quill")("POST", "/v1/posts", { body: { content: "hello @scout" } });
  await expect.poll(() => lab.log.map(({ message }) => message).join("\n")).toContain("until its first delivery arrives");
  const told = lab.log.find(({ message }) => message.startsWith("webhooks: the network delivers to"))?.message;
  expect(told).toContain(`${between.url}/webhooks/<handle>; the receiver listens at ${new URL(lab.receiverUrl()).origin}`);
  expect(await shown(lab)).toMatchObject({ state: "unproven", health: { reported: 0 } });
});

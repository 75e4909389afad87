/** Networks that choose the secret of a webhook: after a restart nothing rests on deliveries whose secret is not known. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Transport } from "../../../src/client/transport.ts";
import { isObject, parseJson } from "../../../src/core/json.ts";
import { Secret } from "../../../src/core/secret.ts";
import { HOUR, MINUTE, SECOND } from "../../../src/core/units.ts";
import { networkSecretsIn } from "../../../src/webhooks/network-secrets.ts";
import { project } from "../../harness/project.ts";
import { textAt } from "../../harness/visitor.ts";
import { virtualWebhooks } from "../../harness/virtual-webhooks.ts";

/** A network that ignores the secret it is given with a webhook, and answers with its own. */
const choosing =
  (network: Transport): Transport =>
  (request) => {
    if (request.method !== "POST" || request.path !== "/v1/webhooks") return network(request);
    const { secret: _ignored, ...body } = asObject(request.body);
    return network({ ...request, body: JSON.stringify(body) });
  };

function asObject(text: string | undefined): Readonly<Record<string, unknown>> {
  const body = parseJson(text ?? "");
  return isObject(body) ? body : {};
}

test("what happens while the webhook is made again is found by its making", async () => {
  const handled: string[] = [];
  const world = await virtualWebhooks({
    definition: { watch: { feed: true }, on: { "post.created": (post) => void handled.push(post.content ?? "") } },
    receiver: { readSecrets: () => [new Secret("what this process would like")] },
    link: choosing,
  });
  const { clock, network, registered, restart } = world;
  const quill = world.other("quill");
  const post = (content: string) => quill("POST", "/v1/posts", { body: { content } });
  await clock.advance(MINUTE);
  for (let i = 0; i < 5; i++) {
    await post(`before ${i}`);
    await clock.advance(10 * MINUTE);
  }
  expect(handled).toHaveLength(5);
  const [made] = await registered();
  // A list that is not due for half an hour, and a registration that takes a minute.
  const slow = network.faults.add({ fault: { kind: "status", status: 503, when: "before" }, match: { operation: "webhooks.list" } });
  await restart();
  await clock.advance(5 * SECOND);
  await post("while it is made");
  await clock.advance(20 * SECOND);
  expect(handled).toHaveLength(6); // polled meanwhile, since nothing rests on deliveries
  await post("while it is made, once more");
  slow.remove();
  await clock.advance(2 * MINUTE);
  expect(handled).toEqual([...Array.from({ length: 5 }, (_, i) => `before ${i}`), "while it is made", "while it is made, once more"]);
  const [again] = await registered();
  expect(again).not.toEqual(made);
  await post("after");
  await clock.advance(5 * SECOND);
  expect(handled.at(-1)).toBe("after");
});

test("after a restart no delivery is refused because of a forgotten secret, and the webhook stays", async () => {
  const handled: string[] = [];
  const file = join(project({}).root, "secrets.json");
  const world = await virtualWebhooks({
    definition: { watch: { feed: true }, on: { "post.created": (post) => void handled.push(post.content ?? "") } },
    receiver: { readSecrets: () => [new Secret("what this process would like")], networkSecrets: networkSecretsIn(file) },
    link: choosing,
  });
  const { clock, answers, registered, restart } = world;
  const quill = world.other("quill");
  await clock.advance(MINUTE);
  const before = await registered();
  for (let i = 0; i < 3; i++) {
    await quill("POST", "/v1/posts", { body: { content: `before ${i}` } });
    await clock.advance(MINUTE);
    await restart();
    await quill("POST", "/v1/posts", { body: { content: `after ${i}` } }); // before anything else happens there
    await clock.advance(MINUTE);
  }
  expect(answers.filter((status) => status >= 400)).toEqual([]);
  expect(await registered()).toEqual(before);
  expect(handled).toHaveLength(6);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("a webhook that is found missing is made again, and what nobody delivered is looked for", async () => {
  const handled: string[] = [];
  const world = await virtualWebhooks({
    definition: { watch: { feed: true }, on: { "post.created": (post) => void handled.push(post.content ?? "") } },
    receiver: { readSecrets: () => [new Secret("what the network signs with")] },
  });
  const { clock, mine, registered } = world;
  const quill = world.other("quill");
  await clock.advance(MINUTE);
  for (let i = 0; i < 5; i++) {
    await quill("POST", "/v1/posts", { body: { content: `before ${i}` } });
    await clock.advance(5 * MINUTE);
  }
  const ids = async () => (await registered()).map((one) => textAt(one, "id"));
  const [id] = await ids();
  await clock.advance(6 * HOUR - 27 * MINUTE); // a minute before the webhooks are listed again
  await mine("DELETE", `/v1/webhooks/${id}`);
  await quill("POST", "/v1/posts", { body: { content: "told to nobody" } });
  await clock.advance(2 * MINUTE);
  expect(await ids()).not.toEqual([id]);
  expect(handled).toContain("told to nobody");
});

/** A secret that is rotated as the guide says: the network comes to sign with the new one, and no delivery is refused meanwhile. */
import { describe, expect, test } from "vitest";
import type { Transport, WireAnswer, WireRequest } from "../../src/client/transport.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { Secret } from "../../src/core/secret.ts";
import { HOUR, MINUTE } from "../../src/core/units.ts";
import { textAt } from "../harness/visitor.ts";
import { SCOUT, virtualWebhooks, type VirtualWebhooksOptions } from "../harness/virtual-webhooks.ts";

const OLD = new Secret("the old secret of the tests");
const NEW = new Secret("the new secret of the tests");

type Link = NonNullable<VirtualWebhooksOptions["link"]>;

async function rotating(options: VirtualWebhooksOptions = {}) {
  let secrets = [OLD];
  const lab = await virtualWebhooks({
    receiver: { readSecrets: () => secrets },
    ...options,
  });
  const { clock, runtime, registered, requests } = lab;
  const quill = lab.other("quill");
  await clock.advance(MINUTE);
  return {
    ...lab,
    use: (...given: Secret[]): void => void (secrets = given),
    tell: async (word: string): Promise<void> => {
      await quill("POST", "/v1/posts", { body: { content: `@scout ${word}` } });
      await clock.advance(MINUTE);
    },
    bySecret: async () => (await runtime.webhooks?.shown())?.counts.bySecret,
    ids: async () => (await registered()).map((webhook) => textAt(webhook, "id")),
    writes: () => requests.flatMap(({ operation }) => (/^webhooks\.(?!list)/.test(operation) ? [operation.slice("webhooks.".length)] : [])),
    shown: async () => (await runtime.webhooks?.shown())?.specialists[0]?.registration,
  };
}

test("the webhook is made anew with the secret that stands first, and the old one removed after it", async () => {
  const handled: string[] = [];
  const { clock, use, tell, answers, bySecret, ids, store, shown } = await rotating({
    definition: { watch: { threads: false }, on: { "mention.created": (mention) => void handled.push(mention.content ?? "") } },
  });
  await tell("one");
  const [before] = await ids();
  use(NEW, OLD);
  await clock.advance(2 * MINUTE);
  expect(await ids()).toEqual([expect.not.stringMatching(before ?? "") as string]);
  expect(await shown()).toEqual({ kind: "registered" });
  use(NEW);
  await clock.advance(MINUTE);
  await tell("two");
  expect(handled).toEqual(["@scout one", "@scout two"]);
  expect([...new Set(answers)]).toEqual([202]);
  expect(await bySecret()).toEqual([answers.length]);
  expect(JSON.stringify(await store.registrations(SCOUT))).not.toContain("secret of the tests");
});

test("a webhook that signs with the secret that stands first stays, whatever stands behind it", async () => {
  const { clock, use, ids, writes } = await rotating();
  const before = await ids();
  use(OLD, NEW);
  await clock.advance(13 * HOUR);
  expect(await ids()).toEqual(before);
  expect(writes()).toEqual(["create"]);
});

const isCreate = ({ method, path }: WireRequest): boolean => method === "POST" && path.endsWith("/webhooks");
const answer = (status: number, body: object): WireAnswer => ({
  kind: "answer",
  status,
  headers: { "content-type": "application/json" },
  text: JSON.stringify(body),
  elapsedMs: 1,
});

describe("if the network has one webhook for each address", () => {
  /** Answers by `taken` while there is one. */
  const single =
    (taken: (first: WireAnswer) => WireAnswer): Link =>
    (network) => {
      let first: WireAnswer | undefined;
      return async (request) => {
        if (request.method === "DELETE") first = undefined;
        if (!isCreate(request)) return network(request);
        if (first !== undefined) return taken(first);
        return (first = await network(request));
      };
    };

  test.each<[string, Link]>([
    ["refuses another", single(() => answer(409, { error: { code: "exists", message: "there is one" } }))],
    ["gives back the one it has", single((first) => first)],
  ])("and %s, the old one makes room", async (_what, link) => {
    const { clock, use, tell, answers, ids, writes } = await rotating({ link });
    use(NEW, OLD);
    await clock.advance(2 * MINUTE);
    expect(writes()).toEqual(["create", "create", "delete", "create"]);
    use(NEW);
    await tell("after");
    expect(await ids()).toHaveLength(1);
    expect([...new Set(answers)]).toEqual([202]);
  });

  test("but refuses the secret, the old one stays", async () => {
    const tooShort =
      (network: Transport): Transport =>
      async (request) =>
        isCreate(request) && request.body?.includes(NEW.reveal()) === true
          ? answer(422, { error: { code: "invalid_field", message: "the secret is too short" } })
          : network(request);
    const { clock, use, tell, answers, shown } = await rotating({ link: tooShort });
    use(NEW, OLD);
    await clock.advance(2 * MINUTE);
    await tell("after");
    expect([...new Set(answers)]).toEqual([202]);
    expect(await shown()).toMatchObject({ kind: "deferred", why: expect.stringContaining("too short") as string });
  });
});

test("a webhook stays where the network shows its address as it keeps it", async () => {
  const { clock, ids, writes } = await rotating({
    link: (network) => async (request) => {
      const given = await network(request);
      if (given.kind !== "answer" || request.method !== "GET" || !request.path.includes("/webhooks")) return given;
      return { ...given, text: given.text.replaceAll(/"url":"http(s?):\/\/([^"]*)"/g, '"url":"HTTP$1://$2/"') };
    },
  });
  const before = await ids();
  await clock.advance(13 * HOUR);
  expect(await ids()).toEqual(before);
  expect(writes()).toEqual(["create"]);
});

test("a network that refuses every webhook is asked ever more rarely", async () => {
  const { clock, requests, shown } = await rotating({
    link: (network) => async (request) =>
      isCreate(request) ? answer(422, { error: { code: "invalid_field", message: "no webhooks for you" } }) : network(request),
  });
  await clock.advance(24 * HOUR);
  expect(requests.filter(({ operation }) => operation.startsWith("webhooks.")).length).toBeLessThan(70);
  expect(await shown()).toMatchObject({ kind: "deferred", why: expect.stringContaining("no webhooks for you") as string });
});

describe("a webhook at our address that nothing here recorded", () => {
  /** Loses the answer to the first `times` creations, for which the network makes a secret of its own. */
  const losing =
    (times: number): Link =>
    (network) => {
      let left = times;
      return async (request) => {
        if (!isCreate(request) || left-- <= 0) return network(request);
        const { secret: _ours, ...rest } = JSON.parse(request.body ?? "{}") as JsonObject;
        await network({ ...request, body: JSON.stringify(rest) });
        return { kind: "unknown", reason: "reset before the answer arrived" };
      };
    };

  test("because the answer was lost is made anew, so that its deliveries fit our secret", async () => {
    const { clock, tell, answers, ids, shown } = await rotating({ link: losing(1) });
    await clock.advance(2 * MINUTE);
    expect(await shown()).toEqual({ kind: "registered" });
    expect(await ids()).toHaveLength(1);
    await tell("after");
    expect([...new Set(answers)]).toEqual([202]);
  });

  test("is taken as it is where answers are lost again and again, and costs no more writes then", async () => {
    const { clock, ids, shown, writes } = await rotating({ link: losing(1_000) });
    await clock.advance(30 * HOUR);
    expect(await ids()).toHaveLength(1);
    expect(await shown()).toEqual({ kind: "registered" });
    expect(writes()).toEqual(["create", "delete", "create", "delete", "create", "delete", "create"]);
  });

  test("because somebody made it by hand is replaced, once writes are not halted any more", async () => {
    const { clock, store, mine, ids, shown } = await rotating();
    const [ours] = await ids();
    await clock.run(store.stop("halt", "scout", "test", clock.now()));
    await mine("DELETE", `/v1/webhooks/${ours ?? ""}`);
    await mine("POST", "/v1/webhooks", { body: { url: "https://bots.example.net/webhooks/scout" } });
    const made = await ids();
    await clock.advance(24 * HOUR);
    expect(await ids()).toEqual(made);
    expect(await shown()).toMatchObject({ kind: "deferred" });
    await clock.run(store.lift("halt", "scout"));
    await clock.advance(2 * HOUR);
    expect(await ids()).toHaveLength(1);
    expect(await ids()).not.toEqual(made);
    expect(await shown()).toEqual({ kind: "registered" });
  });
});

describe("a webhook whose address ends in its secret", () => {
  const path = { profile: { webhooks: { scheme: "path" } } } as const;
  const isList = ({ method, path: at }: WireRequest): boolean => method === "GET" && at.includes("/webhooks");

  test.each<[string, (url: string) => string]>([
    ["as it is", (url) => url],
    ["with its secret in another letter case", (url) => url.replace(/[^/]*$/, (secret) => secret.toUpperCase())],
    ["with its secret escaped once more", (url) => url.replaceAll("%", "%25")],
  ])("stays where the network shows the address %s", async (_what, shown) => {
    const { clock, ids, writes } = await rotating({
      ...path,
      link: (network) => async (request) => {
        const given = await network(request);
        if (given.kind !== "answer" || !isList(request)) return given;
        return { ...given, text: given.text.replaceAll(/"url":"([^"]*)"/g, (_, url: string) => `"url":"${shown(url)}"`) };
      },
    });
    const before = await ids();
    await clock.advance(13 * HOUR);
    expect(await ids()).toEqual(before);
    expect(writes()).toEqual(["create"]);
  });

  test.each<[string, Link | undefined]>([
    ["", undefined],
    [
      ", also where the network says that it signs with one of its own",
      (network) => async (request) => {
        const given = await network(request);
        if (given.kind !== "answer" || !isCreate(request)) return given;
        return { ...given, text: given.text.replace(/"secret":"[^"]*"/, '"secret":"whsec_of_the_network_itself"') };
      },
    ],
  ])("is replaced when the secret is another%s", async (_what, link) => {
    const { clock, use, registered, ids } = await rotating({ ...path, ...(link === undefined ? {} : { link }) });
    const [before] = await ids();
    use(NEW, OLD);
    await clock.advance(2 * MINUTE);
    const now = await registered();
    expect(now.map((webhook) => textAt(webhook, "url"))).toEqual([expect.stringContaining(encodeURIComponent(NEW.reveal())) as string]);
    expect(await ids()).not.toEqual([before]);
  });
});

/** One webhook serves all specialists of a Guardian: one of them keeps it, and each delivery reaches whom it means. */
import { expect, test } from "vitest";
import { resolveProfile } from "../../src/contract/profile/profile.ts";
import { asHandle } from "../../src/core/ids.ts";
import { Secret } from "../../src/core/secret.ts";
import { MINUTE } from "../../src/core/units.ts";
import { signDelivery } from "../../src/webhooks/receiver/sign.ts";
import { keeperOf, recipientsOf } from "../../src/webhooks/one-for-all.ts";
import { memberOf } from "../harness/builders.ts";
import { harness } from "../harness/harness.ts";
import { records } from "../harness/visitor.ts";

const SECRET = "a-secret-of-one-webhook";

test("two specialists share a webhook: the network holds one, and what it tells reaches the specialist it names, or both", async () => {
  const seen: string[] = [];
  const on = (handle: string) => ({ "x:news": () => void seen.push(handle) });
  const here = await harness({
    specialists: ["anna", "bert"].map((handle) => ({ handle, tier: "pro" as const, on: on(handle) })),
    profile: { webhooks: { scheme: "header", recipient: "for", kinds: { news: "x:news" } } },
    receiver: { port: undefined, host: "", url: "https://bots.example.net", allowUnsigned: false, readSecrets: () => [new Secret(SECRET)] },
  });
  const { clock, runtime } = here;
  await clock.advance(2 * MINUTE);
  const held = await Promise.all(["anna", "bert"].map(async (handle) => records(await here.as(handle)("GET", "/v1/webhooks")).length));
  expect(held).toEqual([1, 0]);
  const tell = async (id: string, recipient: object) => {
    const delivery = signDelivery({ scheme: "github", secret: SECRET, payload: { id, type: "news", ...recipient }, id, at: clock.now() });
    const answer = await clock.run(runtime.webhooks?.accept("anna", delivery) ?? Promise.resolve(undefined));
    await clock.advance(MINUTE);
    return answer?.status;
  };
  const of = (handle: string): number => seen.filter((one) => one === handle).length;
  expect([await tell("n1", { for: "bert" }), of("anna"), of("bert")]).toEqual([202, 0, 1]);
  expect([await tell("n2", {}), of("anna"), of("bert")]).toEqual([202, 1, 2]);
  expect([await tell("n2", {}), of("anna"), of("bert")]).toEqual([200, 1, 2]);
  expect([await tell("n3", { for: "somebody-else" }), of("anna"), of("bert")]).toEqual([200, 1, 2]);
  runtime.retire(asHandle("anna"));
  await clock.advance(2 * MINUTE);
  expect(records(await here.as("bert")("GET", "/v1/webhooks"))).toHaveLength(1);
});

test("where each has its own, nobody keeps that of others, and a delivery is for its address", () => {
  const own = resolveProfile({ extends: "set-b" });
  const [anna, bert] = ["anna", "bert"].map((handle) => memberOf({ handle }));
  if (anna === undefined || bert === undefined) throw new TypeError("expected two");
  const body = Buffer.from(JSON.stringify({ for: "bert" }));
  expect(keeperOf(own, [anna, bert])).toBeUndefined();
  expect(recipientsOf(own, { specialist: "anna", body }, [anna, bert])).toEqual([anna]);
  const shared = resolveProfile({ extends: "set-b", webhooks: { recipient: "for" } });
  expect(keeperOf(shared, [bert, anna])).toBe(anna);
  expect(recipientsOf(shared, { specialist: "anna", body }, [anna, bert])).toEqual([bert]);
  expect(recipientsOf(shared, { specialist: "anna", body: Buffer.from("[]") }, [anna, bert])).toEqual([anna, bert]);
});

/** The own account: its id, learnt once so that a specialist never answers itself, and the probe of a refused key. */
import { expect, test } from "vitest";
import type { WireAnswer } from "../../src/client/transport.ts";
import { HOUR } from "../../src/core/units.ts";
import { learnFrom, takesKey } from "../../src/gateway/own-account.ts";
import { harness } from "../harness/harness.ts";

const JSON_TYPE = { "content-type": "application/json" };

async function account(answer: () => number | undefined, id?: string) {
  const asked: string[] = [];
  const here = await harness({
    specialists: [{ handle: "scout", ...(id === undefined ? {} : { id }), watch: { feed: true }, on: { "post.created": () => undefined } }],
    link:
      (plain) =>
      async (request): Promise<WireAnswer> => {
        const isAccount = request.path.startsWith("/v1/agents");
        if (isAccount) asked.push(request.path);
        const status = isAccount ? answer() : undefined;
        const text = JSON.stringify({ error: { code: "invalid", message: "no" } });
        return status === undefined ? plain(request) : { kind: "answer", status, headers: JSON_TYPE, text, elapsedMs: 1 };
      },
  });
  const [member] = here.runtime.members();
  if (member === undefined) throw new Error("expected a specialist");
  return { ...here, member, asked };
}

test("an unknown id is asked for at the start, again an hour after a failure, and never once it is known", async () => {
  let status: number | undefined = 500;
  const { clock, member, asked } = await account(() => status);
  await clock.advance(HOUR / 2);
  const failed = asked.length;
  expect(failed).toBe(3);
  expect(member.accountId).toBeUndefined();
  status = undefined;
  await clock.advance(HOUR / 4);
  expect(asked).toHaveLength(failed);
  await clock.advance(HOUR);
  expect(member.accountId).toBeDefined();
  const known = asked.length;
  await clock.advance(24 * HOUR);
  expect(asked).toHaveLength(known);
});

test("the record of somebody else teaches nothing, and a post of one's own the id", async () => {
  const { clock, runtime, member } = await account(() => 500);
  const { parts } = runtime;
  await clock.run(learnFrom(parts, member, { kind: "agent", id: "agt_9", handle: "quill", raw: {} }));
  await clock.run(learnFrom(parts, member, { kind: "post", id: "p1", authorHandle: "quill", authorId: "agt_9", raw: {} }));
  expect(member.accountId).toBeUndefined();
  await clock.run(learnFrom(parts, member, { kind: "post", id: "p2", authorHandle: "Scout", authorId: "agt_1", raw: {} }));
  expect(member.accountId).toBe("agt_1");
  await clock.run(learnFrom(parts, member, { kind: "agent", id: "agt_2", handle: "scout", raw: {} }));
  expect(member.accountId).toBe("agt_1");
});

test.each([
  [undefined, true],
  [422, true],
  [401, false],
  [500, false],
])("a read of the account with status %s says that the key is taken: %s", async (status, isTaken) => {
  const { clock, runtime, member } = await account(() => status, "agt_1");
  expect(await clock.run(takesKey(runtime.parts, member))).toBe(isTaken);
});

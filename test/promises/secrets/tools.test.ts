/** P7: no key or other secret goes to a tool, and none that a tool answers is stored. */
import { expect, test } from "vitest";
import { shippedProfile } from "../../../src/contract/profile/profile.ts";
import { Scrubber } from "../../../src/core/scrubber.ts";
import { Secret } from "../../../src/core/secret.ts";
import { virtualClock } from "../../../src/core/virtual-clock.ts";
import { handleOnce } from "../../../src/simulation/one-handling.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import type { ToolCall } from "../../../src/specialist/run-request.ts";
import { createSpecialist } from "../../../src/specialist/specialist.ts";

const KEY = "sk_live_0123456789abcdef";

/** A handler that calls a tool with this input, and posts the answer. */
async function calling(input: JsonObject, answer: string) {
  const clock = virtualClock();
  const scrubber = new Scrubber();
  scrubber.add(new Secret(KEY));
  const calls: ToolCall[] = [];
  const specialist = createSpecialist({
    handle: "scout",
    may: ["posts.create"],
    tools: ["weather/forecast"],
    on: { "post.created": async (_post, act) => void act.post((await act.tool("weather/forecast", input)).text) },
  });
  const handled = await clock.run(
    handleOnce({
      specialist,
      event: { kind: "post.created", payload: { kind: "post", id: "p1" } },
      profile: shippedProfile("b"),
      clock,
      accountId: "agt_1",
      state: undefined,
      steps: {},
      read: () => Promise.reject(new Error("nothing to read")),
      fetch: () => Promise.reject(new Error("nothing to fetch")),
      callTool: async (_specialist, call) => {
        calls.push(call);
        return { ok: true, text: answer };
      },
      scrubber,
    }),
  );
  return { calls, handled };
}

test("an input with a secret is refused before the call", async () => {
  const { calls, handled } = await calling({ note: `my key is ${KEY}` }, "thanks");
  expect(handled).toMatchObject({ failure: { code: "secret_in_input" }, decisions: [] });
  expect(calls).toEqual([]);
});

test("an answer with a secret is not stored, and nothing is decided on it", async () => {
  const { calls, handled } = await calling({ note: "hello" }, `your key is ${KEY}`);
  expect(calls).toHaveLength(1);
  expect(handled).toMatchObject({ failure: { code: "secret_in_input" }, decisions: [], steps: {} });
});

test("an input and an answer without one pass", async () => {
  expect((await calling({ note: "hello" }, "sunny")).handled).toMatchObject({ decisions: [{ draft: { input: { content: "sunny" } } }] });
});

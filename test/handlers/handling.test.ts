/** One handling has its specialist's value, tools and models, and stores no step that holds a secret. */
import { expect, test } from "vitest";
import { asEventId, asHandle } from "../../src/core/ids.ts";
import { silentLogger } from "../../src/core/log.ts";
import { seededRandom } from "../../src/core/random.ts";
import { Scrubber } from "../../src/core/scrubber.ts";
import { Secret } from "../../src/core/secret.ts";
import { systemClock } from "../../src/core/clock.ts";
import { Handling, type HandlingDependencies } from "../../src/handlers/handling.ts";
import { createAnnouncer } from "../../src/core/events.ts";
import type { Models } from "../../src/model/models.ts";
import { desk, SCOUT } from "../harness/guardian-over-store.ts";
import { memberOf } from "../harness/builders.ts";

async function handling(over: Partial<HandlingDependencies> = {}): Promise<Handling> {
  const { store, event, clock } = desk();
  await event(asEventId("post.created:p1"));
  const [claimed] = store.claimEvents(SCOUT, clock.now(), 1);
  if (claimed === undefined) throw new Error("expected the event to be claimed");
  const scrubber = new Scrubber();
  scrubber.add(new Secret("sk-0123456789abcdef"));
  const parts: HandlingDependencies = {
    clock: systemClock(),
    random: seededRandom(1),
    log: silentLogger(),
    scrubber,
    store,
    announcer: createAnnouncer(),
    fetch: () => Promise.reject(new Error("no fetch")),
    ending: new AbortController().signal,
    ...over,
  };
  return new Handling(parts, memberOf({ handle: asHandle("scout"), initialState: { seen: 1 } }), claimed, () =>
    Promise.reject(new Error("no read")),
  );
}

test("its value begins as the definition says, and a step with a secret is refused", async () => {
  const one = await handling();
  expect(one.state).toEqual({ seen: 1 });
  await expect(one.saveStep("step:a", { said: "sk-0123456789abcdef" }, 0)).rejects.toMatchObject({ code: "secret_in_input" });
});

test("where there are no models or tools it has none; a model is asked about its event for its specialist", async () => {
  const bare = await handling();
  expect([bare.askModel, bare.callTool]).toEqual([undefined, undefined]);
  const asked: unknown[] = [];
  const models: Models = {
    ask: async (member, { kind }, call) => {
      asked.push([member.specialist.handle, kind, call.model]);
      return { suspendedUntil: 1, reason: "busy" };
    },
    waits: () => [],
    close: async () => undefined,
  };
  const one = await handling({ models });
  expect(await one.askModel?.({ model: "small" }, one.signal)).toEqual({ suspendedUntil: 1, reason: "busy" });
  expect(asked).toEqual([["scout", "post.created", "small"]]);
});

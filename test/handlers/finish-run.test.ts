/** The end of a handling: what it decided holds no secret. */
import { expect, test } from "vitest";
import { asIntentId } from "../../src/core/ids.ts";
import { Scrubber } from "../../src/core/scrubber.ts";
import { Secret } from "../../src/core/secret.ts";
import { withoutSecrets } from "../../src/handlers/finish-run.ts";
import type { DraftIntent } from "../../src/specialist/intent-draft.ts";
import type { RunResult } from "../../src/specialist/run.ts";

const KEY = "sk_live_0123456789abcdef";
const scrubber = new Scrubber();
scrubber.add(new Secret(KEY));
const draft = (over: Partial<DraftIntent> = {}): DraftIntent => ({
  id: asIntentId("i1"),
  ordinal: 0,
  operation: "posts.reply",
  target: "p1",
  targetIntent: undefined,
  input: { content: "yes" },
  effect: "reconciled",
  lane: "reply",
  thread: undefined,
  author: undefined,
  conflictKey: "posts.reply p1",
  hops: 0,
  label: undefined,
  data: undefined,
  expiresAt: undefined,
  ...over,
});
const finished = (over: Partial<Extract<RunResult, { kind: "finished" }>>): RunResult => ({ kind: "finished", intents: [], ...over });

test("a run without a secret is left as it is", () => {
  const result = finished({ intents: [draft({ label: "first", data: { n: 1 } })], state: { seen: ["p1"] } });
  expect(withoutSecrets({ scrubber }, result)).toBe(result);
});

test.each<[string, RunResult]>([
  ["its state", finished({ state: { seen: [KEY] } })],
  ["the target of an action", finished({ intents: [draft({ target: KEY })] })],
  ["the label of an action", finished({ intents: [draft({ label: KEY })] })],
  ["the data of an action", finished({ intents: [draft({ data: { key: KEY } })] })],
])("a run fails where a secret stands in %s", (_place, result) => {
  const failed = withoutSecrets({ scrubber }, result);
  expect(failed).toMatchObject({ kind: "failed", error: { code: "secret_in_input" } });
  expect(JSON.stringify(failed)).not.toContain(KEY);
});

test("a run that failed is left as it is", () => {
  const failed: RunResult = { kind: "failed", error: new Error("no") };
  expect(withoutSecrets({ scrubber }, failed)).toBe(failed);
});

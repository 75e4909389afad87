/** A crash around a model's answer: paid once for what was stored, and counted as spent where nobody knows. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { asHandle } from "../../../src/core/ids.ts";
import { microDollars } from "../../../src/core/units.ts";
import { answer } from "../../../src/model.ts";
import type { Store } from "../../../src/store/store.ts";
import { modelTown, type ModelTown, type ModelTownOptions } from "../../harness/model-town.ts";
import { project } from "../../harness/project.ts";
import { spentBy } from "../../harness/spent-by.ts";

/** 100 tokens in for 1, 20 out for 2. */
const COST = 140;
const here: ModelTownOptions["definition"] = {
  may: ["posts.reply"],
  spend: { perDay: microDollars(1_000_000) },
  instructions: "Answer questions about tea.",
  on: { "post.created": answer({ model: "small" }) },
};
const inThread: ModelTownOptions["definition"] = { file: join(import.meta.dirname, "../../harness/isolated-helper.ts") };
const spent = async ({ store }: ModelTown): Promise<readonly (number | undefined)[]> => {
  const [usd] = await spentBy(store, asHandle("helper"), Date.now());
  return [usd?.heldMicros, usd?.postedMicros];
};
const asked = { id: "post.created:p1", payload: { kind: "post", id: "p1", content: "How long does green tea steep?" } };

describe.each([
  ["in the main thread", here],
  ["in a thread of its own", inThread],
])("a behaviour %s", (_where, definition) => {
  const town = (path: string, over: Partial<ModelTownOptions> = {}): Promise<ModelTown> =>
    modelTown({ path, script: "Two minutes.", definition, ...over });

  test("between the answer and its step: what was asked is paid, and it is asked again", async () => {
    const path = join(project().root, "store.sqlite");
    const reached = Promise.withResolvers<void>();
    const never = (store: Store): Store => ({
      ...store,
      saveStep: () => {
        reached.resolve();
        return new Promise(() => undefined);
      },
    });
    const first = await town(path, { before: never });
    await first.events([asked]);
    await reached.promise;
    expect(await spent(first)).toEqual([0, COST]);
    await first.end();
    const second = await town(path);
    await second.ended(1);
    expect(second.model.requests).toHaveLength(1);
    expect(await spent(second)).toEqual([0, 2 * COST]);
  });

  test("after its step: it is neither asked nor paid again", async () => {
    const path = join(project().root, "store.sqlite");
    const fails = (store: Store): Store => ({
      ...store,
      finishRun: () => {
        throw new Error("the process died here");
      },
    });
    const first = await town(path, { before: fails });
    await first.events([asked]);
    await first.ended(1);
    expect(await spent(first)).toEqual([0, COST]);
    await first.end();
    const second = await town(path);
    await second.ended(1);
    expect(second.model.requests).toEqual([]);
    expect(await spent(second)).toEqual([0, COST]);
    const [intent] = await second.store.intents({ operation: "posts.reply", limit: 1 });
    expect(intent?.input).toEqual({ content: "Two minutes." });
  });

  test("while the model thinks: the whole hold counts as spent", async () => {
    const path = join(project().root, "store.sqlite");
    const reached = Promise.withResolvers<void>();
    const first = await town(path, {
      script: () => {
        reached.resolve();
        return { hangs: true };
      },
    });
    await first.events([asked]);
    await reached.promise;
    const [held = 0] = await spent(first);
    expect(held).toBeGreaterThan(COST);
    await first.end();
    const second = await town(path);
    await second.ended(1);
    expect(await spent(second)).toEqual([0, held + COST]);
  });
});

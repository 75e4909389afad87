/** `retinue run` as a real process, against a local network that the test itself holds and judges by. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { seededRandom } from "../../src/core/random.ts";
import type { ProfileSource } from "../../src/contract/profile/source.ts";
import type { Assumptions } from "../../src/local-network/assumptions.ts";
import type { LocalNetwork } from "../../src/local-network/options.ts";
import { createLocalNetwork } from "../../src/local-network/local-network.ts";
import type { Effect } from "../../src/local-network/ground-truth.ts";
import { asking, textAt } from "./visitor.ts";
import { folder, start, type Process, type StartOptions } from "./process.ts";

export interface RunLab {
  readonly root: string;
  readonly network: LocalNetwork;
  /** Starts `retinue run` on the store in this file (default: in the lab's folder), or of this address; with quiet periods of 200 ms. */
  run(
    options?: { readonly store?: string; readonly address?: string; readonly args?: readonly string[] } & Pick<
      StartOptions,
      "under" | "env"
    >,
  ): Process;
  /** Posts by somebody else, and gives the post's id. */
  news(text: string): Promise<string>;
  /** What the specialist did, by the network's own record. */
  effects(operation: string): readonly Effect[];
}

export interface RunLabOptions {
  /** What the network is to do otherwise than by default. */
  readonly assume?: Partial<Assumptions>;
  /** What the profile says beside its timing. */
  readonly profile?: Omit<ProfileSource, "extends" | "timing">;
}

/** `source` is the definition of a specialist called `scout`. */
export async function runLab(context: TestContext, source: string, { assume = {}, profile = {} }: RunLabOptions = {}): Promise<RunLab> {
  const root = folder(context);
  mkdirSync(join(root, "agents"));
  writeFileSync(join(root, "agents/scout.ts"), source);
  writeFileSync(join(root, "quick.json"), JSON.stringify({ ...profile, extends: "set-b", timing: { quietMs: 200 } }));
  const network = createLocalNetwork({ clock: systemClock(), random: seededRandom(7), residents: false, scale: 0.05, assume });
  const listening = await network.listen({ set: "b" });
  const { key } = network.provision({ handle: "scout", tier: "pro", set: "b" });
  const other = asking(network, "b", network.provision({ handle: "quill", tier: "pro", set: "b" }).key);
  network.start();
  context.onTestFinished(async () => {
    await listening.close();
    await network.stop();
  });
  return {
    root,
    network,
    run({ store = join(root, "store.sqlite"), address = `sqlite:${store}`, args = [], under = [], env = {} } = {}) {
      const words = ["run", "--base-url", listening.baseUrls.b ?? "", "--set", "b", "--profile", join(root, "quick.json")];
      return start(context, [...words, "--store", address, ...args], {
        cwd: root,
        env: { RETINUE_KEY_SCOUT: key, ...env },
        under,
      });
    },
    async news(text) {
      return textAt((await other("POST", "/v1/posts", { body: { content: text } })).json, "id");
    },
    effects: (operation) => network.truth.effects({ agent: "scout", operation }),
  };
}

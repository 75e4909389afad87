/** Several `retinue run` on one server, each in a folder of its own as on a machine of its own, against a network that the test judges by. */
import { chmodSync, cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, type TestContext } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { seededRandom } from "../../src/core/random.ts";
import type { LocalNetwork } from "../../src/local-network/options.ts";
import { createLocalNetwork } from "../../src/local-network/local-network.ts";
import { inProcess } from "./cli.ts";
import { folder, start, type Process } from "./process.ts";
import { asking, textAt } from "./visitor.ts";

export interface FleetLab {
  readonly network: LocalNetwork;
  readonly handles: readonly string[];
  /** The keys of the specialists, as variables. */
  readonly keys: { readonly [name: string]: string };
  readonly baseUrl: string;
  /** Starts a process in a new folder, with the definitions of now. */
  run(options?: RunOptions): Member;
  /** Runs a command in a folder that no process has, on the lab's store unless it names another. */
  ask(...args: readonly string[]): ReturnType<typeof inProcess>;
  /** Posts by somebody else, and gives the post's id. */
  news(text: string): Promise<string>;
  /** Resolves when each specialist has answered the post, once. */
  answered(post: string): Promise<void>;
  /** Handles with more than one answer to one post. */
  doubled(): readonly string[];
}

interface RunOptions {
  readonly env?: { readonly [name: string]: string | undefined };
  readonly args?: readonly string[];
  /** Default: the lab's. */
  readonly store?: string;
  /** Its folder can only be read, as that of an image. A process of root has every right, so this one is of nobody. */
  readonly readOnly?: boolean;
  /** The folder of a process that has ended. Default: a new one. */
  readonly root?: string;
}

export interface Member extends Process {
  readonly root: string;
}

export const DEFINITION = (handle: string): string => `export default { handle: "${handle}", tier: "pro", may: ["posts.reply"],
  watch: { feed: { from: "2026-01-01" } }, on: { "post.created": (post, act) => { act.reply(post, "${handle} on " + post.id); } } };`;

const AS_NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];

/** Specialists that answer each post once. */
export async function fleetLab(
  context: TestContext,
  {
    store,
    specialists,
    definition = DEFINITION,
  }: { readonly store: string; readonly specialists: number; readonly definition?: (handle: string) => string },
): Promise<FleetLab> {
  const project = folder(context);
  mkdirSync(join(project, "agents"));
  const handles = Array.from({ length: specialists }, (_, i) => `s${i}`);
  for (const handle of handles) writeFileSync(join(project, "agents", `${handle}.ts`), definition(handle));
  writeFileSync(join(project, "quick.json"), JSON.stringify({ extends: "set-b", timing: { quietMs: 200 } }));
  const network = createLocalNetwork({ clock: systemClock(), random: seededRandom(7), residents: false, scale: 0.05 });
  const listening = await network.listen({ set: "b" });
  const baseUrl = listening.baseUrls.b ?? "";
  const keys = Object.fromEntries(
    handles.map((handle) => [`RETINUE_KEY_${handle.toUpperCase()}`, network.provision({ handle, tier: "pro", set: "b" }).key]),
  );
  const other = asking(network, "b", network.provision({ handle: "quill", tier: "pro", set: "b" }).key);
  network.start();
  context.onTestFinished(async () => {
    await listening.close();
    await network.stop();
  });
  const replies = (post: string) => network.truth.effects({ operation: "posts.reply" }).filter(({ target }) => target === post);
  const visitor = folder(context);
  return {
    network,
    handles,
    keys,
    baseUrl,
    run({ env = {}, args = [], store: own = store, root = folder(context), readOnly = false } = {}) {
      cpSync(project, root, { recursive: true });
      const words = ["run", "--base-url", baseUrl, "--set", "b", "--profile", join(root, "quick.json")];
      if (readOnly) chmodSync(root, 0o555);
      const under = readOnly && process.getuid?.() === 0 ? AS_NOBODY : [];
      return { ...start(context, [...words, "--store", own, ...args], { cwd: root, env: { ...keys, ...env }, under }), root };
    },
    ask: (...args) => inProcess(args.includes("--store") ? args : [...args, "--store", store], { cwd: visitor }),
    async news(text) {
      return textAt((await other("POST", "/v1/posts", { body: { content: text } })).json, "id");
    },
    async answered(post) {
      await expect.poll(() => new Set(replies(post).map(({ agent }) => agent)).size).toBe(handles.length);
    },
    doubled: () => handles.filter((handle) => network.truth.duplicates({ agent: handle }).length > 0),
  };
}

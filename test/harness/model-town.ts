/** The real runtime in real time: one model-driven specialist on a local network without sockets, its model over real HTTP. */
import { onTestFinished } from "vitest";
import { createKeys } from "../../src/client/auth.ts";
import { loadDefinition } from "../../src/config/definitions.ts";
import { checkedModels, type ModelConfig } from "../../src/config/model-settings.ts";
import { shippedProfile } from "../../src/contract/profile/profile.ts";
import { systemClock } from "../../src/core/clock.ts";
import { asEventId, asHandle } from "../../src/core/ids.ts";
import type { Json } from "../../src/core/json.ts";
import { createLogger, silentLogger, type LogLine } from "../../src/core/log.ts";
import { systemRandom } from "../../src/core/random.ts";
import { Scrubber } from "../../src/core/scrubber.ts";
import { Secret } from "../../src/core/secret.ts";
import { createGuardian, type Guardian } from "../../src/guardian/guardian.ts";
import { livePacer } from "../../src/limits/pacing.ts";
import { createLocalNetwork } from "../../src/local-network/local-network.ts";
import type { LocalNetwork } from "../../src/local-network/options.ts";
import { createRuntime, type Runtime } from "../../src/runtime/runtime.ts";
import type { SpecialistDefinition } from "../../src/specialist/definition.ts";
import { createSpecialist, type Specialist } from "../../src/specialist/specialist.ts";
import { createWorkerPool } from "../../src/handlers/worker/worker-pool.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";
import { scriptedModel, type Script, type ScriptedModel } from "../../src/testing.ts";
import { plainLink } from "./plain-transport.ts";
import { asking, textAt } from "./visitor.ts";

export interface ModelTown {
  readonly model: ScriptedModel;
  readonly network: LocalNetwork;
  readonly runtime: Runtime;
  readonly store: Store;
  readonly guardian: Guardian;
  readonly log: readonly LogLine[];
  /** The specialist's key on the network. */
  readonly key: string;
  /** Posts by somebody else; returns the id. */
  post(content: string): Promise<string>;
  /** Gives the specialist events of posts, and wakes it. */
  events(posts: readonly { readonly id: string; readonly payload: Json }[]): Promise<void>;
  /** Resolves once so many handlings have ended, or so many events wait. */
  ended(count: number): Promise<void>;
  /** Ends the process now. The end of the test ends everything. */
  end(): Promise<void>;
}

export interface ModelTownOptions {
  /** A file is run in a thread of its own. */
  readonly definition: Omit<SpecialistDefinition, "handle" | "tier"> | { readonly file: string };
  readonly script: Script;
  readonly config?: Partial<ModelConfig>;
  readonly before?: (store: Store) => Store;
  readonly path?: string;
}

const HELPER = asHandle("helper");

async function loaded(file: string): Promise<Specialist> {
  const { definition, problems } = await loadDefinition(file);
  if (definition === undefined) throw new Error(JSON.stringify(problems));
  return definition.specialist;
}

export async function modelTown({
  definition,
  script,
  config,
  before = (store) => store,
  path = ":memory:",
}: ModelTownOptions): Promise<ModelTown> {
  const clock = systemClock();
  const random = systemRandom();
  const model = await scriptedModel(script);
  onTestFinished(() => model.close());
  const network = createLocalNetwork({ clock, random, residents: false });
  const { key } = network.provision({ handle: HELPER, tier: "pro", set: "b" });
  const other = asking(network, "b", network.provision({ handle: "quill", tier: "pro", set: "b" }).key);
  network.start();
  onTestFinished(() => network.stop());
  const store = before(openSqliteStore({ path, clock, random }));
  const scrubber = new Scrubber();
  scrubber.add(new Secret(key));
  const log: LogLine[] = [];
  const isolation = "file" in definition ? createWorkerPool({ clock, log: silentLogger() }) : undefined;
  if (isolation !== undefined) onTestFinished(() => isolation.close());
  const runtime = createRuntime({
    specialists: ["file" in definition ? await loaded(definition.file) : createSpecialist({ handle: HELPER, tier: "pro", ...definition })],
    ...(isolation && { isolation }),
    profile: shippedProfile("b"),
    baseUrl: "http://network/v1",
    store,
    transport: plainLink(network, "b"),
    keys: createKeys({ read: () => key, salt: new Secret("salt of this test") }),
    pacer: livePacer(clock, { spacingMs: 0 }),
    clock,
    random,
    log: createLogger({ level: "debug", now: () => clock.now(), scrubber, sink: (line) => void log.push(line) }),
    scrubber,
    drainMs: 2_000,
    models: {
      settings: checkedModels({ small: model.settings({ prices: { input: 1, output: 2 }, ...config }) }),
      readKey: () => undefined,
    },
  });
  let handled = 0;
  let told = (): void => undefined;
  runtime.announcer.on("run", () => {
    handled++;
    told();
  });
  let over: Promise<void> | undefined;
  const end = (): Promise<void> => (over ??= runtime.stop().then(() => store.close()));
  onTestFinished(end);
  await runtime.start();
  return {
    model,
    network,
    runtime,
    store,
    guardian: createGuardian({ store, clock, live: { runtime, startedAt: clock.now(), baseUrl: "http://network/v1" } }),
    log,
    key,
    post: async (content) => textAt((await other("POST", "/v1/posts", { body: { content } })).json, "id"),
    async events(posts) {
      const events = posts.map(
        ({ id, payload }) => ({ specialist: HELPER, id: asEventId(id), kind: "post.created", payload, via: "poll", hops: 0 }) as const,
      );
      await store.putEvents({ events }, clock.now());
      const member = runtime.member(HELPER);
      if (member !== undefined) runtime.parts.wake(member, "events");
    },
    end,
    ended: (count) =>
      new Promise((resolve) => {
        told = () => handled >= count && resolve();
        told();
      }),
  };
}

/** Models asked over real HTTP against a store in memory, by specialists with a cap in US dollars. */
import { onTestFinished } from "vitest";
import { checkedModels, type ModelConfig } from "../../src/config/model-settings.ts";
import { shippedProfile } from "../../src/contract/profile/profile.ts";
import { systemClock, type Clock } from "../../src/core/clock.ts";
import { asHandle } from "../../src/core/ids.ts";
import { silentLogger } from "../../src/core/log.ts";
import { seededRandom } from "../../src/core/random.ts";
import { Scrubber } from "../../src/core/scrubber.ts";
import { microDollars } from "../../src/core/units.ts";
import { createMember, type Member } from "../../src/gateway/member.ts";
import { limitsOf, operationRules } from "../../src/gateway/permissions.ts";
import { capsOf } from "../../src/limits/caps.ts";
import { GUARDIAN, scopeOf } from "../../src/limits/spending.ts";
import type { Stop } from "../../src/limits/verdict.ts";
import { createModels, type Models } from "../../src/model/models.ts";
import type { HandlerRead } from "../../src/specialist/run-request.ts";
import type { SpecialistDefinition } from "../../src/specialist/definition.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";
import { post, scriptedModel, type Script, type ScriptedModel } from "../../src/testing.ts";
import { spentBy } from "./spent-by.ts";

/** The highest cost of a call of this desk is below this, in millionths. */
export const CAP_MICROS = 1_000_000;

export interface ModelDesk {
  readonly model: ScriptedModel;
  readonly models: Models;
  readonly store: Store;
  readonly member: Member;
  readonly scrubber: Scrubber;
  /** Asks about a new post. */
  ask(content?: string, member?: Member, signal?: AbortSignal): Promise<HandlerRead>;
  /** Held and posted millionths of `helper`. */
  spent(): Promise<readonly [held: number, posted: number]>;
  another(handle: string): Member;
  /** Lets time pass for the desk alone. */
  pass(ms: number): void;
}

export interface ModelDeskOptions {
  readonly script: Script;
  readonly config?: Partial<ModelConfig>;
  readonly capMicros?: number;
  readonly keys?: { [name: string]: string | undefined };
  readonly definition?: Partial<SpecialistDefinition>;
  readonly halt?: () => Stop | undefined;
}

export async function modelDesk({
  script,
  config,
  capMicros = CAP_MICROS,
  keys = {},
  definition,
  halt,
}: ModelDeskOptions): Promise<ModelDesk> {
  const model = await scriptedModel(script);
  onTestFinished(() => model.close());
  const system = systemClock();
  let ahead = 0;
  const clock: Clock = { ...system, now: () => system.now() + ahead };
  const random = seededRandom("model desk");
  const store = openSqliteStore({ path: ":memory:", clock, random: random.fork("store") });
  onTestFinished(() => store.close());
  const profile = shippedProfile("b");
  const scrubber = new Scrubber();
  const money = microDollars(capMicros);
  const models = createModels({
    settings: checkedModels({ small: model.settings({ prices: { input: 1, output: 2 }, ...config }) }),
    readKey: (name) => keys[name],
    profile,
    store,
    clock,
    random: random.fork("models"),
    scrubber,
    log: silentLogger(),
    caps: ({ specialist }) => [...capsOf(scopeOf(specialist.handle), { perDay: money }), ...capsOf(GUARDIAN, { perDay: money })],
    halt: halt ?? (() => undefined),
  });
  onTestFinished(() => models.close());
  const another = (handle: string): Member => {
    const specialist = createSpecialist({ handle, may: ["posts.reply"], instructions: "Answer questions about tea.", ...definition });
    return createMember(specialist, operationRules(specialist, profile, clock), limitsOf("free", profile), clock.now());
  };
  const member = another("helper");
  return {
    model,
    models,
    store,
    member,
    scrubber,
    another,
    ask: (content = "How long does green tea steep?", by = member, signal = new AbortController().signal) =>
      models.ask(by, { kind: "post.created", payload: JSON.parse(JSON.stringify(post({ content }))) }, { model: "small" }, signal),
    async spent() {
      const [usd] = await spentBy(store, asHandle("helper"), clock.now());
      return [usd?.heldMicros ?? 0, usd?.postedMicros ?? 0];
    },
    pass: (ms) => void (ahead += ms),
  };
}

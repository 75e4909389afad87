/** Handles one event once, by the rules and the store that a runtime uses, and sends nothing. */
import { createAnnouncer } from "../core/events.ts";
import { eventId } from "../contract/event-id.ts";
import type { Profile } from "../contract/profile/profile.ts";
import { systemClock, type Clock } from "../core/clock.ts";
import { Misconfigured } from "../core/errors.ts";
import { asEventId } from "../core/ids.ts";
import { isObject, textIn, type Json, type JsonObject } from "../core/json.ts";
import { createLogger, type LogLine } from "../core/log.ts";
import { seededRandom } from "../core/random.ts";
import { Scrubber } from "../core/scrubber.ts";
import { createMember } from "../gateway/member.ts";
import { limitsOf, operationRules } from "../gateway/permissions.ts";
import { finishRun, withoutSecrets } from "../handlers/finish-run.ts";
import { Handling, type ToolDesk } from "../handlers/handling.ts";
import { openModels, type ModelAccess, type ModelNeeds } from "../runtime/open-models.ts";
import { handlerOf } from "../specialist/handlers.ts";
import type { DraftIntent, StoredIntent } from "../specialist/intent-draft.ts";
import type { HandlerRead, ReadCall } from "../specialist/run-request.ts";
import { runHandler, RunInterrupted } from "../specialist/run.ts";
import type { Specialist } from "../specialist/specialist.ts";
import { openSqliteStore } from "../store/sqlite/store.ts";

export interface OneHandlingOptions {
  readonly specialist: Specialist;
  readonly event: { readonly id?: string; readonly kind: string; readonly payload: Json; readonly hops?: number };
  readonly profile: Profile;
  readonly clock: Clock;
  /** The account's id on the network, if it is known. */
  readonly accountId: string | undefined;
  /** The specialist's value before. Default: that of its definition. */
  readonly state: JsonObject | undefined;
  /** Results of steps that are stored already, by name. */
  readonly steps: { readonly [name: string]: Json };
  /** Stored results by their full names, of an earlier handling of the same event: steps, reads and tools. */
  readonly answers?: { readonly [name: string]: Json };
  readonly read: (call: ReadCall, signal: AbortSignal) => Promise<HandlerRead>;
  readonly callTool: ToolDesk["callTool"];
  readonly fetch: typeof globalThis.fetch;
  /** Models that it may ask, with the caps of their Guardian. Default: none. */
  readonly models?: Pick<ModelNeeds, "guardianCaps"> & ModelAccess;
  /** Holds the money of calls. Default: the store of this handling alone. */
  readonly holds?: Pick<ModelNeeds, "store" | "clock" | "random">;
  /** Knows the secrets that no action may hold. Default: none. */
  readonly scrubber?: Scrubber;
}

/** A decision, and what becomes of it before anything is sent. */
export interface Decision {
  readonly draft: DraftIntent;
  readonly stored: StoredIntent;
}

export interface OneHandling {
  /** Set if the handler failed, or waits for the quota; then it decided on nothing. */
  readonly failure?: unknown;
  readonly decisions: readonly Decision[];
  /** The specialist's value after. */
  readonly state: JsonObject;
  /** Results of the steps that ran, by name. */
  readonly steps: { readonly [name: string]: Json };
  /** All results that it stored or took, by their full names. */
  readonly answers: { readonly [name: string]: Json };
  readonly reads: readonly ReadCall[];
  readonly log: readonly LogLine[];
}

const STEP = "step:";

/** Throws `Misconfigured` (`handler_missing`) if the specialist handles no events of this kind. */
export async function handleOnce(options: OneHandlingOptions): Promise<OneHandling> {
  const { specialist, event, profile, clock, scrubber = new Scrubber() } = options;
  const handler = handlerOf(specialist, event.kind);
  if (handler === undefined) throw handlerMissing(specialist, event.kind);
  const now = clock.now();
  const random = seededRandom("one handling");
  const member = createMember(
    specialist,
    operationRules(specialist, profile, clock, { scrubber }),
    limitsOf(specialist.tier, profile),
    now,
  );
  member.accountId = options.accountId;
  const lines: LogLine[] = [];
  const steps: Record<string, Json> = {};
  const answers: Record<string, Json> = { ...options.answers };
  const reads: ReadCall[] = [];
  const store = openSqliteStore({ path: ":memory:", clock, random: random.fork("store") });
  const log = createLogger({ level: "debug", now: () => clock.now(), scrubber, sink: (line) => void lines.push(line) });
  const models = modelsInTest(options, { store, log, scrubber, random: random.fork("models") });
  try {
    const { handle } = specialist;
    const id = asEventId(event.id ?? eventId(event.kind, textIn(isObject(event.payload) ? event.payload : {}, "id") ?? "1"));
    await store.putEvents(
      { events: [{ specialist: handle, id, kind: event.kind, payload: event.payload, via: "runtime", hops: event.hops ?? 0 }] },
      now,
    );
    const [claimed] = store.claimEvents(handle, now, 1);
    if (claimed === undefined) throw new Error("the event was not stored");
    const parts = {
      clock,
      store,
      scrubber,
      random: random.fork("intents"),
      fetch: options.fetch,
      models,
      log,
      tools: { callTool: options.callTool },
      ending: new AbortController().signal,
      announcer: createAnnouncer(),
    };
    const known = new Map([
      ...Object.entries(answers),
      ...Object.entries(options.steps).map(([name, value]): [string, Json] => [`${STEP}${name}`, value]),
    ]);
    const request = new HandlingInTest(parts, member, { ...claimed, steps: known }, (_member, call, { signal }) => {
      reads.push(call);
      return options.read(call, signal);
    });
    request.given = options.state;
    request.onStep = (name, value) => {
      answers[name] = value;
      if (name.startsWith(STEP)) steps[name.slice(STEP.length)] = value;
    };
    const result = withoutSecrets(parts, await runHandler(handler, request));
    const about = { steps, answers, reads, log: lines };
    if (result.kind === "failed") return { ...about, failure: result.error, decisions: [], state: request.state };
    if (result.kind === "suspended")
      return { ...about, failure: new RunInterrupted("suspended", `it waits: ${result.reason}`), decisions: [], state: request.state };
    const stored = finishRun(parts, member, claimed, result);
    const decisions = result.intents.flatMap((draft, at) => (stored[at] === undefined ? [] : [{ draft, stored: stored[at] }]));
    return { ...about, decisions, state: result.state ?? request.state };
  } finally {
    await store.close();
    await models?.close();
  }
}

type ModelParts = Pick<Parameters<typeof openModels>[0], "store" | "log" | "scrubber" | "random">;

function modelsInTest({ models, holds, profile, clock }: OneHandlingOptions, parts: ModelParts): ReturnType<typeof openModels> {
  // A model is asked over HTTP, in real time; the pacing of its calls would never end on a clock that stands still.
  const paced: Clock = { ...systemClock(), now: () => clock.now() };
  return openModels({ ...parts, clock: paced, ...holds, models, guardianCaps: models?.guardianCaps, profile, halt: () => undefined });
}

/** Its state is given, and its steps are reported. */
class HandlingInTest extends Handling {
  given: JsonObject | undefined;
  onStep: (name: string, value: Json) => void = () => undefined;

  override get state(): JsonObject {
    return this.given === undefined ? super.state : structuredClone(this.given);
  }

  override async saveStep(name: string, value: Json, startedAt: number): Promise<void> {
    await super.saveStep(name, value, startedAt);
    this.onStep(name, value);
  }
}

function handlerMissing({ handle, on, schedules }: Specialist, kind: string): Misconfigured {
  const kinds = [...Object.keys(on), ...schedules.map(({ name }) => `schedule:${name}`)];
  return new Misconfigured("handler_missing", `${handle} has no handler of ${kind}`, {
    expected: kinds.length === 0 ? "a definition with handlers" : kinds.join(" or "),
  });
}

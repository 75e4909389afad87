/** One handling of one event: what its handler may read and ask, and where its steps are stored. */
import { SCHEDULE_PREFIX } from "../contract/event-kinds.ts";
import type { Clock } from "../core/clock.ts";
import type { Announcer } from "../core/events.ts";
import { newIntentId, type IntentId } from "../core/ids.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { Logger } from "../core/log.ts";
import type { Random } from "../core/random.ts";
import type { Scrubber } from "../core/scrubber.ts";
import type { Member } from "../gateway/member.ts";
import { refuseSecrets } from "../gateway/secret-refusal.ts";
import type { Models } from "../model/models.ts";
import type { ToolAnswer } from "../specialist/act.ts";
import type { HandlerRead, ReadCall, RunRequest, ToolCall } from "../specialist/run-request.ts";
import { handlingsAtOnce, type Specialist } from "../specialist/specialist.ts";
import type { ClaimedEvent } from "../store/inbox.ts";
import type { Store } from "../store/store.ts";

/** The tools of MCP servers, as a specialist may use them. */
export interface ToolDesk {
  /** Throws `Refused` for a tool that is not permitted or not as it was accepted, `Retryable` if its server does not answer. */
  callTool(specialist: Specialist, call: ToolCall, signal: AbortSignal): Promise<ToolAnswer>;
}

/** Dependencies of one handling. */
export interface HandlingDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Knows every secret: foreign text is cleaned by it before anything is read from it, or cut. */
  readonly scrubber: Scrubber;
  readonly store: Store;
  readonly announcer: Announcer;
  readonly fetch: typeof globalThis.fetch;
  /** Undefined where no model may be asked. */
  readonly models?: Models | undefined;
  /** The tools of MCP servers. Default: none is reached. */
  readonly tools?: ToolDesk | undefined;
  /** Aborted when the time to drain is over: running work is interrupted. */
  readonly ending: AbortSignal;
}

/** Reads for a handler, charged to the quota. */
export type ReadForHandler = (
  member: Member,
  call: ReadCall,
  options: { readonly signal: AbortSignal; readonly since: number; readonly event: string },
) => Promise<HandlerRead>;

/** The inputs of one handling of an event. A class, because every event has one, and few handlers ask for more than its event. */
export class Handling implements RunRequest {
  readonly event: ClaimedEvent;
  readonly me: RunRequest["me"];
  readonly rules: RunRequest["rules"];
  readonly #parts: HandlingDependencies;
  readonly #member: Member;
  readonly #specialist: Member["specialist"];
  readonly #read: ReadForHandler;

  constructor(parts: HandlingDependencies, member: Member, event: ClaimedEvent, read: ReadForHandler) {
    this.event = event;
    this.me = { handle: member.specialist.handle, id: member.accountId };
    this.rules = member.rules;
    this.#parts = parts;
    this.#member = member;
    this.#specialist = member.specialist;
    this.#read = read;
  }

  get steps(): RunRequest["steps"] {
    return this.event.steps;
  }

  get state(): JsonObject {
    const { handle, initialState } = this.#specialist;
    const stored = this.#parts.store.loadState(handle);
    return isEmpty(stored) && !isEmpty(initialState) ? structuredClone(initialState) : stored;
  }

  get usual(): RunRequest["usual"] {
    const { kind } = this.event;
    if (!kind.startsWith(SCHEDULE_PREFIX)) return undefined;
    const schedule = this.#specialist.schedules.find(({ name }) => `${SCHEDULE_PREFIX}${name}` === kind);
    return schedule && { expiresMs: schedule.expiresMs, onPileUp: schedule.onPileUp };
  }

  get isSideBySide(): boolean {
    return handlingsAtOnce(this.#specialist, this.event.kind) > 1;
  }

  get deadlineMs(): number {
    return this.#specialist.deadlineMs;
  }

  get fetch(): RunRequest["fetch"] {
    return this.#parts.fetch;
  }

  get clock(): Clock {
    return this.#parts.clock;
  }

  get log(): Logger {
    return this.#parts.log.child({ handle: this.#specialist.handle, event: this.event.id });
  }

  get signal(): AbortSignal {
    return this.#parts.ending;
  }

  read(call: ReadCall, signal: AbortSignal): Promise<HandlerRead> {
    return this.#read(this.#member, call, { signal, since: this.event.beganAt, event: this.event.id });
  }

  get callTool(): RunRequest["callTool"] {
    const { tools, scrubber } = this.#parts;
    if (tools === undefined) return undefined;
    return (call, signal) => {
      refuseSecrets(scrubber, `${call.tool}: the input`, call.input);
      return tools.callTool(this.#specialist, call, signal);
    };
  }

  async saveStep(name: string, value: Json, startedAt: number): Promise<void> {
    const { scrubber, store, announcer, clock } = this.#parts;
    refuseSecrets(scrubber, "what a step returned", [name, value]);
    await store.saveStep(this.event.seq, name, value);
    if (announcer.listenerCount("step") > 0)
      announcer.emit("step", { at: clock.now(), handle: this.#specialist.handle, event: this.event.id, step: name, startedAt });
  }

  get askModel(): RunRequest["askModel"] {
    const { models } = this.#parts;
    return models === undefined ? undefined : (call, signal) => models.ask(this.#member, this.event, call, signal);
  }

  newIntentId(): IntentId {
    return newIntentId(this.#parts.random, this.#parts.clock.now());
  }
}

function isEmpty(state: JsonObject): boolean {
  return Object.keys(state).length === 0;
}

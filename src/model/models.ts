/** Asks models for the specialists: under halt, caps, rate and rest, each try paid before it leaves. */
import type { SocketTransport, Transport } from "../client/transport.ts";
import type { ModelSettings } from "../config/model-settings.ts";
import type { Profile } from "../contract/profile/profile.ts";
import { backoffMs } from "../core/backoff.ts";
import type { Clock } from "../core/clock.ts";
import type { AnyCode } from "../core/error-codes.ts";
import { Misconfigured, messageOf, Refused, Retryable } from "../core/errors.ts";
import { asJson } from "../core/json.ts";
import { asKeyId } from "../core/ids.ts";
import type { Logger } from "../core/log.ts";
import type { Random } from "../core/random.ts";
import type { Scrubber } from "../core/scrubber.ts";
import { Secret } from "../core/secret.ts";
import { MINUTE, SECOND, showMoney, type Micros } from "../core/units.ts";
import type { Member } from "../gateway/member.ts";
import { decideHold, type HoldVerdict } from "../limits/hold-decision.ts";
import { livePacer, type Pacer, type PacingOptions } from "../limits/pacing.ts";
import type { Cap } from "../limits/spending.ts";
import type { Stop } from "../limits/verdict.ts";
import type { ModelAnswer, ModelCall } from "../specialist/model-call.ts";
import type { HandlerRead } from "../specialist/run-request.ts";
import type { HoldStore } from "../store/holds.ts";
import { costOf, tokensOf, worstCost } from "./call-cost.ts";
import { classifyFailure } from "./classify-answer.ts";
import { checkedAnswer } from "./checked-answer.ts";
import { modelAttempt, modelSockets } from "./model-fetch.ts";
import { promptFor } from "./prompt.ts";
import { generate, type Generation } from "./provider.ts";
import { toolsFor, type AskedEvent } from "./tools.ts";

export interface ModelsOptions {
  readonly settings: { readonly [name: string]: ModelSettings };
  /** The present value of a variable; undefined if it is not set. */
  readonly readKey: (variable: string) => string | undefined;
  readonly profile: Profile;
  readonly store: HoldStore;
  readonly clock: Clock;
  /** Names the marks of data, and holds. */
  readonly random: Random;
  readonly scrubber: Scrubber;
  /** Told of the beginning and the end of each wait, not of each event that waits. */
  readonly log: Logger;
  readonly caps: (member: Member) => readonly Cap[];
  /** A halt that the store does not have. */
  readonly halt: (handle: string) => Stop | undefined;
  /** Default: sockets and time of this machine. */
  readonly link?: ModelLink | undefined;
  /** Shared by runtimes that count their calls of a model together. Default: these models count alone. */
  readonly paces?: ModelPaces | undefined;
}

/** The way of requests to models, and their pace. */
export interface ModelLink {
  readonly send: Transport;
  pacer(options: PacingOptions): Pacer;
}

/** Calls of each model in use, by its name. */
export type ModelPaces = Map<string, Pace>;

interface Pace {
  readonly pacer: Pacer;
  /** Calls that were begun, or wait for their start. */
  underWay: number;
}

/** The reason for which calls of a model wait. */
export interface ModelWait {
  readonly model: string;
  /** Undefined if it concerns every specialist. */
  readonly handle?: string;
  readonly code: AnyCode;
  readonly message: string;
  readonly since: number;
  readonly until: number;
}

export interface Models {
  /** A `ModelAnswer`, or the time at which the model may be asked. */
  ask(member: Member, event: AskedEvent, call: ModelCall, signal: AbortSignal): Promise<HandlerRead>;
  /** Waits that are in force, the longest first. */
  waits(): readonly ModelWait[];
  /** Ends idle sockets. */
  close(): Promise<void>;
}

const REST = { firstMs: 5 * SECOND, longestMs: 15 * MINUTE };
/** Longest rest by a `retry-after`: one that is days away is a mistake of units. */
const LONGEST_REST_MS = 6 * 60 * MINUTE;
/** Delay where only a person ends a wait, or no time is known. */
const ASK_AGAIN_MS = 30 * SECOND;
/** Longest delay of an event that waits for money: a raised cap counts within it. */
const LONGEST_WAIT_MS = 15 * MINUTE;
/** Delay where all places of a model are taken: an event that waited in line would use up its deadline. */
const BUSY_MS = 2 * SECOND;
/** Time after the deadline of a call in which its end is stored; a hold that is left counts as spent. */
const SETTLE_MS = MINUTE;
const MARK_LENGTH = 10;
const ID_LENGTH = 16;
const MAX_WAITS = 1_000;
/** Each model has a pacer of its own, with one line. */
const LINE = asKeyId("model");

/** One model in use. Its rest is dated by the clock of this runtime, which may differ from another's. */
interface Line {
  readonly settings: ModelSettings;
  readonly pace: Pace;
  rest: (ModelWait & { readonly failures: number; readonly key: string | undefined }) | undefined;
}

/** One question with its parts. */
interface Question {
  readonly member: Member;
  readonly event: AskedEvent;
  readonly call: ModelCall;
  readonly signal: AbortSignal;
}

type Waits = Extract<HandlerRead, { readonly suspendedUntil: number }>;

export function createModels(options: ModelsOptions): Models {
  return new AskedModels(options);
}

class AskedModels implements Models {
  readonly #options: ModelsOptions;
  readonly #lines = new Map<string, Line>();
  readonly #paces: ModelPaces;
  /** Waits of single specialists for money, a halt or a pause. */
  readonly #waits = new Map<string, ModelWait>();
  readonly #link: ModelLink;
  #sockets: SocketTransport | undefined;

  constructor(options: ModelsOptions) {
    const { clock } = options;
    this.#options = options;
    this.#paces = options.paces ?? new Map();
    this.#link = options.link ?? {
      send: (request) => (this.#sockets ??= modelSockets(clock)).send(request),
      pacer: (pacing) => livePacer(clock, pacing),
    };
  }

  async close(): Promise<void> {
    await this.#sockets?.close();
  }

  waits(): readonly ModelWait[] {
    const now = this.#options.clock.now();
    const rests = [...this.#lines.values()].flatMap(({ rest }) => rest ?? []);
    const shown = [...rests, ...this.#waits.values()].map(({ model, handle, code, message, since, until }) => ({
      model,
      ...(handle === undefined ? {} : { handle }),
      code,
      message,
      since,
      until,
    }));
    return shown.filter(({ until }) => until > now).sort((a, b) => a.since - b.since);
  }

  async ask(member: Member, event: AskedEvent, call: ModelCall, signal: AbortSignal): Promise<HandlerRead> {
    const line = this.#lineOf(call.model);
    const { settings, pace, rest } = line;
    const now = this.#options.clock.now();
    const key = this.#keyOf(settings);
    // A key that was replaced is tried at once.
    if (rest !== undefined && rest.until > now && (rest.code !== "model_key_refused" || rest.key === key))
      return { suspendedUntil: rest.until, reason: rest.message };
    if (settings.key !== undefined && key === undefined)
      return this.#rest(
        line,
        now,
        { code: "model_key_missing", message: `the model "${settings.name}" has no key in ${settings.key}` },
        key,
      );
    if (pace.underWay >= 2 * settings.concurrency)
      return {
        suspendedUntil: now + BUSY_MS,
        reason: `${pace.underWay} calls of the model "${settings.name}" are under way or wait`,
      };
    pace.underWay++;
    try {
      return await pace.pacer.run(LINE, () => this.#try(line, key, { member, event, call, signal }));
    } finally {
      pace.underWay--;
    }
  }

  /** One paid try. */
  async #try(line: Line, key: string | undefined, question: Question): Promise<HandlerRead> {
    const { clock, store, scrubber, random, profile } = this.#options;
    const { member, event, call, signal } = question;
    const { settings } = line;
    const startedAt = clock.now();
    const tools = toolsFor({ may: member.specialist.may, profile, event });
    const mark = random.word(MARK_LENGTH);
    const prompt = promptFor({
      specialist: member.specialist,
      event,
      call,
      settings,
      tools,
      mark,
      clean: (json) => scrubber.cleanJson(json),
    });
    const hold = { id: `model:${settings.name}:${random.word(ID_LENGTH)}`, caps: this.#options.caps(member) };
    let verdict: HoldVerdict | undefined;
    const attempt = modelAttempt({
      send: this.#link.send,
      scrubber,
      timeoutMs: settings.timeoutMs,
      signal,
      admit: async (bytes) => {
        verdict = await this.#hold(question, hold, settings, bytes);
        return verdict.kind === "hold";
      },
    });
    const settle = (actual: Micros | undefined): void => store.endHold({ ...hold, actual, now: clock.now() });
    let generation: Generation;
    try {
      generation = await generate({ settings, key, prompt, tools, send: attempt.fetch, signal });
    } catch (error) {
      if (error instanceof Misconfigured) throw error;
      if (verdict !== undefined && verdict.kind !== "hold") return this.#notHeld(question, verdict, startedAt);
      const { failure, spent } = classifyFailure(attempt.answer(), scrubber.clean(messageOf(error)), settings, clock.now());
      settle(spent === "nothing" ? 0 : undefined);
      signal.throwIfAborted();
      if (failure.kind === "refused") throw new Refused("model_refused_request", failure.message);
      if (failure.kind === "unusable") throw new Retryable("model_unusable_answer", failure.message, { cause: error });
      return this.#rest(line, startedAt, failure, key);
    }
    if (line.rest !== undefined) this.#options.log.info("the model answers again", { model: settings.name });
    line.rest = undefined;
    this.#waits.delete(waitName(question));
    const tokens = tokensOf(generation.use);
    const cost = tokens === undefined ? undefined : costOf(tokens, settings);
    settle(cost);
    const paid = cost === undefined ? "not told, so all that was held" : showMoney({ currency: "usd", micros: cost });
    const checked = checkedAnswer(generation, { prompt, tools, mark, event, may: member.specialist.may, scrubber });
    const answer: ModelAnswer = { ...checked, ...(tokens === undefined ? {} : { tokens }), cost: paid };
    return { value: asJson(answer) };
  }

  #hold(
    { member }: Question,
    { id, caps }: { readonly id: string; readonly caps: readonly Cap[] },
    settings: ModelSettings,
    bytes: number,
  ): Promise<HoldVerdict> {
    const { store, clock, halt } = this.#options;
    const { handle } = member.specialist;
    const now = clock.now();
    const expiresAt = now + settings.timeoutMs + SETTLE_MS;
    const hold = { id, specialist: handle, money: worstCost(bytes, settings), expiresAt };
    return store.openHold({ hold, now, known: { caps, halt: halt(handle) } }, decideHold);
  }

  /** The event waits where time or a person ends it; a price that no cap allows is refused. */
  #notHeld(question: Question, verdict: Exclude<HoldVerdict, { readonly kind: "hold" }>, now: number): Waits {
    const message = `a call of the model "${question.call.model}": ${verdict.message}`;
    if (verdict.kind === "refuse") throw new Refused(verdict.code, `${message}; raise that cap, or name a cheaper model`);
    const until = verdict.until ?? now + ASK_AGAIN_MS;
    const name = waitName(question);
    const { handle } = question.member.specialist;
    const before = this.#waits.get(name);
    if (before?.code !== verdict.rule) this.#options.log.warn(message, { handle, until: new Date(until).toISOString() });
    const since = before?.since ?? now;
    if (this.#waits.size >= MAX_WAITS) this.#waits.clear();
    this.#waits.set(name, {
      model: question.call.model,
      handle,
      code: verdict.rule,
      message,
      since,
      until,
    });
    return { suspendedUntil: Math.min(until, now + LONGEST_WAIT_MS), reason: message };
  }

  /** Asks the model no more for a time that grows with each failure. Calls that began before a failure count with it. */
  #rest(
    line: Line,
    startedAt: number,
    { code, message, retryAfterMs }: { readonly code: AnyCode; readonly message: string; readonly retryAfterMs?: number | undefined },
    key: string | undefined,
  ): Waits {
    const now = this.#options.clock.now();
    const { rest } = line;
    const failures = rest === undefined ? 1 : startedAt >= rest.until ? rest.failures + 1 : rest.failures;
    const waitMs = Math.max(backoffMs(REST, failures), Math.min(retryAfterMs ?? 0, LONGEST_REST_MS));
    if (rest?.code !== code) this.#options.log.warn(message, { model: line.settings.name, until: new Date(now + waitMs).toISOString() });
    line.rest = { model: line.settings.name, code, message, since: rest?.since ?? now, until: now + waitMs, failures, key };
    return { suspendedUntil: line.rest.until, reason: message };
  }

  #keyOf({ key }: ModelSettings): string | undefined {
    const value = key === undefined ? undefined : this.#options.readKey(key);
    if (value !== undefined) this.#options.scrubber.add(new Secret(value));
    return value;
  }

  #lineOf(name: string): Line {
    const known = this.#lines.get(name);
    if (known !== undefined) return known;
    const settings = Object.hasOwn(this.#options.settings, name) ? this.#options.settings[name] : undefined;
    if (settings === undefined)
      throw new Misconfigured("model_unknown", `there is no model "${name}" in the settings`, {
        expected: Object.keys(this.#options.settings).join(" or "),
        hint: "add it to models in the config file, and start again",
      });
    const { concurrency, spacingMs } = settings;
    const pace = this.#paces.get(name) ?? { pacer: this.#link.pacer({ concurrency, spacingMs }), underWay: 0 };
    this.#paces.set(name, pace);
    const line: Line = { settings, pace, rest: undefined };
    this.#lines.set(name, line);
    return line;
  }
}

function waitName({ call, member }: Question): string {
  return `${call.model} ${member.specialist.handle}`;
}

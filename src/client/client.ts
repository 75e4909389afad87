/** A network as one function: maps a call in our names to its outcome. Retries and limits are layers around it. */
import { parseBaseAddress } from "../contract/base-address.ts";
import type { Call, Outcome, Secrets } from "../contract/call.ts";
import { parseExactJson } from "../contract/reading/exact-json.ts";
import type { Observation, Pins } from "../contract/reading/pinned-fields.ts";
import type { Profile } from "../contract/profile/profile.ts";
import type { ProfileOperation } from "../contract/profile/network-operations.ts";
import { readRecord } from "../contract/reading/read-answer.ts";
import { handsOutSecrets, isTrade, sentSecret } from "../contract/secrets.ts";
import type { Clock } from "../core/clock.ts";
import { Refused } from "../core/errors.ts";
import { Scrubber } from "../core/scrubber.ts";
import type { Secret } from "../core/secret.ts";
import { outcomeReader, type OutcomeReader } from "./outcome.ts";
import { requestBuilder, type BuiltRequest, type RequestBuilder } from "./build-request.ts";
import type { Transport, WireAnswer, WireHeaders, WireRequest } from "./transport.ts";
import { signatureHeaders } from "./request-signature.ts";

export interface ClientOptions {
  readonly profile: Profile;
  /** The published base address. Throws `Misconfigured` (`base_url_invalid`) on anything else. */
  readonly baseUrl: string;
  readonly transport: Transport;
  readonly clock: Clock;
  /** For one request, from call to last byte. Default: the profile's, 30 s. */
  readonly deadlineMs?: number;
  /** Pins of an operation's earlier answers. Default: none. */
  readonly pins?: (operation: string) => Pins;
  /** Its secrets are taken out of every answer. It learns the key and secrets of each request, and those that answers hand out. Default: a new one. */
  readonly scrubber?: Scrubber;
  /** Called for every answer that differs from earlier ones. */
  readonly onDrift?: (operation: string, observations: readonly Observation[]) => void;
}

export interface SendOptions {
  readonly key: Secret;
  /** Sent with writes, in the header the profile names. The network may ignore it. */
  readonly idempotencyKey?: string | undefined;
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal | undefined;
  /** The result of `check`, so that the request is built once. */
  readonly built?: BuiltRequest | undefined;
  /** Called right before the first byte is written. If it throws, nothing leaves. */
  readonly onLeaving?: (() => void) | undefined;
}

export interface Client {
  readonly profile: Profile;
  /** The request of a call; `me` is the account's own id, if it is known. Throws `Refused` like `send`, without sending. */
  check(call: Call, me?: string): BuiltRequest;
  /**
   * Sends one request. Throws `Refused` before any request: `operation_unknown`, `operation_not_in_set`, `target_missing`,
   * `target_unexpected`, `target_invalid`, `input_unknown`, `input_invalid`, `input_unsupported`, `account_unknown`. Never throws after it.
   */
  send(call: Call, options: SendOptions): Promise<Outcome>;
  /** As `send`, with the answer as it came but for secrets: for the doctor, which looks at parts that the profile cannot read. */
  exchange(call: Call, options: SendOptions): Promise<Exchange>;
}

export interface Exchange {
  readonly outcome: Outcome;
  readonly wire: WireAnswer;
}

interface Prepared {
  readonly operation: ProfileOperation;
  readonly build: RequestBuilder;
  readonly read: OutcomeReader;
  readonly handsOutSecrets: boolean;
  readonly mayRepeat: boolean;
  readonly carrier: { readonly header: string | null; readonly prefix?: string | undefined };
  /** The headers that requests with a body and without one share. */
  readonly withBody: Readonly<Record<string, string>>;
  readonly plain: Readonly<Record<string, string>>;
}

export function createClient(options: ClientOptions): Client {
  const { profile, transport, clock, onDrift, scrubber = new Scrubber() } = options;
  const base = parseBaseAddress(options.baseUrl);
  const deadlineMs = options.deadlineMs ?? profile.timing.deadlineMs;
  const plain = { accept: "application/json", "accept-encoding": "identity", "user-agent": "retinue", ...profile.headers };
  const known = new Map<string, Prepared>();

  const prepare = (name: string): Prepared => {
    const found = known.get(name);
    if (found !== undefined) return found;
    const operation = supported(profile, name);
    const fresh: Prepared = {
      operation,
      build: requestBuilder(profile, operation, base),
      read: outcomeReader(profile, operation, clock, options.pins?.(name)),
      handsOutSecrets: handsOutSecrets(name),
      mayRepeat: operation.effect !== "read",
      carrier: isTrade(name) ? (profile.auth.trade ?? profile.auth) : profile.auth,
      withBody: {
        ...plain,
        "content-type": operation.encoding === "form" ? "application/x-www-form-urlencoded" : "application/json",
      },
      plain,
    };
    known.set(name, fresh);
    return fresh;
  };

  // Both are apart from `exchange`: an async function keeps all its values until it ends.
  const wireOf = (
    prepared: Prepared,
    call: Call,
    { key, idempotencyKey, signal, built, onLeaving, deadlineMs: ownDeadlineMs }: SendOptions,
  ): WireRequest => {
    const { operation, carrier, mayRepeat } = prepared;
    const { path, body } = built ?? prepared.build(call, key);
    const headers: Record<string, string> = { ...(body === undefined ? prepared.plain : prepared.withBody) };
    if (profile.auth.sign !== undefined)
      Object.assign(headers, signatureHeaders(profile.auth.sign, { method: operation.method, path, body }, key, clock.now()));
    if (carrier.header !== null) headers[carrier.header] = (carrier.prefix ?? "") + key.reveal();
    if (idempotencyKey !== undefined && mayRepeat && profile.idempotencyHeader !== null)
      headers[profile.idempotencyHeader] = idempotencyKey;
    const { method } = operation;
    return { method, origin: base.origin, path, headers, deadlineMs: ownDeadlineMs ?? deadlineMs, body, signal, onLeaving };
  };
  const readAnswer = (prepared: Prepared, call: Call, key: Secret, heard: WireAnswer): Exchange => {
    const { operation } = prepared;
    const handedOut = prepared.handsOutSecrets ? secretsIn(heard, profile, operation) : undefined;
    const sent = sentSecret(call);
    scrubber.add(key);
    if (sent !== undefined) scrubber.add(sent);
    if (handedOut !== undefined) for (const secret of Object.values<Secret>({ ...handedOut })) scrubber.add(secret);
    // Records, messages, drift and the doctor's findings all come from the cleaned answer.
    const wire = withoutSecrets(heard, scrubber);
    const { outcome, drift } = prepared.read(wire, call, handedOut);
    if (drift.length > 0) onDrift?.(operation.name, drift);
    return { outcome, wire };
  };

  const client: Client = {
    profile,
    check: (call, me) => prepare(call.operation).build(call, undefined, me),
    send: async (call, sendOptions) => (await client.exchange(call, sendOptions)).outcome,
    async exchange(call, sendOptions) {
      const prepared = prepare(call.operation);
      const heard = await transport(wireOf(prepared, call, sendOptions));
      return readAnswer(prepared, call, sendOptions.key, heard);
    },
  };
  return client;
}

/** Secrets that an answer hands out to us, read before the answer is cleaned of them. */
function secretsIn(answer: WireAnswer, profile: Profile, { record }: ProfileOperation): Secrets | undefined {
  if (answer.kind !== "answer" || answer.status >= 300) return undefined;
  return readRecord(profile, record, parseExactJson(answer.text)).secrets;
}

function withoutSecrets(answer: WireAnswer, scrubber: Scrubber): WireAnswer {
  switch (answer.kind) {
    case "answer": {
      const headers = cleanHeaders(answer.headers, scrubber);
      const text = scrubber.blankJson(answer.text);
      return headers === answer.headers && text === answer.text ? answer : { ...answer, headers, text };
    }
    case "unknown": {
      const { headers, reason, ...rest } = answer;
      return { ...rest, reason: scrubber.blank(reason), ...(headers === undefined ? {} : { headers: cleanHeaders(headers, scrubber) }) };
    }
    case "never-left":
      return { ...answer, reason: scrubber.blank(answer.reason) };
  }
}

function cleanHeaders(headers: WireHeaders, scrubber: Scrubber): WireHeaders {
  for (const name in headers) {
    const value = headers[name];
    if (scrubber.holds(name) || (typeof value === "string" ? scrubber.holds(value) : value !== undefined))
      return cutHeaders(headers, scrubber);
  }
  return headers;
}

function cutHeaders(headers: WireHeaders, scrubber: Scrubber): WireHeaders {
  const json = JSON.stringify(headers);
  const clean = scrubber.blankJson(json);
  return clean === json ? headers : (JSON.parse(clean) as WireHeaders);
}

/** The operation on this network. Throws `Refused` (`operation_unknown`, `operation_not_in_set`). */
export function supported(profile: Profile, name: string): ProfileOperation {
  const operation = profile.operations.get(name);
  if (operation === undefined)
    throw new Refused("operation_unknown", `there is no operation "${name}"`, { hint: "operations are named like posts.reply" });
  if (operation.unsupported !== undefined) throw new Refused("operation_not_in_set", operation.unsupported);
  return operation;
}

/** A network as one function: a call by our names in, what became of it out. No retries, no limits: those wrap it. */
import { parseBaseAddress } from "../contract/base-address.ts";
import type { Call, Outcome } from "../contract/call.ts";
import type { Observation, Pins } from "../contract/reading/pins.ts";
import type { Profile } from "../contract/profile/profile.ts";
import type { ProfileOperation } from "../contract/profile/network-operations.ts";
import type { Clock } from "../core/clock.ts";
import { Refused } from "../core/errors.ts";
import type { Secret } from "../core/secret.ts";
import { outcomeReader, type OutcomeReader } from "./outcome.ts";
import { requestBuilder, type RequestBuilder } from "./build-request.ts";
import type { Transport, WireAnswer, WireRequest } from "./transport.ts";

export interface ClientOptions {
  readonly profile: Profile;
  /** As the network publishes it. Throws `Misconfigured` (`base_url_invalid`) on anything else. */
  readonly baseUrl: string;
  readonly transport: Transport;
  readonly clock: Clock;
  /** For one request, from call to last byte. Default: the profile's, 30 s. */
  readonly deadlineMs?: number;
  /** What earlier answers to an operation settled. Default: nothing. */
  readonly pins?: (operation: string) => Pins;
  /** Told of every answer that departs from what was seen before. */
  readonly onDrift?: (operation: string, observations: readonly Observation[]) => void;
}

export interface SendOptions {
  readonly key: Secret;
  /** Sent with writes, in the header the profile names. The network may ignore it. */
  readonly idempotencyKey?: string;
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
}

export interface Client {
  readonly profile: Profile;
  /** Throws `Refused` as `send` would, without sending. */
  check(call: Call): void;
  /**
   * Sends one request. Throws `Refused` before any request: `operation_unknown`, `operation_not_in_set`, `target_missing`,
   * `target_unexpected`, `target_invalid`, `input_unknown`, `input_invalid`, `input_unsupported`. Never throws after it.
   */
  send(call: Call, options: SendOptions): Promise<Outcome>;
  /** As `send`, with the answer as it came: for the doctor, who looks at what the profile cannot read. */
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
}

export function createClient(options: ClientOptions): Client {
  const { profile, transport, clock, onDrift } = options;
  const base = parseBaseAddress(options.baseUrl);
  const deadlineMs = options.deadlineMs ?? profile.timing.deadlineMs;
  const { header: authHeader, prefix } = profile.auth;
  const plainHeaders = { accept: "application/json", "accept-encoding": "identity", "user-agent": "retinue", ...profile.headers };
  const bodyHeaders = { ...plainHeaders, "content-type": "application/json" };
  const prepared = new Map<string, Prepared>();

  const prepare = (name: string): Prepared => {
    const known = prepared.get(name);
    if (known !== undefined) return known;
    const operation = supported(profile, name);
    const fresh = {
      operation,
      build: requestBuilder(profile, operation, base),
      read: outcomeReader(profile, operation, clock, options.pins?.(name)),
    };
    prepared.set(name, fresh);
    return fresh;
  };

  const client: Client = {
    profile,
    check: (call) => void prepare(call.operation).build(call),
    send: async (call, sendOptions) => (await client.exchange(call, sendOptions)).outcome,
    async exchange(call, { key, idempotencyKey, signal, deadlineMs: ownDeadlineMs }) {
      const { operation, build, read } = prepare(call.operation);
      const { path, body } = build(call);
      const headers: Record<string, string> = { ...(body === undefined ? plainHeaders : bodyHeaders) };
      headers[authHeader] = prefix + key.reveal();
      if (idempotencyKey !== undefined && operation.effect !== "read" && profile.idempotencyHeader !== null)
        headers[profile.idempotencyHeader] = idempotencyKey;
      const request: WireRequest = {
        method: operation.method,
        origin: base.origin,
        path,
        headers,
        deadlineMs: ownDeadlineMs ?? deadlineMs,
        ...(body === undefined ? {} : { body }),
        ...(signal === undefined ? {} : { signal }),
      };
      const wire = await transport(request);
      const { outcome, drift } = read(wire, call);
      if (drift.length > 0) onDrift?.(operation.name, drift);
      return { outcome: withoutKey(outcome, key), wire };
    },
  };
  return client;
}

/** A network that repeats the key in its refusal must not bring it into rows and logs. */
function withoutKey(outcome: Outcome, key: Secret): Outcome {
  if (!("message" in outcome) || outcome.message === undefined) return outcome;
  const value = key.reveal();
  if (!outcome.message.includes(value)) return outcome;
  return { ...outcome, message: outcome.message.replaceAll(value, "[secret]") };
}

/** The operation as this network has it. Throws `Refused` (`operation_unknown`, `operation_not_in_set`). */
export function supported(profile: Profile, name: string): ProfileOperation {
  const operation = profile.operations.get(name);
  if (operation === undefined)
    throw new Refused("operation_unknown", `there is no operation "${name}"`, { hint: "operations are named like posts.reply" });
  if (operation.unsupported !== undefined) throw new Refused("operation_not_in_set", operation.unsupported);
  return operation;
}

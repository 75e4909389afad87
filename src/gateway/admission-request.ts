/** Builds the request for an admission: what a call costs, which rules apply to it, and what the store does not know of it. */
import type { HeldKey } from "../client/auth.ts";
import type { BuiltRequest } from "../client/build-request.ts";
import type { Client } from "../client/client.ts";
import type { Call } from "../contract/call.ts";
import type { Effect, Lane } from "../contract/operations.ts";
import type { ProfileOperation } from "../contract/profile/network-operations.ts";
import type { Profile } from "../contract/profile/profile.ts";
import { payloadHash } from "../limits/approvals.ts";
import type { LedgerTime } from "../limits/ledger-clock.ts";
import { END_OF_TIME, type Cap } from "../limits/spending.ts";
import type { AdmissionRequest } from "../limits/verdict.ts";
import type { Intent } from "../outbox/intent.ts";
import type { Admit } from "../store/admission.ts";
import type { Member } from "./member.ts";
import type { Breakers } from "./network-breakers.ts";
import { mayDo, operationOf, ownLimitsOf } from "./permissions.ts";
import { priceOf } from "./prices.ts";
import type { UnkeptHalts } from "./unkept-halts.ts";

/** One request on its way through the gateway. */
export interface GatewayRequest {
  readonly member: Member;
  readonly call: Call;
  /** The call's request, unless it carries the key. */
  readonly built?: BuiltRequest;
  readonly lane: Lane;
  readonly intent?: Intent;
  /** The event whose handler reads. */
  readonly event?: string | undefined;
  readonly signal?: AbortSignal;
  /** The runtime's own request, which no definition has to permit. */
  readonly own?: boolean;
  /** An examination: it uses another profile, and changes no breaker. */
  readonly examining?: Client;
  readonly probe?: boolean;
  /** A key's exchange for a token: it changes nothing on the network, so a halt lets it through for reads. */
  readonly trade?: boolean;
}

export interface AdmissionSources {
  readonly client: Client;
  /** The clock by which windows age; it never goes back. */
  readonly ledger: LedgerTime;
  readonly breakers: Pick<Breakers, "trust">;
  readonly caps: (member: Member) => readonly Cap[];
  /** Halts that the store does not have. */
  readonly unkeptHalts: UnkeptHalts;
  /** Money held for an action without an outcome counts as spent after this. */
  readonly holdMs: number;
  /** Checks of a job until it is seen to be assigned, as learnt. */
  readonly noticeCalls: () => number;
}

export function effectOf(profile: Profile, { call, trade = false }: GatewayRequest): Effect {
  return trade ? "read" : operationOf(profile, call.operation).effect;
}

export function admitFor(options: AdmissionSources, wanted: GatewayRequest, key: HeldKey): Admit {
  const { member, call, lane, intent, own = false, examining } = wanted;
  const { profile } = examining ?? options.client;
  const { specialist } = member;
  const operation = operationOf(profile, call.operation);
  const known = knownOf(options, member, operation, own || mayDo(profile, specialist.may, operation.name));
  const now = options.ledger.now();
  const request: AdmissionRequest = {
    specialist: specialist.handle,
    key: key.fingerprint,
    operation: call.operation,
    effect: effectOf(profile, wanted),
    lane,
    cost: operation.weight,
    ...(call.operation === "jobs.apply" ? { promises: 1, noticeCalls: options.noticeCalls() } : {}),
    price: priceOf(profile, { tier: specialist.tier, trust: options.breakers.trust.of(specialist.handle) }, operation, call.input),
    ownLimits: ownLimitsOf(profile, call.operation),
    intent: intent?.id,
    payloadHash: intent !== undefined && known.review ? payloadHash(intent) : undefined,
    readyAt: intent?.createdAt,
  };
  return {
    request,
    intent,
    target: call.target,
    now,
    deadlineAt: now + profile.timing.deadlineMs,
    // A stake is held until its job ends.
    holdExpiresAt: operation.returned === undefined ? now + options.holdMs : END_OF_TIME,
    known,
  };
}

function knownOf(
  { caps, unkeptHalts }: AdmissionSources,
  member: Member,
  { name }: ProfileOperation,
  isPermitted: boolean,
): Admit["known"] {
  const { may, review, handle } = member.specialist;
  return { may: isPermitted ? [name] : may, review: review.includes(name), caps: caps(member), halt: unkeptHalts.of(handle) };
}

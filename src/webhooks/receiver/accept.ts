/** Accepts deliveries: each is verified, stored, and only then answered. Without HTTP, so that it can be simulated. */
import { hash } from "node:crypto";
import type { Clock } from "../../core/clock.ts";
import { messageOf } from "../../core/errors.ts";
import { asHandle, type Handle } from "../../core/ids.ts";
import type { Logger } from "../../core/log.ts";
import type { Scrubber } from "../../core/scrubber.ts";
import type { Secret } from "../../core/secret.ts";
import { MINUTE } from "../../core/units.ts";
import {
  DEFAULT_TOLERANCE,
  header,
  utf8,
  verify,
  type RawDelivery,
  type Tolerance,
  type Verdict,
  type WebhookRules,
} from "./signatures.ts";

/** A verified delivery, ready for the store. */
export interface VerifiedDelivery {
  readonly specialist: Handle;
  readonly id: string;
  readonly kind: string | undefined;
  readonly scheme: string;
  readonly body: Uint8Array;
  /** The body as text; undefined if it is no UTF-8. */
  readonly text: string | undefined;
}

export interface GateOptions {
  readonly clock: Clock;
  /** Estimate of the network's clock: senders date by theirs, and ours may be hours off. */
  readonly networkNow?: () => number;
  readonly log: Logger;
  /** Cleans a delivery once its signature has been checked. */
  readonly scrubber: Scrubber;
  readonly rules: WebhookRules;
  /** The secrets for deliveries to a specialist; undefined for an unknown one. */
  readonly secretsOf: (specialist: Handle) => readonly Secret[] | undefined;
  /** Accepts unsigned deliveries if there is no secret: as hints, never as facts. */
  readonly allowUnsigned: boolean;
  readonly tolerance?: Tolerance;
  /** Stores a delivery and starts processing it. Resolves once it is on disk. */
  readonly put: (delivery: VerifiedDelivery) => Promise<"stored" | "known" | "full">;
  /** Called for each delivery that is on disk. */
  readonly onAccepted?: (specialist: Handle) => void;
  /** Called for a report that is not a fact. */
  readonly onHint: (specialist: Handle, hint: GateHint) => void;
}

export interface GateHint {
  readonly kind: string | undefined;
  readonly body: Uint8Array;
  /** True for a signed delivery that repeats earlier bytes, with no signed id to distinguish the two. */
  readonly signed: boolean;
}

export interface GateAnswer {
  readonly status: 200 | 202 | 401 | 404 | 503;
  readonly retryAfterS?: number;
  /** One of our secrets verified the request: a 503 for our own reasons then does not count against its sender. */
  readonly verified: boolean;
}

export interface GateCounts {
  readonly stored: number;
  readonly known: number;
  readonly hints: number;
  readonly full: number;
  readonly failed: number;
  readonly refused: { readonly [why in Extract<Verdict, { readonly ok: false }>["why"]]: number };
  /** Number of deliveries per secret, which shows when an old one is out of use. */
  readonly bySecret: readonly number[];
  readonly byScheme: Readonly<Record<string, number>>;
}

export interface Gate {
  /** Never rejects. */
  accept(specialist: string, delivery: RawDelivery): Promise<GateAnswer>;
  /** Returns true if the specialist exists. */
  knows(specialist: string): boolean;
  counts(): GateCounts;
}

/** Wait requested from a sender when nothing can be stored. */
const COME_BACK_S = 5;
/** Answers to verified deliveries. */
const ANSWERS: { readonly [outcome in "stored" | "known" | "full"]: GateAnswer } = {
  stored: { status: 202, verified: true },
  known: { status: 200, verified: true },
  full: { status: 503, retryAfterS: COME_BACK_S, verified: true },
};
/** Interval between log lines of refusals: a flood of forgeries must not fill the disk. */
const LOG_EVERY_MS = MINUTE;
const MAX_KIND_LENGTH = 100;
/** Longest message of an error that a request caused, whose text may be the sender's. */
const MAX_FAILURE_LENGTH = 200;

export function createGate(options: GateOptions): Gate {
  const { clock, log, rules, scrubber } = options;
  const counts: Counts = { stored: 0, known: 0, hints: 0, full: 0, failed: 0 };
  const refused = { unsigned: 0, mismatch: 0, stale: 0, early: 0 };
  const bySecret: number[] = [];
  const byScheme: Record<string, number> = {};
  let loggedAt = -Infinity;
  let unlogged = 0;

  /** The answer is the same for every failed check. */
  const refuse = (specialist: Handle, why: keyof typeof refused): GateAnswer => {
    refused[why] += 1;
    unlogged += 1;
    const now = clock.monotonic();
    if (now - loggedAt >= LOG_EVERY_MS) {
      log.warn("webhook deliveries were refused", { handle: specialist, why, count: unlogged });
      loggedAt = now;
      unlogged = 0;
    }
    return { status: 401, verified: false };
  };

  const hint = (specialist: Handle, delivery: RawDelivery, kind: string | undefined, verified: boolean): GateAnswer => {
    counts.hints += 1;
    options.onHint(specialist, { kind, body: withoutSecrets(delivery.body, scrubber), signed: false });
    return { status: 202, verified };
  };

  /** An unexpected error; with a handle if a secret had verified the request before it. */
  const fail = (error: unknown, step: "judged" | "stored", handle: string | undefined): GateAnswer => {
    counts.failed += 1;
    const message = messageOf(error).slice(0, MAX_FAILURE_LENGTH);
    log.error(`a webhook delivery could not be ${step}`, handle === undefined ? { message } : { handle, message });
    return { status: 503, retryAfterS: COME_BACK_S, verified: handle !== undefined };
  };

  return {
    knows: (specialist) => options.secretsOf(asHandle(specialist)) !== undefined,
    async accept(name, delivery) {
      let verified = false;
      let step: "judged" | "stored" = "judged";
      try {
        const specialist = asHandle(name);
        const secrets = options.secretsOf(specialist);
        if (secrets === undefined) return { status: 404, verified };
        const word = header(delivery, rules.kindHeaders);
        const kind = word === undefined ? undefined : scrubber.blank(word).slice(0, MAX_KIND_LENGTH);
        if (options.allowUnsigned && (secrets.length === 0 || rules.scheme === "none")) return hint(specialist, delivery, kind, verified);
        const verdict = verdictOn(delivery, secrets, options);
        if (!verdict.ok) return refuse(specialist, verdict.why);
        verified = true;
        bySecret[verdict.secret] = (bySecret[verdict.secret] ?? 0) + 1;
        byScheme[verdict.scheme] = (byScheme[verdict.scheme] ?? 0) + 1;
        if (verdict.scheme === "path") return hint(specialist, delivery, kind, verified);
        const id = scrubber.blank(identityOf(verdict));
        const text = utf8(verdict.covered);
        const body = text !== undefined && !scrubber.holds(text) ? verdict.covered : withoutSecrets(verdict.covered, scrubber);
        step = "stored";
        const known = body === verdict.covered ? text : utf8(body);
        const outcome = await options.put({ specialist, id, kind, scheme: verdict.scheme, body, text: known });
        counts[outcome] += 1;
        if (outcome !== "full") options.onAccepted?.(specialist);
        if (outcome === "known" && verdict.signedId === undefined) options.onHint(specialist, { kind, body, signed: true });
        return ANSWERS[outcome];
      } catch (error) {
        return fail(error, step, verified ? name : undefined);
      }
    },
    counts: () => ({
      ...counts,
      refused: { ...refused },
      bySecret: Array.from({ length: bySecret.length }, (_, place) => bySecret[place] ?? 0),
      byScheme: { ...byScheme },
    }),
  };
}

type Counts = { -readonly [name in "stored" | "known" | "hints" | "full" | "failed"]: GateCounts[name] };

/** The same bytes where they hold no secret. Bytes that are no UTF-8 and hold one lose what is no UTF-8: nobody reads them either way. */
function withoutSecrets(bytes: Uint8Array, scrubber: Scrubber): Uint8Array {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  const clean = scrubber.blankJson(text);
  return clean === text ? bytes : Buffer.from(clean);
}

/** Checks the time by the network's clock and by ours: the estimate of the network's may lag for a moment after this machine slept. */
function verdictOn(delivery: RawDelivery, secrets: readonly Secret[], options: GateOptions): Verdict {
  const { clock, networkNow = () => clock.now(), rules, tolerance = DEFAULT_TOLERANCE } = options;
  const verdict = verify(delivery, rules, secrets, networkNow(), tolerance);
  if (verdict.ok || (verdict.why !== "stale" && verdict.why !== "early")) return verdict;
  return verify(delivery, rules, secrets, clock.now(), tolerance);
}

/** The signed id, else a hash of the signed bytes. An unsigned id is ignored: a replay could carry another one. */
function identityOf({ signedId, covered }: Extract<Verdict, { readonly ok: true }>): string {
  return signedId === undefined ? `sha256:${hash("sha256", covered)}` : `id:${signedId}`;
}

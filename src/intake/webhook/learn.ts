/** Learning how an unknown network signs: records deliveries without acting on them, and says which scheme fits. */
import { createHash } from "node:crypto";
import type { Profile } from "../../contract/profile.ts";
import type { ProfileSource } from "../../contract/profile-source.ts";
import { typeOf } from "../../contract/field-path.ts";
import type { Clock } from "../../core/clock.ts";
import { isObject, parseJson, type Json } from "../../core/json.ts";
import type { Secret } from "../../core/secret.ts";
import { kindOf } from "./mapping.ts";
import type { Doorkeeper } from "./receiver.ts";
import { utf8, verify, type RawDelivery, type SignedScheme, type WebhookRules } from "./schemes.ts";

/** A delivery as it was seen, with what is needed to try schemes on it. */
export interface RecordedDelivery extends RawDelivery {
  readonly at: number;
}

export interface LearntScheme {
  readonly scheme: SignedScheme;
  /** The header, or the member of the body, that carries the signature. */
  readonly signature: string | undefined;
  /** How many of the deliveries it verified. */
  readonly fits: number;
  readonly of: number;
  /** What to write into a profile. */
  readonly profile: Pick<ProfileSource, "extends" | "webhooks">;
}

/** What was seen of one delivery: names, types and hashes, never a value. */
export interface SeenDelivery {
  readonly at: number;
  readonly kind: string | undefined;
  readonly bytes: number;
  readonly sha256: string;
  readonly headers: readonly string[];
  /** `data.author.id: string` */
  readonly shape: readonly string[];
}

const TRIED: readonly SignedScheme[] = ["standard", "stripe", "header", "body", "path"];
const MAX_SIGNATURE_HEADERS = 20;
const MAX_RECORDED = 100;
const MAX_SHAPE = 200;
const MAX_DEPTH = 6;

/** The scheme under which the secret fits most of the recorded deliveries; undefined where it fits none. */
export function learnScheme(recorded: readonly RecordedDelivery[], secret: Secret, profile: Profile): LearntScheme | undefined {
  let best: LearntScheme | undefined;
  for (const { scheme, rules, signature } of candidates(recorded, profile)) {
    const fits = recorded.filter((delivery) => verify(delivery, rules, [secret], delivery.at).ok).length;
    if (fits > (best?.fits ?? 0)) best = { scheme, signature, fits, of: recorded.length, profile: written(scheme, signature, profile) };
  }
  return best;
}

/** Known names first, then every header that could hold a signature. */
function candidates(recorded: readonly RecordedDelivery[], { webhooks }: Profile) {
  const seen = [...new Set(recorded.flatMap(({ headers }) => Object.keys(headers)))];
  const known = webhooks.signature.filter((name) => seen.includes(name));
  const others = seen.filter((name) => !known.includes(name) && recorded.some(({ headers }) => couldSign(headers[name])));
  const members = [...new Set(recorded.flatMap(({ body }) => signingMembers(body)))];
  return TRIED.flatMap((scheme): { scheme: SignedScheme; rules: WebhookRules; signature: string | undefined }[] => {
    if (scheme === "path") return [{ scheme, rules: { ...webhooks, scheme }, signature: undefined }];
    const names = scheme === "body" ? members : [...known, ...others].slice(0, MAX_SIGNATURE_HEADERS);
    return names.map((signature) => {
      const named = scheme === "body" ? { signatureFields: [signature] } : { signature: [signature] };
      return { scheme, rules: { ...webhooks, scheme, ...named }, signature };
    });
  });
}

function couldSign(value: string | readonly string[] | undefined): boolean {
  return typeof value === "string" && /[0-9a-f]{64}|[A-Za-z0-9+/]{43}=/i.test(value);
}

function signingMembers(body: Uint8Array): readonly string[] {
  const parsed = parseJson(utf8(body) ?? "");
  return isObject(parsed)
    ? Object.keys(parsed).filter((name) => couldSign(typeof parsed[name] === "string" ? parsed[name] : undefined))
    : [];
}

function written(scheme: SignedScheme, signature: string | undefined, profile: Profile): LearntScheme["profile"] {
  const named = signature === undefined ? {} : scheme === "body" ? { signatureFields: signature } : { signature };
  return { extends: profile.set === "a" ? "set-a" : "set-b", webhooks: { scheme, ...named } };
}

export interface DeliveryRecorder {
  /** Keeps what came; the oldest go first. */
  record(delivery: RecordedDelivery): void;
  recorded(): readonly RecordedDelivery[];
  /** What may be shown and logged. */
  seen(profile: Profile): readonly SeenDelivery[];
}

/** Takes deliveries and acts on none. */
export function createRecorder(): DeliveryRecorder {
  const kept: RecordedDelivery[] = [];
  return {
    record(delivery) {
      kept.push(delivery);
      if (kept.length > MAX_RECORDED) kept.shift();
    },
    recorded: () => [...kept],
    seen: (profile) => kept.map((delivery) => seenDelivery(delivery, profile)),
  };
}

/** Lets every delivery in, to be recorded and nothing else. For `createReceiver`. */
export function recordingGate(recorder: DeliveryRecorder, clock: Clock): Doorkeeper {
  return {
    knows: () => true,
    async accept(_specialist, delivery) {
      recorder.record({ ...delivery, at: clock.now() });
      return { status: 202 };
    },
  };
}

function seenDelivery({ at, headers, body }: RecordedDelivery, { webhooks }: Profile): SeenDelivery {
  const parsed = parseJson(utf8(body) ?? "");
  return {
    at,
    kind: isObject(parsed) ? kindOf(parsed, webhooks) : undefined,
    bytes: body.byteLength,
    sha256: createHash("sha256").update(body).digest("hex"),
    headers: Object.keys(headers),
    shape: shapeOf(parsed).slice(0, MAX_SHAPE),
  };
}

function shapeOf(value: Json | undefined, path = "", depth = 0): readonly string[] {
  if (isObject(value) && depth < MAX_DEPTH)
    return Object.entries(value).flatMap(([name, item]) => shapeOf(item, path === "" ? name : `${path}.${name}`, depth + 1));
  return [`${path === "" ? "$" : path}: ${typeOf(value)}`];
}

/** Learning how an unknown network signs: records deliveries without acting on them, and says which scheme fits. */
import { createHash } from "node:crypto";
import type { Profile } from "../contract/profile/profile.ts";
import type { ProfileSource } from "../contract/profile/source.ts";
import { typeOf } from "../contract/reading/field-path.ts";
import type { Clock } from "../core/clock.ts";
import { isObject, parseJson, type Json } from "../core/json.ts";
import type { Scrubber } from "../core/scrubber.ts";
import type { Secret } from "../core/secret.ts";
import { kindOf } from "../webhooks/interpret.ts";
import type { SenderCheck } from "../webhooks/receiver/http.ts";
import {
  header,
  MAX_SIGNATURE_LENGTH,
  utf8,
  verify,
  type RawDelivery,
  type SignedScheme,
  type Tolerance,
  type WebhookRules,
} from "../webhooks/receiver/signatures.ts";

/** A delivery as it was seen, with what is needed to try schemes on it. */
export interface RecordedDelivery extends RawDelivery {
  /** For whom it was, by its address. */
  readonly specialist: string;
  readonly at: number;
}

export interface LearntScheme {
  readonly scheme: SignedScheme;
  /** The header, or the member of the body, that carries the signature. */
  readonly signature: string | undefined;
  /** How many of the deliveries it verified, by secret and content. */
  readonly fits: number;
  /** How many of those were also sent at a time that is accepted: fewer says that clocks differ. */
  readonly timely: number;
  readonly of: number;
  /** How many of them each secret verified, by its place. */
  readonly bySecret: readonly number[];
  /** What to write into a profile. */
  readonly profile: { readonly extends: ProfileSource["extends"]; readonly webhooks: NonNullable<ProfileSource["webhooks"]> };
}

/** What was seen of one delivery: names, types and hashes, never a value. */
export interface SeenDelivery {
  readonly at: number;
  readonly kind: string | undefined;
  readonly bytes: number;
  readonly sha256: string;
  readonly headers: readonly string[];
  /** Headers and members of the body that could hold a signature. */
  readonly maybeSigned: readonly string[];
  /** `data.author.id: string` */
  readonly shape: readonly string[];
}

const TRIED: readonly SignedScheme[] = ["standard", "stripe", "header", "body", "path"];
const MAX_SIGNATURE_HEADERS = 20;
/** Headers tried as the one that holds the time, or the id. */
const MAX_OTHERS = 4;
const MAX_RECORDED = 100;
/** Of all bodies kept: each is tried with each scheme, and whoever sends them may be anybody. */
const MAX_RECORDED_BYTES = 4 * 1_024 * 1_024;
const MAX_SHAPE = 200;
/** Members of a body tried as the one that holds the signature; those of the profile, then what most deliveries have. */
const MAX_SIGNATURE_MEMBERS = 8;
/** Of a name that somebody we do not know has chosen. */
const MAX_NAME_LENGTH = 100;
const MAX_KIND_LENGTH = 100;
const MAX_DEPTH = 6;
const WHENEVER: Tolerance = { pastMs: Infinity, futureMs: Infinity };

type Named = Partial<Pick<WebhookRules, "signature" | "signatureFields" | "timestampHeaders" | "deliveryIdHeaders">>;
interface Candidate {
  readonly scheme: SignedScheme;
  readonly signature: string | undefined;
  /** Where its marks are. */
  readonly named: Named;
}

/** Every scheme under which a secret fits some of the recorded deliveries, the one that fits most first. */
export function learnSchemes(
  recorded: readonly RecordedDelivery[],
  secretsOf: (specialist: string) => readonly Secret[],
  profile: Profile,
): readonly LearntScheme[] {
  const found = candidates(recorded, profile).flatMap(({ scheme, signature, named }): LearntScheme[] => {
    const rules: WebhookRules = { ...profile.webhooks, scheme, ...named };
    const bySecret: number[] = [];
    let fits = 0;
    let timely = 0;
    for (const delivery of recorded) {
      const secrets = secretsOf(delivery.specialist);
      const verdict = verify(delivery, rules, secrets, delivery.at, WHENEVER);
      if (!verdict.ok) continue;
      fits += 1;
      bySecret[verdict.secret] = (bySecret[verdict.secret] ?? 0) + 1;
      if (verify(delivery, rules, secrets, delivery.at).ok) timely += 1;
    }
    if (fits === 0) return [];
    const counts = Array.from({ length: bySecret.length }, (_, place) => bySecret[place] ?? 0);
    return [{ scheme, signature, fits, timely, of: recorded.length, bySecret: counts, profile: written(scheme, named, profile) }];
  });
  const best = found.filter(
    (one, i) => found.findIndex(({ scheme, signature }) => scheme === one.scheme && signature === one.signature) === i,
  );
  return best.toSorted((a, b) => b.fits - a.fits);
}

/** Known names first, then every header that could hold a signature, a time or an id. */
function candidates(recorded: readonly RecordedDelivery[], { webhooks }: Profile): readonly Candidate[] {
  const seen = [...new Set(recorded.flatMap(({ headers }) => Object.keys(headers)))];
  const ordered = (known: readonly string[], could: (value: Value, name: string) => boolean): readonly string[] => {
    const present = known.filter((name) => seen.includes(name));
    return [...present, ...seen.filter((name) => !present.includes(name) && recorded.some(({ headers }) => could(headers[name], name)))];
  };
  const signatures = ordered(webhooks.signature, couldSign).slice(0, MAX_SIGNATURE_HEADERS);
  const times = ordered(webhooks.timestampHeaders, couldTell).slice(0, MAX_OTHERS);
  const ids = ordered(webhooks.deliveryIdHeaders, couldName).slice(0, MAX_OTHERS);
  const members = commonest(recorded.flatMap(({ body }) => signingMembers(body, webhooks)));
  return TRIED.flatMap((scheme): readonly Candidate[] => {
    switch (scheme) {
      case "path":
        return [{ scheme, signature: undefined, named: {} }];
      case "body":
        return members.map((signature) => ({ scheme, signature, named: { signatureFields: [signature] } }));
      case "stripe":
        return signatures.map((signature) => ({ scheme, signature, named: { signature: [signature] } }));
      case "header":
        return signatures.flatMap((signature) =>
          [[], ...times.map((time) => [time])].map((timestampHeaders) => ({
            scheme,
            signature,
            named: { signature: [signature], ...(timestampHeaders.length === 0 ? {} : { timestampHeaders }) },
          })),
        );
      case "standard":
        return signatures.flatMap((signature) =>
          times.flatMap((time) =>
            ids.map((id) => ({
              scheme,
              signature,
              named: { signature: [signature], timestampHeaders: [time], deliveryIdHeaders: [id] },
            })),
          ),
        );
    }
  });
}

type Value = string | readonly string[] | undefined;

function couldSign(value: Value): boolean {
  return typeof value === "string" && /[0-9a-f]{64}|[A-Za-z0-9+/]{43}=/i.test(value);
}

function couldTell(value: Value): boolean {
  return typeof value === "string" && /^\d{9,11}$/.test(value);
}

function couldName(value: Value, name: string): boolean {
  return typeof value === "string" && value !== "" && /(?:^|[-_])(?:id|delivery|uuid)$/.test(name);
}

/** Those of the profile first. */
function signingMembers(body: Uint8Array, { signatureFields }: WebhookRules): readonly string[] {
  const parsed = parseJson(utf8(body) ?? "");
  if (!isObject(parsed)) return [];
  const could = (name: string): boolean => {
    const value = Object.hasOwn(parsed, name) ? parsed[name] : undefined;
    return typeof value === "string" && value.length <= MAX_SIGNATURE_LENGTH && couldSign(value);
  };
  const others = Object.keys(parsed).filter((name) => /^[^\s.$]{1,100}$/.test(name) && !signatureFields.includes(name));
  return [...signatureFields, ...others].filter(could).slice(0, MAX_SIGNATURE_MEMBERS);
}

function commonest(names: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  const byCount = [...counts].toSorted(([, a], [, b]) => b - a);
  return byCount.slice(0, MAX_SIGNATURE_MEMBERS).map(([name]) => name);
}

function short(name: string): string {
  return name.length > MAX_NAME_LENGTH ? `${name.slice(0, MAX_NAME_LENGTH)}…` : name;
}

/** Names that the profile has anyway are not repeated, but for the signature's own. */
function written(scheme: SignedScheme, named: Named, { set, webhooks }: Profile): LearntScheme["profile"] {
  const news = Object.entries(named).filter(
    ([field, [name = ""]]) =>
      field === "signature" || field === "signatureFields" || !webhooks[field as "timestampHeaders" | "deliveryIdHeaders"].includes(name),
  );
  return {
    extends: set === "a" ? "set-a" : "set-b",
    webhooks: { scheme, ...Object.fromEntries(news.map(([field, [name = ""]]) => [field, name])) },
  };
}

export interface DeliveryRecorder {
  /** Keeps what came; the oldest go first. */
  record(delivery: RecordedDelivery): void;
  /** How many came, kept or not. */
  readonly count: number;
  recorded(): readonly RecordedDelivery[];
  /** What may be shown and logged. */
  seen(profile: Profile, scrubber: Scrubber): readonly SeenDelivery[];
}

/** Takes deliveries and acts on none. */
export function createRecorder(): DeliveryRecorder {
  const kept: RecordedDelivery[] = [];
  let bytes = 0;
  let count = 0;
  return {
    get count() {
      return count;
    },
    record(delivery) {
      count += 1;
      kept.push(delivery);
      bytes += delivery.body.byteLength;
      while (kept.length > MAX_RECORDED || bytes > MAX_RECORDED_BYTES) bytes -= kept.shift()?.body.byteLength ?? 0;
    },
    recorded: () => [...kept],
    seen: (profile, scrubber) => kept.map((delivery) => seenDelivery(delivery, profile, scrubber)),
  };
}

/** Lets every delivery in, to be recorded and nothing else. For `createReceiver`. */
export function recordingGate(
  recorder: DeliveryRecorder,
  clock: Clock,
  onRecorded: (delivery: RecordedDelivery) => void = () => undefined,
): SenderCheck {
  return {
    knows: () => true,
    async accept(specialist, delivery) {
      const recorded = { ...delivery, specialist, at: clock.now() };
      recorder.record(recorded);
      onRecorded(recorded);
      return { status: 202, verified: false };
    },
  };
}

/** The part of a delivery that may be shown and logged. A sender chooses the names in it, and may choose a secret. */
export function seenDelivery({ at, headers, body }: RecordedDelivery, { webhooks }: Profile, scrubber: Scrubber): SeenDelivery {
  const parsed = parseJson(utf8(body) ?? "");
  const seen: SeenDelivery = {
    at,
    kind: (isObject(parsed) ? kindOf(parsed, webhooks) : undefined) ?? header({ headers }, webhooks.kindHeaders),
    bytes: body.byteLength,
    sha256: createHash("sha256").update(body).digest("hex"),
    headers: Object.keys(headers).map(short),
    maybeSigned: [
      ...Object.keys(headers)
        .filter((name) => couldSign(headers[name]))
        .map(short),
      ...signingMembers(body, webhooks).map((name) => `body: ${name}`),
    ],
    shape: shapeOf(parsed),
  };
  const clean = JSON.parse(scrubber.cleanJson(JSON.stringify(seen))) as SeenDelivery; // plain JSON
  return { ...clean, kind: clean.kind?.slice(0, MAX_KIND_LENGTH) };
}

function shapeOf(value: Json | undefined): readonly string[] {
  const shape: string[] = [];
  const visit = (inner: Json | undefined, path: string, depth: number): void => {
    if (shape.length >= MAX_SHAPE) return;
    if (!isObject(inner) || depth >= MAX_DEPTH) return void shape.push(`${path === "" ? "$" : path}: ${typeOf(inner)}`);
    for (const [name, item] of Object.entries(inner)) visit(item, path === "" ? short(name) : `${path}.${short(name)}`, depth + 1);
  };
  visit(value, "", 0);
  return shape;
}

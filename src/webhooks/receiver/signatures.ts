/** How deliveries are signed: checks a raw delivery against every scheme a profile allows. Pure, constant time. */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { Profile } from "../../contract/profile/profile.ts";
import { fieldPath, valueAt } from "../../contract/reading/field-path.ts";
import { isObject, parseJson } from "../../core/json.ts";
import type { Secret } from "../../core/secret.ts";
import { SECOND } from "../../core/units.ts";
import { coveredTexts } from "./covered.ts";

export type WebhookRules = Profile["webhooks"];
export type SignedScheme = "standard" | "header" | "stripe" | "body" | "path";

/** A delivery as it came over the wire; nothing of it is believed yet. */
export interface RawDelivery {
  /** Lower-case names. */
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined };
  readonly body: Uint8Array;
  /** What followed the specialist's name in the path. */
  readonly token?: string;
}

export interface Tolerance {
  /** How old the moment of sending may be, in ms, where it is signed. Default 300 s. */
  readonly pastMs: number;
  /** How far ahead it may be. Default 60 s: a stamp from the future can be replayed until long after it. */
  readonly futureMs: number;
}

export const DEFAULT_TOLERANCE: Tolerance = { pastMs: 300 * SECOND, futureMs: 60 * SECOND };

export type Verdict =
  | {
      readonly ok: true;
      readonly scheme: SignedScheme;
      /** Which of the secrets matched, from 0. */
      readonly secret: number;
      /** The bytes the signature vouches for, without the signature itself. Empty for `path`, which vouches for nothing. */
      readonly covered: Uint8Array;
      /** The delivery's id, where the signature covers it. */
      readonly signedId?: string;
    }
  | { readonly ok: false; readonly why: "unsigned" | "mismatch" | "stale" | "early" };

/** More than these are not looked at, so that no request costs more than a few hashes of its body. */
const MAX_SECRETS = 8;
const MAX_SIGNATURES = 8;
/** A shorter key is no key: `whsec_` with nothing behind it must not verify an empty-key HMAC. */
const MIN_DECODED_KEY_BYTES = 16;
const MAX_ID_LENGTH = 512;
/** A longer text is no signature, whatever it is called: nothing is done with it. */
export const MAX_SIGNATURE_LENGTH = 512;

const SCHEMES: { readonly [scheme in SignedScheme]: (check: Check) => Verdict | undefined } = {
  standard: standardWebhooks,
  stripe: stripeStyle,
  header: headerStyle,
  body: bodyStyle,
  path: pathStyle,
};
const AUTO: readonly SignedScheme[] = ["standard", "stripe", "header", "body"];
/** The same, beginning with each of them. */
const LIKELY_FIRST = new Map(AUTO.map((first) => [first, [first, ...AUTO.filter((name) => name !== first)]]));

interface Check {
  readonly delivery: RawDelivery;
  readonly rules: WebhookRules;
  readonly secrets: readonly Secret[];
  readonly now: number;
  readonly tolerance: Tolerance;
}

/**
 * Whether one of the secrets vouches for the delivery, by the profile's scheme or, with `auto`, by any scheme whose marks
 * it carries. A signature of one fits under another only over the whole text that was hashed: `<seconds>.{…}`, which is no JSON
 * object, so that nothing in it is acted on; or, beside the body or in it, the very same JSON. `likely` is tried first.
 */
export function verify(
  delivery: RawDelivery,
  rules: WebhookRules,
  secrets: readonly Secret[],
  now: number,
  tolerance: Tolerance = DEFAULT_TOLERANCE,
  likely?: SignedScheme,
): Verdict {
  const { scheme } = rules;
  const tried = scheme === "auto" ? (LIKELY_FIRST.get(likely ?? "standard") ?? AUTO) : scheme === "none" ? [] : [scheme];
  const check: Check = { delivery, rules, secrets: secrets.slice(0, MAX_SECRETS), now, tolerance };
  let refusal: Extract<Verdict, { readonly ok: false }> = { ok: false, why: "unsigned" };
  for (const name of tried) {
    const verdict = SCHEMES[name](check);
    if (verdict?.ok === true) return verdict;
    // Out of time says more than "does not match", and that more than "carries no signature".
    if (verdict !== undefined && refusal.why !== "stale" && refusal.why !== "early") refusal = verdict;
  }
  return refusal;
}

/** Standard Webhooks v1: `id.timestamp.body`, base64, several signatures apart by spaces, a `whsec_` secret in base64. */
function standardWebhooks(check: Check): Verdict | undefined {
  const { delivery, rules } = check;
  const id = header(delivery, rules.deliveryIdHeaders);
  const seconds = header(delivery, rules.timestampHeaders);
  const signatures = headersNamed(delivery, rules.signature).flatMap((value) =>
    value.split(/[\s]+/).flatMap((part) => (part.startsWith("v1,") ? [part.slice(3).replace(/,$/, "")] : [])),
  );
  if (id === undefined || seconds === undefined || signatures.length === 0 || id.length > MAX_ID_LENGTH) return undefined;
  const prefix = `${id}.${seconds}.`;
  const secret = matching(check, standardKeys, signatures, "base64", prefix);
  if (secret === undefined) return { ok: false, why: "mismatch" };
  return timely(check, seconds) ?? { ok: true, scheme: "standard", secret, covered: delivery.body, signedId: id };
}

/** `t=<seconds>,v1=<hex>` over `timestamp.body`. */
function stripeStyle(check: Check): Verdict | undefined {
  const { delivery, rules } = check;
  for (const value of headersNamed(delivery, rules.signature)) {
    const parts = value.split(",").map((part) => part.trim());
    const seconds = parts.find((part) => part.startsWith("t="))?.slice(2);
    const signatures = parts.flatMap((part) => (part.startsWith("v1=") ? [part.slice(3)] : []));
    if (seconds === undefined || signatures.length === 0) continue;
    const secret = matching(check, plainKeys, signatures, "hex", `${seconds}.`);
    if (secret === undefined) return { ok: false, why: "mismatch" };
    return timely(check, seconds) ?? { ok: true, scheme: "stripe", secret, covered: delivery.body };
  }
  return undefined;
}

/** An HMAC of the raw body in a header, hex or base64, with or without `sha256=`; or of `timestamp.body`, where a header tells the time. */
function headerStyle(check: Check): Verdict | undefined {
  const { delivery, rules } = check;
  const signatures = headersNamed(delivery, rules.signature).flatMap((value) =>
    value.split(/[,\s]+/).flatMap((part) => (part === "" ? [] : [bare(part, rules)])),
  );
  if (signatures.length === 0) return undefined;
  const secret = matching(check, plainKeys, signatures, "either", "");
  if (secret !== undefined) return { ok: true, scheme: "header", secret, covered: delivery.body };
  const seconds = header(delivery, rules.timestampHeaders);
  if (seconds !== undefined) {
    for (const prefix of [`${seconds}.`, `v0:${seconds}:`]) {
      const timed = matching(check, plainKeys, signatures, "either", prefix);
      if (timed !== undefined) return timely(check, seconds) ?? { ok: true, scheme: "header", secret: timed, covered: delivery.body };
    }
  }
  return { ok: false, why: "mismatch" };
}

/**
 * The signature is a member of the body, and covers the body without it: the text with the member cut out, or written
 * anew compactly, or with sorted keys. What is acted on is exactly the text that was covered.
 */
function bodyStyle(check: Check): Verdict | undefined {
  const { delivery, rules } = check;
  const text = utf8(delivery.body);
  const parsed = text === undefined ? undefined : parseJson(text);
  if (text === undefined || !isObject(parsed)) return undefined;
  for (const name of rules.signatureFields) {
    const path = fieldPath(name);
    const signature = valueAt(parsed, path);
    const [member] = path.segments;
    if (typeof signature !== "string" || signature === "" || member === undefined || path.segments.length !== 1) continue;
    const claimed = signature.length > MAX_SIGNATURE_LENGTH ? "" : bare(signature, rules);
    if (decode(claimed, "either").length === 0) return { ok: false, why: "mismatch" };
    for (const covered of coveredTexts(text, parsed, member, signature)) {
      const bytes = Buffer.from(covered);
      const secret = matching({ ...check, delivery: { ...delivery, body: bytes } }, plainKeys, [claimed], "either", "");
      if (secret !== undefined) return { ok: true, scheme: "body", secret, covered: bytes };
    }
    return { ok: false, why: "mismatch" };
  }
  return undefined;
}

/** The secret is the last part of the address: it says that the sender knows it, and nothing of the content. */
function pathStyle({ delivery, secrets }: Check): Verdict | undefined {
  const { token } = delivery;
  if (token === undefined || token === "") return undefined;
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  const given = digest(token);
  const secret = secrets.map((one) => timingSafeEqual(digest(one.reveal()), given)).indexOf(true);
  return secret < 0 ? { ok: false, why: "mismatch" } : { ok: true, scheme: "path", secret, covered: new Uint8Array() };
}

function timely({ now, tolerance }: Check, seconds: string): Verdict | undefined {
  if (!/^\d{1,12}$/.test(seconds)) return { ok: false, why: "stale" };
  const sentAt = Number(seconds) * SECOND;
  if (sentAt < now - tolerance.pastMs) return { ok: false, why: "stale" };
  return sentAt > now + tolerance.futureMs ? { ok: false, why: "early" } : undefined;
}

/** The first secret one of whose keys made one of the signatures over `prefix` and the body. */
function matching(
  { delivery, secrets }: Check,
  keysOf: (secret: string) => readonly (string | Buffer)[],
  signatures: readonly string[],
  encoding: "hex" | "base64" | "either",
  prefix: string,
): number | undefined {
  const claimed = signatures.slice(0, MAX_SIGNATURES).flatMap((signature) => decode(signature, encoding));
  if (claimed.length === 0) return undefined;
  for (const [index, secret] of secrets.entries()) {
    for (const key of keysOf(secret.reveal())) {
      const hmac = createHmac("sha256", key);
      if (prefix !== "") hmac.update(prefix);
      const expected = hmac.update(delivery.body).digest();
      if (claimed.map((one) => timingSafeEqual(one, expected)).includes(true)) return index;
    }
  }
  return undefined;
}

function plainKeys(secret: string): readonly string[] {
  return secret === "" ? [] : [secret];
}

/** The key is what `whsec_` is followed by, in base64; some senders take the text as it is. */
export function standardKeys(secret: string): readonly (string | Buffer)[] {
  const encoded = secret.startsWith("whsec_") ? secret.slice(6) : secret;
  const decoded = /^[A-Za-z0-9+/_-]+={0,2}$/.test(encoded) ? Buffer.from(encoded, "base64") : Buffer.alloc(0);
  return [...(decoded.length >= MIN_DECODED_KEY_BYTES ? [decoded] : []), ...plainKeys(secret)];
}

const DIGEST_BYTES = 32;

function decode(signature: string, encoding: "hex" | "base64" | "either"): readonly Buffer[] {
  if (encoding !== "base64" && /^[0-9a-f]{64}$/i.test(signature)) return [Buffer.from(signature, "hex")];
  if (encoding === "hex" || !/^[A-Za-z0-9+/]{43}=?$/.test(signature)) return [];
  const bytes = Buffer.from(signature, "base64");
  return bytes.length === DIGEST_BYTES ? [bytes] : [];
}

function bare(signature: string, { signaturePrefix }: WebhookRules): string {
  for (const prefix of [signaturePrefix, "sha256=", "v0=", "v1="])
    if (prefix !== "" && signature.startsWith(prefix)) return signature.slice(prefix.length);
  return signature;
}

const STRICT_UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function utf8(bytes: Uint8Array): string | undefined {
  try {
    return STRICT_UTF8.decode(bytes);
  } catch {
    return undefined; // "no text" is an answer here, and the caller must handle it
  }
}

/** The first header there is, as sent; one that came twice is joined and will fit nothing. */
export function header({ headers }: Pick<RawDelivery, "headers">, names: readonly string[]): string | undefined {
  return headersNamed({ headers }, names)[0];
}

function headersNamed({ headers }: Pick<RawDelivery, "headers">, names: readonly string[]): readonly string[] {
  return names.flatMap((name) => {
    const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
    return value === undefined || value === "" ? [] : [typeof value === "string" ? value : value.join(",")];
  });
}

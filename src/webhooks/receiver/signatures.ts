/** Verifies a raw delivery against every scheme that a profile allows. Pure, constant time. */
import { hash, timingSafeEqual } from "node:crypto";
import type { Profile } from "../../contract/profile/profile.ts";
import { fieldPath, valueAt } from "../../contract/reading/field-path.ts";
import { isObject, parseJson } from "../../core/json.ts";
import type { Secret } from "../../core/secret.ts";
import { SECOND } from "../../core/units.ts";
import { hmacOf, longHmacOf } from "./hmac.ts";
import { coveredTexts } from "./signed-texts.ts";

export type WebhookRules = Profile["webhooks"];
export type SignedScheme = "standard" | "header" | "stripe" | "body" | "path";

/** A delivery as received; nothing of it is trusted yet. */
export interface RawDelivery {
  /** Keys in lower case. */
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined };
  readonly body: Uint8Array;
  /** The part of the path after the specialist's name. */
  readonly token?: string;
}

export interface Tolerance {
  /** Greatest age of a signed time, in ms. Default 300 s. */
  readonly pastMs: number;
  /** Greatest lead of a signed time, in ms. Default 60 s: a stamp from the future can be replayed until long after it. */
  readonly futureMs: number;
}

export const DEFAULT_TOLERANCE: Tolerance = { pastMs: 300 * SECOND, futureMs: 60 * SECOND };

export type Verdict =
  | {
      readonly ok: true;
      readonly scheme: SignedScheme;
      /** Index of the matching secret, from 0. */
      readonly secret: number;
      /** The signed bytes, without the signature itself. Empty for `path`, which signs nothing. */
      readonly covered: Uint8Array;
      /** The delivery's id, if it is signed. */
      readonly signedId?: string;
    }
  | { readonly ok: false; readonly why: "unsigned" | "mismatch" | "stale" | "early" };

/** Most secrets that are tried, so that no request costs more than a few hashes of its body. */
const MAX_SECRETS = 8;
const MAX_SIGNATURES = 8;
/** A shorter key is rejected: `whsec_` with nothing behind it must not verify an empty-key HMAC. */
const MIN_DECODED_KEY_BYTES = 16;
const MAX_ID_LENGTH = 512;
/** A longer text is not a signature, whatever its name, and is ignored. */
export const MAX_SIGNATURE_LENGTH = 512;

const SCHEMES: { readonly [scheme in SignedScheme]: (check: Check) => Verdict | undefined } = {
  standard: standardWebhooks,
  stripe: stripeStyle,
  header: headerStyle,
  body: bodyStyle,
  path: pathStyle,
};
const AUTO: readonly SignedScheme[] = ["standard", "stripe", "header", "body"];

interface Check {
  readonly delivery: RawDelivery;
  readonly rules: WebhookRules;
  readonly secrets: readonly Secret[];
  /** The headers that may hold signatures, as sent. */
  readonly signatures: readonly string[];
  readonly now: number;
  readonly tolerance: Tolerance;
}

/**
 * Checks if one of the secrets signed the delivery, by the profile's scheme or, with `auto`, by any scheme whose marks it carries. A
 * signature of one scheme fits another only over the whole hashed text: `<seconds>.{…}`, which is not a JSON object and is therefore never
 * acted on; or, beside the body or in it, the very same JSON.
 */
export function verify(
  delivery: RawDelivery,
  rules: WebhookRules,
  secrets: readonly Secret[],
  now: number,
  tolerance: Tolerance = DEFAULT_TOLERANCE,
): Verdict {
  const { scheme } = rules;
  const plain = scheme === "auto" || scheme === "header" ? plainHeader(delivery, rules, secrets) : undefined;
  if (plain !== undefined) return plain;
  const tried = scheme === "auto" ? AUTO : scheme === "none" ? [] : [scheme];
  const signatures = headersNamed(delivery, rules.signature);
  const check: Check = { delivery, rules, secrets: secrets.slice(0, MAX_SECRETS), signatures, now, tolerance };
  let refusal: Extract<Verdict, { readonly ok: false }> = { ok: false, why: "unsigned" };
  for (const name of tried) {
    const verdict = SCHEMES[name](check);
    if (verdict?.ok === true) return verdict;
    // "Out of time" is more specific than "does not match", and that than "carries no signature".
    if (verdict !== undefined && refusal.why !== "stale" && refusal.why !== "early") refusal = verdict;
  }
  return refusal;
}

/** The most usual form: one digest in hex over the body, with or without `sha256=`. */
const PLAIN_DIGEST = /^(?:sha256=)?([0-9a-f]{64})$/;
/** Marks of the schemes that are tried before it. */
const OTHER_MARK = "v1";

/** Accepts what `verify` would accept in the end by the scheme `header`, without a list of anything. Undefined: every scheme is tried. */
function plainHeader({ headers, body }: RawDelivery, rules: WebhookRules, secrets: readonly Secret[]): Verdict | undefined {
  let claimed: string | undefined;
  for (const name of rules.signature) {
    const value = headerOf(headers, name);
    if (value === "") continue;
    if (value.includes(OTHER_MARK)) return undefined;
    claimed ??= PLAIN_DIGEST.exec(value)?.[1];
  }
  if (claimed === undefined) return undefined;
  for (let secret = 0; secret < secrets.length && secret < MAX_SECRETS; secret++) {
    const key = secrets[secret];
    if (key !== undefined && key.reveal() !== "" && isDigest(claimed, hmacOf(key, body)))
      return { ok: true, scheme: "header", secret, covered: body };
  }
  return undefined;
}

/** Standard Webhooks v1: `id.timestamp.body`, base64, several signatures separated by spaces, a `whsec_` secret in base64. */
function standardWebhooks(check: Check): Verdict | undefined {
  const { delivery, rules } = check;
  if (!check.signatures.some((value) => value.includes("v1,"))) return undefined;
  const id = header(delivery, rules.deliveryIdHeaders);
  const seconds = header(delivery, rules.timestampHeaders);
  const signatures = check.signatures.flatMap((value) =>
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
  const { delivery } = check;
  for (const value of check.signatures) {
    if (!value.includes("v1=")) continue;
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

const SEVERAL = /[,\s]+/;

/** An HMAC of the raw body in a header, hex or base64, with or without `sha256=`; or of `timestamp.body`, if a header states the time. */
function headerStyle(check: Check): Verdict | undefined {
  const { delivery, rules } = check;
  const signatures = check.signatures.flatMap((value) =>
    SEVERAL.test(value) ? value.split(SEVERAL).flatMap((part) => (part === "" ? [] : [bare(part, rules)])) : bare(value, rules),
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
 * The signature is a member of the body, and covers the body without it: the text with the member cut out, or rewritten compactly, or with
 * sorted keys. Only the text that was covered is used afterwards.
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
    if (asHex(claimed, "either") === undefined) return { ok: false, why: "mismatch" };
    for (const covered of coveredTexts(text, parsed, member, signature)) {
      const bytes = Buffer.from(covered);
      const secret = matching({ ...check, delivery: { ...delivery, body: bytes } }, plainKeys, [claimed], "either", "");
      if (secret !== undefined) return { ok: true, scheme: "body", secret, covered: bytes };
    }
    return { ok: false, why: "mismatch" };
  }
  return undefined;
}

/** The secret is the last part of the address: it proves that the sender knows it, and nothing of the content. */
function pathStyle({ delivery, secrets }: Check): Verdict | undefined {
  const { token } = delivery;
  if (token === undefined || token === "") return undefined;
  const digest = (text: string): Buffer => hash("sha256", text, "buffer");
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

/** The first secret with a key that made one of the signatures over `prefix` and the body. */
function matching(
  { delivery, secrets }: Check,
  keysOf: (secret: string) => readonly (string | Buffer)[],
  signatures: readonly string[],
  encoding: "hex" | "base64" | "either",
  prefix: string,
): number | undefined {
  const claimed: string[] = [];
  for (const signature of signatures.slice(0, MAX_SIGNATURES)) {
    const hex = asHex(signature, encoding);
    if (hex !== undefined) claimed.push(hex);
  }
  if (claimed.length === 0) return undefined;
  for (const [index, secret] of secrets.entries())
    for (const key of keysOf(secret.reveal())) {
      const digest = longHmacOf(key, prefix, delivery.body);
      if (claimed.filter((one) => isDigest(one, digest)).length > 0) return index;
    }
  return undefined;
}

const DIGEST_BYTES = 32;
/** Used for one comparison at a time. */
const [ONE, OTHER] = [Buffer.alloc(2 * DIGEST_BYTES), Buffer.alloc(2 * DIGEST_BYTES)];

/** Compares two digests in hex in constant time. */
function isDigest(claimed: string, expected: string): boolean {
  ONE.write(expected, "latin1");
  OTHER.write(claimed, "latin1");
  return timingSafeEqual(ONE, OTHER);
}

function plainKeys(secret: string): readonly string[] {
  return secret === "" ? [] : [secret];
}

/** The key is the base64 text after `whsec_`; some senders use the text as it is. */
export function standardKeys(secret: string): readonly (string | Buffer)[] {
  const encoded = secret.startsWith("whsec_") ? secret.slice(6) : secret;
  const decoded = /^[A-Za-z0-9+/_-]+={0,2}$/.test(encoded) ? Buffer.from(encoded, "base64") : Buffer.alloc(0);
  return [...(decoded.length >= MIN_DECODED_KEY_BYTES ? [decoded] : []), ...plainKeys(secret)];
}

/** The digest in hex; undefined if the text is none. */
function asHex(signature: string, encoding: "hex" | "base64" | "either"): string | undefined {
  if (encoding !== "base64" && /^[0-9a-f]{64}$/i.test(signature)) return signature.toLowerCase();
  if (encoding === "hex" || !/^[A-Za-z0-9+/]{43}=?$/.test(signature)) return undefined;
  const bytes = Buffer.from(signature, "base64");
  return bytes.length === DIGEST_BYTES ? bytes.toString("hex") : undefined;
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

/** The first present header, as sent; a repeated one is joined and matches nothing. */
export function header({ headers }: Pick<RawDelivery, "headers">, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = headerOf(headers, name);
    if (value !== "") return value;
  }
  return undefined;
}

function headersNamed({ headers }: Pick<RawDelivery, "headers">, names: readonly string[]): readonly string[] {
  const found: string[] = [];
  for (const name of names) {
    const value = headerOf(headers, name);
    if (value !== "") found.push(value);
  }
  return found;
}

/** Empty if it is absent. */
function headerOf(headers: RawDelivery["headers"], name: string): string {
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
  return typeof value === "string" ? value : value === undefined ? "" : value.join(",");
}

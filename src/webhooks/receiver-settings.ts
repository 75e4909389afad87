/** Settings of the webhook receiver, and the checks before anything listens. */
import type { Profile } from "../contract/profile/profile.ts";
import { Misconfigured } from "../core/errors.ts";
import type { Secret } from "../core/secret.ts";
import { SECOND } from "../core/units.ts";
import type { NetworkSecrets } from "./network-secrets.ts";
import { innerAddress } from "./receiver/public-address.ts";

export interface ReceiverSettings {
  /** 0 takes any free port; undefined: deliveries come by `accept` alone. */
  readonly port: number | undefined;
  readonly host: string;
  /** Public address of the receiver. Undefined leaves registrations alone. */
  readonly url: string | undefined;
  /** Starts without a secret, and accepts unsigned deliveries as hints. */
  readonly allowUnsigned: boolean;
  /** A private address may be registered. Default false. */
  readonly allowPrivate?: boolean;
  /**
   * The network is on this machine or nearby: private addresses may be registered, and without a `url` the receiver's own is. Default
   * false.
   */
  readonly local?: boolean;
  /** A specialist's secrets. Read again every few seconds, so that they can be rotated at run time; the first one signs registrations. */
  readonly readSecrets: (handle: string) => readonly Secret[];
  /** Keeps the secrets that a network chose itself. Default: they last as long as this process, and webhooks are then made again. */
  readonly networkSecrets?: NetworkSecrets;
}

const SECRETS_KEPT_MS = 5 * SECOND;

/** Throws the first of `receiverMistakes`. */
export function checkReceiver(settings: ReceiverSettings, profile: Profile, handles: readonly string[]): void {
  const [first] = receiverMistakes(settings, profile, handles);
  if (first !== undefined) throw first;
}

/** The reasons not to start: by default, a receiver without a secret, and one with a private address. */
export function receiverMistakes(settings: ReceiverSettings, profile: Profile, handles: readonly string[]): readonly Misconfigured[] {
  const { url, allowUnsigned, local = false, allowPrivate = false, readSecrets } = settings;
  const mistakes: Misconfigured[] = [];
  const without = profile.webhooks.scheme === "none" ? "anybody" : handles.find((handle) => readSecrets(handle).length === 0);
  if (!allowUnsigned && without !== undefined)
    mistakes.push(
      new Misconfigured("webhook_secret_missing", `the webhook receiver has no secret to verify deliveries to ${without}`, {
        expected: "a secret in RETINUE_WEBHOOK_SECRET or RETINUE_WEBHOOK_SECRET_<HANDLE>, and a signed scheme in the profile",
        hint: "set it, or give --allow-unsigned to accept deliveries as hints only",
      }),
    );
  const why = url === undefined || local || allowPrivate ? undefined : innerAddress(url);
  if (why !== undefined)
    mistakes.push(
      new Misconfigured("webhook_url_inner", `RETINUE_WEBHOOK_URL cannot be registered: ${why}`, {
        expected: "the public address of the receiver, such as https://bots.example.net",
        hint: "leave it unset to register nothing; RETINUE_WEBHOOK_ALLOW_PRIVATE=true if the network is on a private address too",
      }),
    );
  return mistakes;
}

/** The address of one specialist's deliveries: `https://host/base/webhooks/<handle>`, also for an address that already ends so. */
export function deliveryUrl(url: string, handle: string, token?: string): string {
  return [deliveryBase(url), ...[handle, ...(token === undefined ? [] : [token])].map((part) => encodeURIComponent(part))].join("/");
}

function deliveryBase(url: string): string {
  const bare = url.replace(/\/+$/, "");
  return bare.endsWith("/webhooks") ? bare : `${bare}/webhooks`;
}

/** Tells a person where the network delivers, and where the receiver takes it. */
export function deliveryRoute(url: string | undefined, listensAt: string): string {
  const receiver = `the receiver listens at ${listensAt} and takes any path that ends in /<handle>`;
  if (url === undefined) return `${receiver}; no public address is set (RETINUE_WEBHOOK_URL), so no webhook is registered`;
  return `the network delivers to ${deliveryBase(url)}/<handle>; ${receiver}`;
}

/** Caches secrets for a few seconds: reading a file for every request would be slower than the request. */
export function keptSecrets(read: ReceiverSettings["readSecrets"], now: () => number): ReceiverSettings["readSecrets"] {
  const kept = new Map<string, { readonly at: number; readonly secrets: readonly Secret[] }>();
  return (handle) => {
    const known = kept.get(handle);
    if (known !== undefined && now() - known.at < SECRETS_KEPT_MS) return known.secrets;
    const secrets = read(handle);
    kept.set(handle, { at: now(), secrets });
    return secrets;
  };
}

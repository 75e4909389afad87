/** What a Guardian says of the webhook receiver, and what of it is refused before anything listens. */
import type { Profile } from "../contract/profile/profile.ts";
import { Misconfigured } from "../core/errors.ts";
import type { Secret } from "../core/secret.ts";
import { SECOND } from "../core/units.ts";
import { innerAddress } from "./receiver/public-address.ts";

export interface ReceiverSettings {
  /** 0 takes any free port; undefined: deliveries come by `accept` alone. */
  readonly port: number | undefined;
  readonly host: string;
  /** Under which the network reaches us. Undefined leaves registrations alone. */
  readonly url: string | undefined;
  /** Starts without a secret, and takes unsigned deliveries as hints to look. */
  readonly allowUnsigned: boolean;
  /** An inner address may be registered. Default false. */
  readonly allowPrivate?: boolean;
  /**
   * The network is on this machine or nearby: inner addresses may be registered, and without a `url` the receiver's own
   * is. Default false.
   */
  readonly local?: boolean;
  /** A specialist's. Read again every few seconds, so that secrets can be rotated at run time; the first one signs registrations. */
  readonly readSecrets: (handle: string) => readonly Secret[];
}

const SECRETS_KEPT_MS = 5 * SECOND;

/** Defaults refuse: no secret, no start; and no inner address is handed to a network. Throws `Misconfigured`. */
export function checkReceiver(settings: ReceiverSettings, profile: Profile, handles: readonly string[]): void {
  const { url, allowUnsigned, local = false, allowPrivate = false, readSecrets } = settings;
  const without = profile.webhooks.scheme === "none" ? "anybody" : handles.find((handle) => readSecrets(handle).length === 0);
  if (!allowUnsigned && without !== undefined)
    throw new Misconfigured("webhook_secret_missing", `the webhook receiver has nothing to check deliveries to ${without} with`, {
      expected: "a secret in RETINUE_WEBHOOK_SECRET or RETINUE_WEBHOOK_SECRET_<HANDLE>, and a signed scheme in the profile",
      hint: "set it, or give --allow-unsigned to take deliveries as mere hints",
    });
  const why = url === undefined || local || allowPrivate ? undefined : innerAddress(url);
  if (why !== undefined)
    throw new Misconfigured("webhook_url_inner", `RETINUE_WEBHOOK_URL cannot be registered: ${why}`, {
      expected: "the public address of the receiver, such as https://bots.example.net",
      hint: "leave it unset to register nothing; RETINUE_WEBHOOK_ALLOW_PRIVATE=true where the network is in the neighbourhood too",
    });
}

/** Where one specialist's deliveries go: `https://host/base/webhooks/<handle>`, whether or not the address as given ends so. */
export function deliveryUrl(url: string, handle: string, token?: string): string {
  const bare = url.replace(/\/+$/, "");
  const base = bare.endsWith("/webhooks") ? bare : `${bare}/webhooks`;
  return [base, handle, ...(token === undefined ? [] : [token])].map((part, i) => (i === 0 ? part : encodeURIComponent(part))).join("/");
}

/** The secrets as they were at most a few seconds ago: reading a file for every request would be slower than the request. */
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

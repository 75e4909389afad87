/** Keeps the secrets that networks chose for our webhooks, in a file for its owner alone: the store names the webhook, never its secret. */
import { chmodSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { messageOf } from "../core/errors.ts";
import type { Handle } from "../core/ids.ts";
import { isObject, parseJson, textIn } from "../core/json.ts";
import { Secret } from "../core/secret.ts";
import type { RegistrationState } from "./registration.ts";
import type { WebhookDependencies } from "./webhook-dependencies.ts";

const OWNER_ONLY = 0o600;

export interface NetworkSecret {
  readonly webhookId: string;
  readonly secret: Secret;
}

/** Secrets by specialist. Both functions throw if the file cannot be read or written. */
export interface NetworkSecrets {
  readonly read: (handle: string) => NetworkSecret | undefined;
  /** Replaces the secret of a specialist; undefined forgets it. */
  readonly keep: (handle: string, secret: NetworkSecret | undefined) => void;
}

/** The secrets in one file, which exists only while it holds one. */
export function networkSecretsIn(file: string): NetworkSecrets {
  return {
    read: (handle) => read(file).get(handle),
    keep(handle, secret) {
      const all = read(file);
      const known = all.get(handle);
      const isSame = known?.webhookId === secret?.webhookId && known?.secret.reveal() === secret?.secret.reveal();
      if (isSame) return;
      if (secret === undefined) all.delete(handle);
      else all.set(handle, secret);
      write(file, all);
    },
  };
}

type Dependencies = Pick<WebhookDependencies, "store" | "scrubber" | "log">;

/** The secret of the recorded webhook that an earlier process was given; undefined if there is none, or it cannot be read. */
export async function recallSecret(
  { store, scrubber, log }: Dependencies,
  secrets: NetworkSecrets | undefined,
  handle: Handle,
): Promise<NetworkSecret | undefined> {
  try {
    const kept = secrets?.read(handle);
    const recorded = kept === undefined ? [] : await store.registrations(handle);
    if (kept === undefined || !recorded.some(({ webhookId, foreignSecret }) => foreignSecret && webhookId === kept.webhookId))
      return undefined;
    scrubber.add(kept.secret);
    return kept;
  } catch (error) {
    log.warn("the secret that the network chose cannot be read, so its webhook is made again", { handle, message: messageOf(error) });
    return undefined;
  }
}

/** Keeps the secret of a webhook for the next process, or forgets one that signs nothing now. */
export function rememberSecret({ log }: Dependencies, secrets: NetworkSecrets | undefined, handle: Handle, state: RegistrationState): void {
  if (state.kind === "deferred") return;
  const chosen =
    state.kind === "registered" && state.secret !== undefined ? { webhookId: state.webhookId, secret: state.secret } : undefined;
  try {
    secrets?.keep(handle, chosen);
  } catch (error) {
    const message = messageOf(error);
    log.error("the secret that the network chose cannot be kept, so its webhook is made again at the next start", { handle, message });
  }
}

function read(file: string): Map<string, NetworkSecret> {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return new Map();
    throw error;
  }
  const stored = parseJson(text);
  const entries = Object.entries(isObject(stored) ? stored : {}).flatMap(([handle, value]): [string, NetworkSecret][] => {
    const entry = isObject(value) ? value : undefined;
    const [webhookId, secret] = [textIn(entry, "webhookId"), textIn(entry, "secret")];
    return webhookId === undefined || secret === undefined ? [] : [[handle, { webhookId, secret: new Secret(secret) }]];
  });
  return new Map(entries);
}

function write(file: string, all: ReadonlyMap<string, NetworkSecret>): void {
  if (all.size === 0) return rmSync(file, { force: true });
  const stored = Object.fromEntries([...all].map(([handle, { webhookId, secret }]) => [handle, { webhookId, secret: secret.reveal() }]));
  writeFileSync(`${file}.new`, `${JSON.stringify(stored, undefined, 2)}\n`, { mode: OWNER_ONLY, flush: true });
  chmodSync(`${file}.new`, OWNER_ONLY);
  renameSync(`${file}.new`, file);
}

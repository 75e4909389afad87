/** Our webhook on the network: exactly one for each specialist, made again when it is gone, and no stale ones. */
import { cursorOf } from "../client/next-page.ts";
import type { Outcome } from "../contract/call.ts";
import type { Webhook } from "../contract/records.ts";
import type { Secret } from "../core/secret.ts";
import { MINUTE, SECOND } from "../core/units.ts";
import type { Registration } from "../inbox/port.ts";
import type { DoorAnswer } from "./door.ts";
import type { Member } from "./member.ts";
import type { Parts } from "./parts.ts";

export type RegistrationState =
  /** Ours is there, alone. */
  | { readonly kind: "registered"; readonly webhookId: string; readonly secret?: Secret }
  /** Nothing is to be done: no address is set, or the network has no webhooks. */
  | { readonly kind: "untouched"; readonly why: string }
  /** It could not be seen to now. */
  | { readonly kind: "waits"; readonly until: number; readonly why: string };

export interface WantedWebhook {
  readonly url: string;
  /** What is stored of the address, which may end in a secret. Default: all of it. */
  readonly storedUrl?: string | undefined;
  /** What the network is to sign with. */
  readonly secret: Secret | undefined;
  /** The webhook whose own secret this process was told when it made it. */
  readonly told?: string | undefined;
}

const MAX_PAGES = 5;
/** Stale ones removed in one go; more than this were not made by us. */
const MAX_REMOVED = 20;
const RETRY_MS = 30 * SECOND;
const REFUSED_RETRY_MS = 10 * MINUTE;

/** Makes the network's list hold exactly one webhook of ours. Costs one read, and writes only where something is wrong. */
export async function keepRegistered(parts: Parts, member: Member, wanted: WantedWebhook): Promise<RegistrationState> {
  const { store, clock } = parts;
  const { handle } = member.specialist;
  const listed = await listWebhooks(parts, member);
  if ("kind" in listed) return listed;
  const known = await store.registrations(handle);
  const ours = listed.filter(({ url, id }) => url === wanted.url || known.some(({ webhookId }) => webhookId === id));
  const kept = ours.find((webhook) => usable(webhook, wanted, known));
  for (const webhook of ours.filter((one) => one !== kept).slice(0, MAX_REMOVED)) {
    const removed = await remove(parts, member, webhook.id);
    if (removed !== undefined) return removed;
  }
  if (kept !== undefined) {
    const foreignSecret = kept.id === wanted.told;
    await store.saveRegistrations(handle, [{ webhookId: kept.id, url: wanted.storedUrl ?? wanted.url, foreignSecret }], clock.now());
    return { kind: "registered", webhookId: kept.id };
  }
  return create(parts, member, wanted);
}

/** Takes every webhook of ours off the network, when its specialist is retired. */
export async function unregister(parts: Parts, member: Member): Promise<RegistrationState> {
  const { store, clock } = parts;
  const { handle } = member.specialist;
  for (const { webhookId } of await store.registrations(handle)) {
    const removed = await remove(parts, member, webhookId);
    if (removed !== undefined) return removed;
  }
  await store.saveRegistrations(handle, [], clock.now());
  return { kind: "untouched", why: "the specialist is retired" };
}

/** One whose secret only the network knows is of no use after a restart: it is made anew, with a secret we are told. */
function usable({ id, url, active }: Webhook, wanted: WantedWebhook, known: readonly Registration[]): boolean {
  const foreign = known.find(({ webhookId }) => webhookId === id)?.foreignSecret === true;
  return url === wanted.url && active !== false && (!foreign || id === wanted.told);
}

async function listWebhooks(parts: Parts, member: Member): Promise<readonly Webhook[] | RegistrationState> {
  const found: Webhook[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const input = cursor === undefined ? {} : { cursor };
    const answer = await parts.door.read(member, { operation: "webhooks.list", input }, { lane: "watch", signal: parts.ending });
    if (answer.kind !== "answered" || answer.outcome.class !== "confirmed") return notNow(parts, answer, "webhooks cannot be listed");
    for (const item of answer.outcome.items ?? []) if (item.kind === "webhook") found.push(item);
    cursor = answer.outcome.next === undefined ? undefined : cursorOf(answer.outcome.next);
    if (cursor === undefined) break;
  }
  return found;
}

/** Undefined once it is gone, by us or before us. */
async function remove(parts: Parts, member: Member, target: string): Promise<RegistrationState | undefined> {
  const answer = await parts.door.perform(member, { operation: "webhooks.delete", target, input: {} }, parts.ending);
  if (answer.kind === "answered") {
    const { outcome } = answer;
    if (outcome.class === "confirmed") return undefined;
    if (outcome.class === "refused" && (outcome.status === 404 || outcome.status === 410)) return undefined;
  }
  return notNow(parts, answer, "a stale webhook cannot be removed");
}

async function create(parts: Parts, member: Member, { url, storedUrl = url, secret }: WantedWebhook): Promise<RegistrationState> {
  const input = { url, ...(secret === undefined ? {} : { secret: secret.reveal() }) };
  const answer = await parts.door.perform(member, { operation: "webhooks.create", input }, parts.ending);
  if (answer.kind !== "answered" || answer.outcome.class !== "confirmed" || answer.outcome.record?.kind !== "webhook")
    return notNow(parts, answer, "the webhook cannot be registered");
  const { id } = answer.outcome.record;
  const given = answer.outcome.secrets?.webhookSecret;
  const foreign = given !== undefined && given.reveal() !== secret?.reveal() ? given : undefined;
  await parts.store.saveRegistrations(
    member.specialist.handle,
    [{ webhookId: id, url: storedUrl, foreignSecret: foreign !== undefined }],
    parts.clock.now(),
  );
  return { kind: "registered", webhookId: id, ...(foreign === undefined ? {} : { secret: foreign }) };
}

function notNow({ clock }: Parts, answer: DoorAnswer, what: string): RegistrationState {
  const now = clock.now();
  switch (answer.kind) {
    case "waits":
      return { kind: "waits", until: answer.until, why: `${what}: ${answer.message}` };
    case "refused":
      return { kind: "waits", until: now + REFUSED_RETRY_MS, why: `${what}: ${answer.message}` };
    case "gone":
      return { kind: "waits", until: now + RETRY_MS, why: what };
    case "answered":
      return { kind: "waits", until: now + retryMs(answer.outcome), why: `${what}: ${saidIn(answer.outcome)}` };
  }
}

function retryMs(outcome: Outcome): number {
  return outcome.class === "refused" || outcome.class === "pending" ? REFUSED_RETRY_MS : RETRY_MS;
}

function saidIn(outcome: Outcome): string {
  if (outcome.class === "refused") return outcome.message;
  return "reason" in outcome ? outcome.reason : `the network answered ${outcome.class}`;
}

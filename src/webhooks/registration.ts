/** Our webhook on the network: exactly one for each specialist, made again when it is gone, and no stale ones. */
import { createHmac } from "node:crypto";
import { cursorOf } from "../client/next-page.ts";
import type { Outcome } from "../contract/call.ts";
import type { Webhook } from "../contract/records.ts";
import { defined } from "../core/defined.ts";
import type { Secret } from "../core/secret.ts";
import { MINUTE, SECOND } from "../core/units.ts";
import type { GatewayAnswer } from "../gateway/gateway.ts";
import type { Member } from "../gateway/member.ts";
import type { WebhookDependencies } from "./webhook-dependencies.ts";
import type { Registration } from "../store/deliveries.ts";

export type RegistrationState =
  /** Ours is there, and alone unless it says when those that it replaces are to be removed. */
  | { readonly kind: "registered"; readonly webhookId: string; readonly secret?: Secret; readonly tidyAt?: number }
  /** Nothing is to be done: no address is set, or the network has no webhooks. */
  | { readonly kind: "notNeeded"; readonly why: string }
  /** It could not be seen to now. */
  | { readonly kind: "deferred"; readonly until: number; readonly why: string };

export interface WantedWebhook {
  readonly url: string;
  /** What is stored of the address, which may end in a secret. Default: all of it. */
  readonly storedUrl?: string | undefined;
  /** What the network is to sign with. */
  readonly secret: Secret | undefined;
  /** The webhook whose own secret this process was told when it made it. */
  readonly told?: string | undefined;
  /** Takes a webhook at our address as it is, though nothing is recorded of it here. Default: it is made anew. */
  readonly adopt?: boolean;
  /** Such a one was removed, to be made anew. */
  readonly onRenew?: () => void;
}

const MAX_PAGES = 5;
/** Stale ones removed in one go; more than this were not made by us. */
const MAX_REMOVED = 20;
const RETRY_MS = 30 * SECOND;
const REFUSED_RETRY_MS = 10 * MINUTE;
const CONFLICT = 409;

type Deferred = Extract<RegistrationState, { readonly kind: "deferred" }>;

/**
 * Makes the network's list hold exactly one webhook of ours, signing with the secret that is wanted. Costs one read, and
 * writes only where something is wrong. A network is told a secret only where a webhook is made, so one that was made with
 * another secret is made anew; so is one at our address that is not recorded here, whoever made it: it may have been made by
 * a request whose answer was lost, and nobody knows what it signs with.
 */
export async function keepRegistered(parts: WebhookDependencies, member: Member, wanted: WantedWebhook): Promise<RegistrationState> {
  const { store, log, scrubber } = parts;
  const { handle } = member.specialist;
  // The list comes without secrets, like every answer.
  const address = scrubber.blank(wanted.url);
  const listed = await listWebhooks(parts, member);
  if ("kind" in listed) return listed;
  const known = new Map((await store.registrations(handle)).map((one) => [one.webhookId, one]));
  const ours = listed.filter(({ url, id }) => isAt(url, address) || known.has(id));
  const working = ours.filter((webhook) => works(webhook, known.get(webhook.id), wanted));
  const strange = ours.find(({ id, active }) => !known.has(id) && active !== false);
  let kept = working.find(({ id, url }) => isAt(url, address) && signsAsWanted(known.get(id), wanted, address !== wanted.url));
  if (kept === undefined && strange !== undefined && wanted.adopt === true) {
    kept = strange;
    log.warn("a webhook that is not recorded here is taken as it is, as making it anew did not last", { handle, webhook: kept.id });
  }
  if (kept === undefined) {
    const failed = await removeAll(parts, member, without(ours, working));
    if (failed !== undefined) return failed;
    if (strange !== undefined) wanted.onRenew?.();
    const recorded = working.flatMap(({ id }) => known.get(id) ?? []);
    return replace(parts, member, wanted, recorded);
  }
  const failed = await removeAll(parts, member, without(ours, [kept]));
  if (failed !== undefined) return failed;
  await save(parts, member, [recordOf(kept.id, wanted, kept.id === wanted.told)]);
  return { kind: "registered", webhookId: kept.id };
}

/** Makes one. What works otherwise than wanted stays until then, so that nothing is missed: what both tell of is one event. */
async function replace(
  parts: WebhookDependencies,
  member: Member,
  wanted: WantedWebhook,
  old: readonly Registration[],
): Promise<RegistrationState> {
  const ids = old.map(({ webhookId }) => ({ id: webhookId }));
  const made = await create(parts, member, wanted);
  if (made.kind === "made" && !ids.some(({ id }) => id === made.record.webhookId)) {
    await save(parts, member, [made.record, ...old]);
    const failed = await removeAll(parts, member, ids);
    if (failed === undefined) await save(parts, member, [made.record]);
    return { ...registered(made), ...defined({ tidyAt: failed?.until }) };
  }
  // A network with one webhook for each address refuses another, or gives back the one that was there.
  if (made.kind === "deferred" && (made.conflict !== true || ids.length === 0)) return made;
  const failed = await removeAll(parts, member, ids);
  if (failed !== undefined) return failed;
  const again = await create(parts, member, wanted);
  if (again.kind === "deferred") return again;
  await save(parts, member, [again.record]);
  return registered(again);
}

/** Takes every webhook of ours off the network, when its specialist is retired. */
export async function unregister(parts: WebhookDependencies, member: Member): Promise<RegistrationState> {
  const known = await parts.store.registrations(member.specialist.handle);
  for (const { webhookId } of known) {
    const failed = await remove(parts, member, webhookId);
    if (failed !== undefined) return failed;
  }
  await save(parts, member, []);
  return { kind: "notNeeded", why: "the specialist is retired" };
}

/** Networks show an address as they keep it: with another letter case of the host, or a slash at its end. */
function isAt(url: string | undefined, wanted: string): boolean {
  return url !== undefined && (url === wanted || plain(url) === plain(wanted));
}

function plain(url: string): string {
  return (URL.parse(url)?.href ?? url).replace(/\/+$/, "");
}

/** One whose secret only the network knows is of no use after a restart: it is made anew, with a secret we are told. */
function works({ id, active }: Webhook, record: Registration | undefined, { told }: WantedWebhook): boolean {
  return record !== undefined && active !== false && (!record.foreignSecret || id === told);
}

/** Only the record tells which secret an address ends in. */
function signsAsWanted(record: Registration | undefined, { secret }: WantedWebhook, tellsSecret: boolean): boolean {
  if (record === undefined) return false;
  return (record.foreignSecret && !tellsSecret) || record.signedWith === printOf(secret, record.webhookId);
}

function recordOf(webhookId: string, { url, storedUrl = url, secret }: WantedWebhook, foreignSecret: boolean): Registration {
  return { webhookId, url: storedUrl, foreignSecret, signedWith: printOf(secret, webhookId) };
}

const PRINT_LENGTH = 32;

/** A salted hash of the secret, so that another one is noticed and nobody can go back from it. */
function printOf(secret: Secret | undefined, webhookId: string): string | undefined {
  return secret === undefined ? undefined : createHmac("sha256", webhookId).update(secret.reveal()).digest("hex").slice(0, PRINT_LENGTH);
}

function without(webhooks: readonly Webhook[], others: readonly Webhook[]): readonly Webhook[] {
  return webhooks.filter((one) => !others.includes(one));
}

function save({ store, clock }: WebhookDependencies, member: Member, records: readonly Registration[]): Promise<void> {
  return store.saveRegistrations(member.specialist.handle, records, clock.now());
}

async function listWebhooks(parts: WebhookDependencies, member: Member): Promise<readonly Webhook[] | RegistrationState> {
  const found: Webhook[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const input = cursor === undefined ? {} : { cursor };
    const answer = await parts.gateway.read(member, { operation: "webhooks.list", input }, { lane: "watch", signal: parts.ending });
    if (answer.kind !== "answered" || answer.outcome.class !== "confirmed") return notNow(parts, answer, "webhooks cannot be listed");
    for (const item of answer.outcome.items ?? []) if (item.kind === "webhook") found.push(item);
    cursor = answer.outcome.next === undefined ? undefined : cursorOf(answer.outcome.next);
    if (cursor === undefined) break;
  }
  return found;
}

/** Undefined once they are gone. */
async function removeAll(
  parts: WebhookDependencies,
  member: Member,
  webhooks: readonly { readonly id: string }[],
): Promise<Deferred | undefined> {
  for (const { id } of webhooks.slice(0, MAX_REMOVED)) {
    const failed = await remove(parts, member, id);
    if (failed !== undefined) return failed;
  }
  return undefined;
}

/** Undefined once it is gone, by us or before us. */
async function remove(parts: WebhookDependencies, member: Member, target: string): Promise<Deferred | undefined> {
  const answer = await parts.gateway.perform(member, { operation: "webhooks.delete", target, input: {} }, parts.ending);
  if (answer.kind === "answered") {
    const { outcome } = answer;
    if (outcome.class === "confirmed") return undefined;
    if (outcome.class === "refused" && (outcome.status === 404 || outcome.status === 410)) return undefined;
  }
  return notNow(parts, answer, "a stale webhook cannot be removed");
}

interface Made {
  readonly kind: "made";
  readonly record: Registration;
  /** The network's own, where it signs with one. */
  readonly secret: Secret | undefined;
}

async function create(
  parts: WebhookDependencies,
  member: Member,
  wanted: WantedWebhook,
): Promise<Made | (Deferred & { readonly conflict: boolean })> {
  const { url, secret } = wanted;
  const input = defined({ url, secret: secret?.reveal() });
  const answer = await parts.gateway.perform(member, { operation: "webhooks.create", input }, parts.ending);
  const outcome = answer.kind === "answered" ? answer.outcome : undefined;
  if (outcome?.class !== "confirmed" || outcome.record?.kind !== "webhook") {
    const conflict = outcome?.class === "refused" && outcome.status === CONFLICT;
    return { ...notNow(parts, answer, "the webhook cannot be registered"), conflict };
  }
  const given = outcome.secrets?.webhookSecret;
  const own = given !== undefined && given.reveal() !== secret?.reveal() ? given : undefined;
  return { kind: "made", record: recordOf(outcome.record.id, wanted, own !== undefined), secret: own };
}

function registered({ record, secret }: Made): Extract<RegistrationState, { readonly kind: "registered" }> {
  return defined({ kind: "registered", webhookId: record.webhookId, secret });
}

function notNow({ clock }: WebhookDependencies, answer: GatewayAnswer, what: string): Deferred {
  const now = clock.now();
  switch (answer.kind) {
    case "waits":
      return { kind: "deferred", until: answer.until, why: `${what}: ${answer.message}` };
    case "refused":
      return { kind: "deferred", until: now + REFUSED_RETRY_MS, why: `${what}: ${answer.message}` };
    case "gone":
      return { kind: "deferred", until: now + RETRY_MS, why: what };
    case "answered":
      return { kind: "deferred", until: now + retryMs(answer.outcome), why: `${what}: ${saidIn(answer.outcome)}` };
  }
}

function retryMs(outcome: Outcome): number {
  return outcome.class === "refused" || outcome.class === "pending" ? REFUSED_RETRY_MS : RETRY_MS;
}

function saidIn(outcome: Outcome): string {
  if (outcome.class === "refused") return outcome.message;
  return "reason" in outcome ? outcome.reason : `the network answered ${outcome.class}`;
}

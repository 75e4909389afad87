/** Keeps exactly one webhook registered for each specialist: recreated when it is gone, with stale ones removed. */
import { createHmac } from "node:crypto";
import { cursorOf } from "../client/next-page.ts";
import { freshItems } from "../client/paging.ts";
import type { Webhook } from "../contract/records.ts";
import { defined } from "../core/defined.ts";
import type { Secret } from "../core/secret.ts";
import { MINUTE, SECOND } from "../core/units.ts";
import type { Member } from "../gateway/member.ts";
import { readResult, type Unread } from "../gateway/read-result.ts";
import type { WebhookDependencies } from "./webhook-dependencies.ts";
import type { Registration } from "../store/deliveries.ts";

export type RegistrationState =
  /** Ours is registered, and alone unless `tidyAt` states when the replaced ones are removed. `isNew` if it was made now. */
  | {
      readonly kind: "registered";
      readonly webhookId: string;
      readonly isNew?: true;
      readonly secret?: Secret;
      readonly tidyAt?: number;
    }
  /** Nothing to do: no address is set, or the network has no webhooks. */
  | { readonly kind: "notNeeded"; readonly why: string }
  /** The check could not be made now. */
  | { readonly kind: "deferred"; readonly until: number; readonly why: string };

export interface RegistrationShown {
  readonly kind: RegistrationState["kind"];
  readonly why?: string;
}

/** A registration without its secret, for status. */
export function shownRegistration(state: RegistrationState | undefined): RegistrationShown {
  if (state === undefined) return { kind: "notNeeded", why: "not checked yet" };
  return { kind: state.kind, ...("why" in state ? { why: state.why } : {}) };
}

export interface WantedWebhook {
  readonly url: string;
  /** The part of the address to store: it may end in a secret. Default: all of it. */
  readonly storedUrl?: string | undefined;
  /** The secret for the network to sign with. */
  readonly secret: Secret | undefined;
  /** The webhook whose own secret the network gave this process. */
  readonly told?: string | undefined;
  /** Accepts an unrecorded webhook at our address as it is. Default: it is recreated. */
  readonly adopt?: boolean;
  /** Called when such a webhook was removed in order to be recreated. */
  readonly onRenew?: () => void;
}

const MAX_PAGES = 5;
/** Stale webhooks removed at once; more than this were not made by us. */
const MAX_REMOVED = 20;
const RETRY_MS = 30 * SECOND;
const REFUSED_RETRY_MS = 10 * MINUTE;
const CONFLICT = 409;

type Deferred = Extract<RegistrationState, { readonly kind: "deferred" }>;

/**
 * Keeps exactly one webhook of ours on the network, signing with the wanted secret. Costs one read, and writes only if something is wrong.
 * A network takes a secret only when a webhook is created, so one with another secret is recreated; so is an unrecorded one at our address,
 * whoever made it: a request whose answer was lost may have made it, and its secret is unknown.
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
    log.warn("a webhook that is not recorded here is accepted as it is, because it was replaced after each recreation", {
      handle,
      webhook: kept.id,
    });
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

/** Creates one. Existing working ones stay until then, so that nothing is missed: an event reported by both is one event. */
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
  // A network that allows one webhook per address refuses another, or returns the existing one.
  if (made.kind === "deferred" && (made.conflict !== true || ids.length === 0)) return made;
  const failed = await removeAll(parts, member, ids);
  if (failed !== undefined) return failed;
  const again = await create(parts, member, wanted);
  if (again.kind === "deferred") return again;
  await save(parts, member, [again.record]);
  return registered(again);
}

/** Removes every webhook of ours from the network, when its specialist is retired. */
export async function unregister(parts: WebhookDependencies, member: Member): Promise<RegistrationState> {
  const known = await parts.store.registrations(member.specialist.handle);
  for (const { webhookId } of known) {
    const failed = await remove(parts, member, webhookId);
    if (failed !== undefined) return failed;
  }
  await save(parts, member, []);
  return { kind: "notNeeded", why: "the specialist is retired" };
}

/** Compares addresses as networks store them: with another letter case of the host, or a slash at the end. */
function isAt(url: string | undefined, wanted: string): boolean {
  return url !== undefined && (url === wanted || plain(url) === plain(wanted));
}

function plain(url: string): string {
  return (URL.parse(url)?.href ?? url).replace(/\/+$/, "");
}

/** A webhook whose secret only the network knows is useless after a restart: it is recreated with a secret that we are given. */
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

/** A salted hash of the secret, which shows a change and cannot be reversed. */
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
  const seen = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const input = cursor === undefined ? {} : { cursor };
    const answer = await parts.gateway.read(member, { operation: "webhooks.list", input }, { lane: "watch", signal: parts.ending });
    const result = readResult(answer);
    if (result.kind !== "value") return notNow(parts, result, "webhooks cannot be listed");
    const { items, record } = result.value;
    const fresh = freshItems(items ?? (record?.kind === "webhook" && record.url !== undefined ? [record] : []), seen);
    for (const item of fresh) if (item.kind === "webhook") found.push(item);
    if (fresh.length === 0) break;
    cursor = result.value.next === undefined ? undefined : cursorOf(result.value.next);
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
  const result = readResult(answer);
  return result.kind === "value" || result.kind === "gone" ? undefined : notNow(parts, result, "a stale webhook cannot be removed");
}

interface Made {
  readonly kind: "made";
  readonly record: Registration;
  /** The network's own secret, if it signs with one. */
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
  const result = readResult(answer);
  if (result.kind !== "value") {
    const conflict = result.kind === "refused" && result.status === CONFLICT;
    return { ...notNow(parts, result, "the webhook cannot be registered"), conflict };
  }
  const { record, secrets } = result.value;
  if (record?.kind !== "webhook") return { ...later(parts, RETRY_MS, "the answer to its registration is no webhook"), conflict: false };
  const given = secrets?.webhookSecret;
  const own = given !== undefined && given.reveal() !== secret?.reveal() ? given : undefined;
  return { kind: "made", record: recordOf(record.id, wanted, own !== undefined), secret: own };
}

function registered({ record, secret }: Made): Extract<RegistrationState, { readonly kind: "registered" }> {
  return defined({ kind: "registered", webhookId: record.webhookId, isNew: true, secret });
}

function notNow(parts: WebhookDependencies, unread: Unread, what: string): Deferred {
  const why = `${what}: ${unread.message}`;
  switch (unread.kind) {
    case "wait":
      return { kind: "deferred", until: unread.until, why };
    case "gone":
    case "refused":
      return later(parts, REFUSED_RETRY_MS, why);
    case "failed":
      return later(parts, unread.code === "read_pending" ? REFUSED_RETRY_MS : RETRY_MS, why);
  }
}

function later({ clock }: WebhookDependencies, pauseMs: number, why: string): Deferred {
  return { kind: "deferred", until: clock.now() + pauseMs, why };
}

/** Words of the log for a new state. */
export const SAID: { readonly [kind in Exclude<RegistrationState["kind"], "notNeeded">]: string } = {
  registered: "its webhook is registered; until its first delivery arrives, lists are polled as without one",
  deferred: "has no webhook yet, and polls meanwhile",
};

/** True if the webhook was recreated between two checks. */
export function isAnother(before: RegistrationState | undefined, now: RegistrationState): boolean {
  return before?.kind === "registered" && now.kind === "registered" && before.webhookId !== now.webhookId;
}

/** Keeps a secret that only this process knows while checks find its webhook in place. */
export function withSecretOf(before: RegistrationState | undefined, now: RegistrationState): RegistrationState {
  if (before?.kind !== "registered" || before.secret === undefined) return now;
  if (now.kind === "deferred") return before;
  return now.kind === "registered" && now.webhookId === before.webhookId && now.secret === undefined ? before : now;
}

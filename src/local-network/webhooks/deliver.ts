/** Delivers webhooks: one durable row each, retried until received or given up. */
import { request } from "undici";
import { messageOf } from "../../core/errors.ts";
import { isObject, parseJson } from "../../core/json.ts";
import type { JsonObject } from "../../core/json.ts";
import { ConnectionLost } from "../server/exchange.ts";
import type { Assumptions } from "../assumptions.ts";
import type { WireFormat, OutgoingEvent } from "../wire/wire.ts";
import { iso } from "../wire/wire.ts";
import type { DeliveryFault, FaultBook } from "../faults/network-faults.ts";
import { sign } from "./delivery-signature.ts";
import type { Table } from "../world/persistence.ts";
import type { WorldEvent, Webhook } from "../world/rows.ts";
import type { World } from "../world/world.ts";

const TIMEOUT_MS = 10_000;
const MAX_IN_FLIGHT = 32;
/** Stored deliveries, waiting or done. Beyond it the oldest are dropped, waiting ones as failed. */
const MAX_KEPT = 10_000;
const BUSY_RETRY_MS = 50;
/** A delivery that is to be overtaken waits this long for another one. */
const HELD_BACK_MS = 30_000;
const AFTER_THE_NEXT_MS = 5;

export interface Delivery {
  readonly id: string;
  readonly webhookId: string;
  readonly agent: string;
  readonly type: string;
  /** The wire format's name of the type, if it differs. */
  readonly word?: string;
  readonly payload: string;
  readonly createdAt: number;
  status: "pending" | "delivered" | "failed";
  nextAt: number;
  /** Set once a person asked for it again: that attempt is the last. */
  isRedelivered?: true;
  /** One entry per attempt: HTTP status, or the reason for none. */
  readonly attempts: { readonly at: number; readonly status: number; readonly reason?: string }[];
}

export interface DeliveryRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
}

/** Sends one delivery and returns the receiver's status. Rejects if there was no answer. */
export type Deliver = (request: DeliveryRequest) => Promise<number>;

export interface Deliveries {
  /** Queues an event for every webhook registered for it. */
  tell(world: World, happening: WorldEvent): void;
  /** Attempts a delivery that is due. */
  attempt(id: string, now: number): void;
  /** Attempts a delivery once more, under the same id. Returns false if it is not stored or its webhook is gone. */
  redeliver(id: string): boolean;
  list(): Delivery[];
  start(): void;
  /** Aborts attempts in flight, which are repeated after a start. */
  stop(): Promise<void>;
}

/** Delivers over real sockets. Redirects count as failures; bodies are not read. */
export const deliverByHttp: Deliver = async ({ url, headers, body, signal }) => {
  const response = await request(url, { method: "POST", headers, body, signal, headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS });
  await response.body.dump({ limit: 65_536 });
  return response.statusCode;
};

export interface DeliveryParts {
  readonly world: () => World;
  /** Encodes the payloads. */
  readonly dialect: () => WireFormat;
  readonly faults: FaultBook;
  readonly deliver: Deliver;
  readonly rows: Table<Delivery>;
}

export function createDeliveries({ world: open, dialect, faults, deliver, rows }: DeliveryParts): Deliveries {
  let stopping = new AbortController();
  const inFlight = new Map<string, Promise<void>>();
  /** The delivery that a reordering holds back, by webhook. */
  const heldBack = new Map<string, string>();

  const tell = (world: World, happening: WorldEvent): void => {
    for (const webhook of world.webhooks.all()) {
      if (!wants(webhook, happening)) continue;
      const delivery = newDelivery(world, webhook, happening, dialect());
      if (delivery === undefined) continue;
      const fault = faults.drawDelivery(delivery.agent, happening.type);
      if (fault?.kind === "lost") continue;
      queue(world, rows, { ...delivery, nextAt: delivery.nextAt + heldBackMs(fault) }, fault);
      release(world, webhook);
      if (fault?.kind === "reorder") heldBack.set(webhook.id, delivery.id);
      if (fault?.kind === "twice") queue(world, rows, { ...delivery, id: `${delivery.id}_again` }, undefined);
    }
  };

  /** Releases a held-back delivery, right after the one queued now. */
  const release = (world: World, webhook: Webhook): void => {
    const held = rows.get(heldBack.get(webhook.id) ?? "");
    heldBack.delete(webhook.id);
    if (held?.status !== "pending") return;
    held.nextAt = world.clock.now() + AFTER_THE_NEXT_MS;
    rows.put(held);
    world.timers.note(held.nextAt, `delivery:${held.id}`);
  };

  const run = async (world: World, delivery: Delivery, webhook: Webhook): Promise<void> => {
    const { signal } = stopping;
    const at = world.clock.now();
    let attempt: Delivery["attempts"][number];
    try {
      const { headers, body } = wire(world, delivery, webhook, at);
      attempt = { at, status: await orAborted(deliver({ url: webhook.url, headers, body, signal }), signal) };
    } catch (error) {
      if (signal.aborted) return;
      attempt = { at, status: 0, reason: messageOf(error) };
    }
    settle(world, rows, delivery, webhook, attempt);
    world.tables.commit();
  };

  return {
    tell,
    list: () => [...rows.all()],
    attempt(id, now) {
      const world = open();
      const delivery = rows.get(id);
      if (delivery === undefined || delivery.status !== "pending" || delivery.nextAt > now || inFlight.has(id) || stopping.signal.aborted)
        return;
      const webhook = world.webhooks.get(delivery.webhookId);
      if (webhook === undefined || !webhook.active) {
        delivery.status = "failed";
        rows.put(delivery);
        return;
      }
      if (inFlight.size >= MAX_IN_FLIGHT) return world.timers.note(now + BUSY_RETRY_MS, `delivery:${id}`);
      inFlight.set(
        id,
        run(world, delivery, webhook).finally(() => inFlight.delete(id)),
      );
    },
    redeliver: (id) => queueAgain(open(), rows, id),
    start() {
      stopping = new AbortController();
      for (const { id, status, nextAt } of rows.all()) if (status === "pending") open().timers.note(nextAt, `delivery:${id}`);
    },
    async stop() {
      stopping.abort();
      await Promise.all(inFlight.values());
    },
  };
}

/** Returns false if the delivery is not stored, or its webhook takes none. */
function queueAgain(world: World, rows: Table<Delivery>, id: string): boolean {
  const delivery = rows.get(id);
  if (delivery === undefined || world.webhooks.get(delivery.webhookId)?.active !== true) return false;
  delivery.status = "pending";
  delivery.isRedelivered = true;
  delivery.nextAt = world.clock.now();
  rows.put(delivery);
  world.timers.note(delivery.nextAt, `delivery:${id}`);
  world.tables.commit();
  return true;
}

function wants(webhook: Webhook, { type, to, except }: WorldEvent): boolean {
  const concerned = (to === undefined || webhook.accountId === to) && webhook.accountId !== except;
  return concerned && webhook.active && (webhook.events.length === 0 || webhook.events.includes(type) || webhook.events.includes("*"));
}

function newDelivery(world: World, webhook: Webhook, happening: WorldEvent, dialect: WireFormat): Delivery | undefined {
  const owner = world.accounts.get(webhook.accountId);
  if (owner === undefined) return undefined;
  const now = world.clock.now();
  const id = `evt_${world.next("event")}`;
  const { subject, type } = happening;
  const told = { id, type, at: now, owner, subject };
  const { kind, payload } = dialect.event?.(told) ?? { kind: type, payload: payloadOf(dialect, told, world.assume.deliveryDetail) };
  return {
    id,
    webhookId: webhook.id,
    agent: owner.handle,
    type: happening.type,
    ...(kind === happening.type ? {} : { word: kind }),
    payload: JSON.stringify(payload),
    createdAt: now,
    status: "pending",
    nextAt: now + (world.assume.webhookRetriesMs[0] ?? 0) * world.scale,
    attempts: [],
  };
}

/** Builds `{id, type, created_at, agent_id, data}`, with `data` in the set's form of that record. */
function payloadOf(
  dialect: WireFormat,
  { id, type, at, owner, subject }: OutgoingEvent,
  detail: Assumptions["deliveryDetail"],
): JsonObject {
  const { post, job, agent, approval } = subject;
  const data: JsonObject = {
    ...(approval === undefined
      ? {}
      : { ...dialect.record({ type: "pending", approvalId: approval.id, operation: approval.operation }, owner) }),
    ...(job === undefined ? {} : dialect.record({ type: "job", job, whole: false }, owner)),
    ...(post === undefined ? {} : dialect.record({ type: "post", post }, owner)),
    ...(agent === undefined
      ? {}
      : post === undefined
        ? dialect.record({ type: "agent", agent }, owner)
        : { by: { id: agent.id, handle: agent.handle } }),
  };
  const told = detail === "id" && "id" in data ? { id: data["id"] ?? null } : data;
  return { id, type, created_at: iso(at), agent_id: owner.id, data: told };
}

function heldBackMs(fault: DeliveryFault | undefined): number {
  if (fault?.kind === "late") return fault.ms;
  return fault?.kind === "reorder" ? HELD_BACK_MS : 0;
}

/** Rejects when aborted, even if the sender ignores its signal. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => reject(new ConnectionLost("the network has stopped"));
    if (signal.aborted) giveUp();
    signal.addEventListener("abort", giveUp, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", giveUp));
  });
}

interface SpoiltDelivery extends Delivery {
  readonly wrongSignature?: boolean;
  readonly paddingBytes?: number;
}

function queue(world: World, rows: Table<Delivery>, delivery: Delivery, fault: DeliveryFault | undefined): void {
  const row: SpoiltDelivery = {
    ...delivery,
    ...(fault?.kind === "wrong-signature" ? { wrongSignature: true } : {}),
    ...(fault?.kind === "huge" ? { paddingBytes: fault.bytes } : {}),
  };
  rows.put(row);
  world.timers.note(row.nextAt, `delivery:${row.id}`);
  for (const old of rows.all()) {
    if (rows.size <= MAX_KEPT) break;
    rows.remove(old.id);
  }
}

function wire(
  world: World,
  delivery: SpoiltDelivery,
  webhook: Webhook,
  at: number,
): { headers: Readonly<Record<string, string>>; body: string } {
  const parsed = parseJson(delivery.payload);
  if (!isObject(parsed)) throw new TypeError("expected a stored delivery to hold a JSON object");
  const payload = delivery.paddingBytes === undefined ? parsed : { ...parsed, padding: "x".repeat(delivery.paddingBytes) };
  const secret = delivery.wrongSignature === true ? `${webhook.secret}-not` : webhook.secret;
  const { webhookScheme: scheme } = world.assume;
  return sign({ scheme, secret, id: delivery.id.replace(/_again$/, ""), kind: delivery.word ?? delivery.type, payload, atMs: at });
}

function settle(world: World, rows: Table<Delivery>, delivery: Delivery, webhook: Webhook, attempt: Delivery["attempts"][number]): void {
  delivery.attempts.push(attempt);
  const received = attempt.status >= 200 && attempt.status < 300;
  const retries = world.assume.webhookRetriesMs;
  const { length } = delivery.attempts;
  const next = delivery.isRedelivered === true ? undefined : retries[length];
  if (received) delivery.status = "delivered";
  else if (next === undefined) delivery.status = "failed";
  else {
    delivery.nextAt = delivery.createdAt + next * world.scale;
    world.timers.note(delivery.nextAt, `delivery:${delivery.id}`);
  }
  webhook.failures = received ? 0 : webhook.failures + 1;
  if (world.webhooks.get(webhook.id) !== undefined) world.webhooks.put(webhook);
  if (rows.get(delivery.id) !== undefined) rows.put(delivery);
}

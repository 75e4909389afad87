/** Handles a request: authentication, limits, operation, answer. No sockets here. */
import { OPERATIONS } from "../../contract/operations.ts";
import type { EndpointSet, OperationName } from "../../contract/operations.ts";
import { TIER_LIMITS } from "../../contract/tiers.ts";
import { isObject, parseJson } from "../../core/json.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { DAY } from "../../core/units.ts";
import { hashKey } from "../world/accounts.ts";
import { Refusal } from "./exchange.ts";
import type { Answer, NetworkReply, NetworkRequest, View } from "./exchange.ts";
import { wireFormatA } from "../wire/a.ts";
import { wireFormatB } from "../wire/b.ts";
import type { WireFormat, Limits, MakeWireFormat } from "../wire/wire.ts";
import { createIdempotency } from "../world/idempotency.ts";
import { HANDLERS } from "../operations/all-operations.ts";
import { spentThisMonth } from "../world/money.ts";
import { routeOf } from "./router.ts";
import type { Table } from "../world/persistence.ts";
import { createMeter, fullWindow } from "../world/rate-limit-windows.ts";
import type { Cut, Meter } from "../world/rate-limit-windows.ts";
import type { Account, Approval } from "../world/rows.ts";
import type { World } from "../world/world.ts";

export interface RequestHandler {
  /** Answers a request at once. Its changes are committed when this returns. */
  process(set: EndpointSet, request: NetworkRequest): NetworkReply;
  /** Returns the owner of the request's key or token. */
  whose(set: EndpointSet, request: NetworkRequest): Account | undefined;
  /** Returns the requested operation; undefined if there is none. */
  operationOf(set: EndpointSet, request: NetworkRequest): OperationName | undefined;
  /** Performs an approved action and returns its HTTP status. */
  perform(approval: Approval): number;
  readonly wireFormats: { readonly [set in EndpointSet]: WireFormat };
}

interface MeterRow {
  readonly id: string;
  readonly hour: Cut;
  readonly day: Cut;
}

/** `wordings` replaces the wire format of a set. */
export function createRequestHandler(world: World, wordings: { readonly [set in EndpointSet]?: MakeWireFormat } = {}): RequestHandler {
  const wireFormats = { a: (wordings.a ?? wireFormatA)(world), b: (wordings.b ?? wireFormatB)(world) };
  const meters = createMeters(world);
  const idempotency = createIdempotency(world);
  let requests = 0;

  const decode = (set: EndpointSet, request: NetworkRequest): NetworkRequest => wireFormats[set].decode?.(request) ?? request;

  const process = (set: EndpointSet, original: NetworkRequest): NetworkReply => {
    const requestId = `req_${++requests}`;
    const dialect = wireFormats[set];
    const request = decode(set, original);
    let operation: OperationName | "" = "";
    let next: string | undefined;
    let counted = false;
    let account: Account | undefined;
    let reply: NetworkReply;
    try {
      account = authenticate(world, set, request);
      counted = admit(world, account, meters(account));
      const route = routeOf(set, request.method, request.path);
      operation = route.operation;
      if (account.suspended) throw new Refusal(403, "account_suspended", "this account is suspended");
      const body = bodyOf(world, request);
      const asked = { set, account, target: route.target, query: request.query, body, approved: false };
      const answer = (): NetworkReply => {
        const before = spentThisMonth(world, asked.account);
        const answered = HANDLERS[route.operation](world, asked);
        if ("next" in answered) next = answered.next;
        const cost = world.assume.tellsCost ? spentThisMonth(world, asked.account) - before : 0;
        return reply200(dialect, asked.account, answered, { original, cost });
      };
      reply = OPERATIONS[route.operation].effect === "read" ? answer() : idempotency(account, request, answer);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      reply = refused(dialect, error, requestId);
    }
    if (account !== undefined) {
      account.tally.requests++;
      if (reply.status === 429) account.tally.refused429++;
      world.accounts.put(account);
      world.truth.request({ at: world.clock.now(), agent: account.handle, set, operation, status: reply.status, counted });
    }
    const now = world.clock.now();
    const limits = account === undefined ? undefined : limitsOf(world, meters(account), account, now);
    const headers = { ...reply.headers, ...commonHeaders(now, requestId), ...limitHeaders(world, limits, now) };
    world.tables.commit();
    const whole = { ...reply, headers };
    return dialect.encode?.(whole, { asked: original, operation, next, limits, now }) ?? whole;
  };

  return {
    wireFormats,
    process,
    whose: (set, request) => findByKey(world, set, decode(set, request)),
    operationOf(set, request) {
      const { method, path } = decode(set, request);
      try {
        return routeOf(set, method, path).operation;
      } catch (error) {
        if (error instanceof Refusal) return undefined;
        throw error;
      }
    },
    perform: (approval) => perform(world, approval),
  };
}

/** Performs an approved action and returns its HTTP status. */
function perform(world: World, approval: Approval): number {
  const account = world.accounts.get(approval.accountId);
  const body = parseJson(approval.body);
  if (account === undefined || account.deleted || !isObject(body)) return 410;
  const operation = approval.operation as OperationName; // written only from an operation's name
  try {
    const asked = { set: approval.set, account, target: approval.target, query: {}, body, approved: true };
    return HANDLERS[operation](world, asked).status;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return error.status;
  }
}

/** Finds the account of the key. Throws `Refusal` 401. */
function authenticate(world: World, set: EndpointSet, request: NetworkRequest): Account {
  const account = findByKey(world, set, request);
  if (account === undefined)
    throw new Refusal(401, "invalid_api_key", "the key is missing, unknown or no longer valid", { "www-authenticate": "Bearer" });
  return account;
}

function findByKey(world: World, set: EndpointSet, { headers }: NetworkRequest): Account | undefined {
  const key = /^bearer +(\S+)$/i.exec(headers["authorization"] ?? "")?.[1];
  if (key === undefined) return undefined;
  const hash = hashKey(key);
  const account = world.byKey.get(hash);
  if (account !== undefined || set === "b") return account;
  const token = world.tokens.get(hash);
  if (token === undefined || token.use !== "access" || token.expiresAt <= world.clock.now()) return undefined;
  const owner = world.accounts.get(token.accountId);
  return owner?.deleted === true ? undefined : owner;
}

/** Counts the request, or throws `Refusal` 429. Returns true if it counted. */
function admit(world: World, account: Account, meter: Meter): boolean {
  const now = world.clock.now();
  const limits = TIER_LIMITS[account.tier];
  const { window, refusedCounts, retryAfter } = world.assume;
  world.truth.arrival(account.handle, now, limits);
  const full = fullWindow(meter, window, now, limits);
  if (full === undefined || refusedCounts) meter.add(now);
  if (full === undefined) return true;
  const seconds = Math.max(1, Math.ceil(full.resetMs / 1_000));
  const header: Record<string, string> =
    retryAfter === "none"
      ? {}
      : {
          "retry-after": retryAfter === "seconds" ? `${seconds}` : new Date(Math.ceil((now + full.resetMs) / 1_000) * 1_000).toUTCString(),
        };
  throw new Refusal(429, "rate_limited", `${full.limit} requests per ${full.name} are used up`, header);
}

/** Keeps the meters of all accounts, rebuilt from the request log after a restart. */
function createMeters(world: World): (account: Account) => Meter {
  const rows: Table<MeterRow> = world.tables.table("meter");
  const meters = new Map<string, Meter>();
  const meterOf = (id: string): Meter => {
    let meter = meters.get(id);
    if (meter === undefined) meters.set(id, (meter = createMeter()));
    return meter;
  };
  const since = world.clock.now() - DAY;
  for (const { agent, at, counted } of world.truth.requests()) {
    const account = world.byHandle.get(agent);
    if (account !== undefined && at > since && (counted || world.assume.refusedCounts)) meterOf(account.id).add(at);
  }
  for (const row of rows.all()) Object.assign(meterOf(row.id).anchors, { hour: row.hour, day: row.day });
  return (account) => {
    const meter = meterOf(account.id);
    return {
      ...meter,
      add(at) {
        meter.add(at);
        if (world.assume.window === "anchored") rows.put({ id: account.id, ...meter.anchors });
      },
    };
  };
}

function bodyOf(world: World, { body, headers, method }: NetworkRequest): JsonObject {
  if (body === "" || method === "GET") return {};
  if (body.length > world.assume.maxBodyBytes) throw new Refusal(413, "body_too_large", `at most ${world.assume.maxBodyBytes} bytes`);
  const type = headers["content-type"] ?? "";
  if (!/^application\/(?:[\w.+-]+\+)?json\b/i.test(type)) throw new Refusal(415, "unsupported_media_type", "send application/json");
  const parsed = parseJson(body);
  if (!isObject(parsed)) throw new Refusal(400, "invalid_json", "the body is not a JSON object");
  return parsed;
}

interface About {
  readonly original: NetworkRequest;
  /** Credits to report as the cost in the answer. */
  readonly cost: number;
}

function reply200(dialect: WireFormat, account: Account, answer: Answer, { original, cost }: About): NetworkReply {
  const single = (view: View): Json => {
    const record = { ...dialect.record(view, account), ...(cost === 0 ? {} : { cost: { amount: cost, currency: "credits" } }) };
    return dialect.single?.(view, record) ?? record;
  };
  const body =
    "view" in answer
      ? single(answer.view)
      : dialect.list(
          answer.of,
          answer.list.map((view) => dialect.record(view, account)),
          answer.next,
          original,
        );
  return { status: answer.status, headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
}

function refused(dialect: WireFormat, { status, code, message, headers }: Refusal, requestId: string): NetworkReply {
  return {
    status,
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(dialect.error(code, message, requestId, status)),
  };
}

function commonHeaders(now: number, requestId: string): Record<string, string> {
  return { date: new Date(now).toUTCString(), "x-request-id": requestId };
}

function limitsOf({ assume: { window } }: World, meter: Meter, { tier }: Account, now: number): Limits {
  const { perHour, perDay } = TIER_LIMITS[tier];
  return { hour: meter.hour(window, now, perHour), day: meter.day(window, now, perDay) };
}

function limitHeaders(world: World, limits: Limits | undefined, now: number): Record<string, string> {
  const { limitHeaders: dialect } = world.assume;
  if (dialect === "none" || limits === undefined) return {};
  const { hour, day } = limits;
  const left = (state: { limit: number; used: number }): number => Math.max(0, state.limit - state.used);
  const seconds = Math.ceil(hour.resetMs / 1_000);
  if (dialect === "x-ratelimit")
    return {
      "x-ratelimit-limit": `${hour.limit}`,
      "x-ratelimit-remaining": `${Math.min(left(hour), left(day))}`,
      "x-ratelimit-reset": `${Math.ceil(now / 1_000) + seconds}`,
    };
  return {
    "ratelimit-policy": `"hour";q=${hour.limit};w=3600, "day";q=${day.limit};w=86400`,
    ratelimit: `"hour";r=${left(hour)};t=${seconds}, "day";r=${left(day)};t=${Math.ceil(day.resetMs / 1_000)}`,
  };
}

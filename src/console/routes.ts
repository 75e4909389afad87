/** The console's interface: what a page asks and orders, as JSON. */
import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../core/clock.ts";
import { defined } from "../core/defined.ts";
import { Misconfigured, Refused, Retryable } from "../core/errors.ts";
import { isObject, textIn } from "../core/json.ts";
import { DAY, SECOND } from "../core/units.ts";
import type { TrustBreakers } from "../gateway/trust.ts";
import type { Guardian } from "../guardian/guardian.ts";
import { needsOf } from "../guardian/needs-you.ts";
import { planInput } from "../guardian/plan-input.ts";
import { showStanding, type Standing } from "../guardian/shown-standing.ts";
import type { SpecialistShown } from "../guardian/status.ts";
import { plan, type PlanRow } from "../limits/planner.ts";
import type { Dependencies } from "../runtime/dependencies.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { Caller } from "../store/orders.ts";
import type { Access, Visitor } from "./access.ts";
import { CONTENT_TYPES, EXPORT_FORMATS, exportLog } from "./export-log.ts";
import { giveOrder } from "./give-order.ts";
import type { LiveChanges } from "./live-changes.ts";
import { queryOf, type Query } from "./query.ts";
import type { SharedStatus } from "./shared-status.ts";
import { listSpecialists, SPECIALIST_STATES } from "./list-specialists.ts";

/** The part of a runtime that is shown beside its status. */
export interface ShownRuntime extends Pick<Runtime, "members" | "phase"> {
  readonly parts: Pick<Dependencies, "profile" | "zone"> & { readonly breakers: { readonly trust: Pick<TrustBreakers, "of" | "report"> } };
}

export interface RouteParts {
  readonly access: Access;
  readonly live: LiveChanges;
  readonly status: SharedStatus;
  /** Only asks. */
  readonly guardian: Guardian;
  readonly guardianOf: (caller: Caller) => Guardian;
  readonly runtime: ShownRuntime;
  readonly clock: Clock;
}

const JSON_TYPE = "application/json; charset=utf-8";
const PAGE_SIZE = 100;
const MAX_INBOX = 100;
/** Exports at once: each asks the store page after page. */
const MAX_EXPORTS = 4;

export function addRoutes(app: FastifyInstance, parts: RouteParts): void {
  const { access, status, guardianOf } = parts;
  addSession(app, access);
  addReads(app, parts);
  addExport(app, parts);
  addLive(app, parts);
  app.post("/api/orders/:name", async (request) => {
    const { who } = await access.actorOf(request);
    try {
      return await giveOrder(guardianOf({ who, from: "console" }), who, paramOf(request, "name"), request.body);
    } finally {
      status.ordered();
    }
  });
}

function addSession(app: FastifyInstance, access: Access): void {
  const shown = ({ who, role, csrf }: Visitor) => defined({ who, role, csrf });
  app.post("/api/session", async (request, reply) => {
    const token = isObject(request.body) ? textIn(request.body, "token") : undefined;
    if (token === undefined) throw new Misconfigured("query_invalid", "a login needs a token", { expected: '{"token": "…"}' });
    const { visitor, cookie } = await access.login(request, token);
    return reply.header("set-cookie", cookie).send(shown(visitor));
  });
  app.get("/api/session", async (request) => shown(await access.visitorOf(request)));
  app.delete("/api/session", async (request, reply) => {
    await access.visitorOf(request);
    return reply.header("set-cookie", access.endedCookie()).code(204).send();
  });
}

/** A read for whoever holds a token: its answer as a value, or as JSON that is made already. */
type Read = (query: Query, request: FastifyRequest) => Promise<unknown>;

function addReads(app: FastifyInstance, { access, status, guardian, runtime, clock }: RouteParts): void {
  const reads: { readonly [path: string]: Read } = {
    "/api/status": () => status.text("status", (snapshot) => snapshot),
    "/api/needs": () => status.text("needs", needsOf),
    "/api/specialists": (query) => {
      const asked = defined({
        state: query.oneOf("state", SPECIALIST_STATES),
        search: query.text("search"),
        offset: query.whole("offset"),
      });
      return status.text(`specialists ${JSON.stringify(asked)}`, (snapshot) => listSpecialists(snapshot, asked));
    },
    "/api/specialists/:handle": async (_query, request) => {
      const handle = paramOf(request, "handle");
      const { at, specialists } = await status.newest();
      const specialist = specialists.find((one) => one.handle === handle);
      if (specialist === undefined) throw new Refused("nothing_found", `there is no specialist "${handle}"`);
      return defined({ at, specialist, plan: planOf(runtime, handle, clock.now()), standing: standingOf(runtime, specialist) });
    },
    "/api/specialists/:handle/events": (query, request) =>
      guardian.events(
        defined({ handle: paramOf(request, "handle"), before: query.whole("before"), limit: query.whole("limit") ?? PAGE_SIZE }),
      ),
    "/api/specialists/:handle/jobs": (_query, request) => guardian.jobs({ handle: paramOf(request, "handle") }),
    "/api/specialists/:handle/feed": (query, request) =>
      guardian.inbox({ handle: paramOf(request, "handle"), limit: Math.min(query.whole("limit") ?? MAX_INBOX, MAX_INBOX) }),
    "/api/log": (query) =>
      guardian.log(defined({ ...logFilter(query), before: query.whole("before"), limit: query.whole("limit") ?? PAGE_SIZE })),
    "/api/orders": (query) =>
      guardian.orders(
        defined({
          subject: query.text("subject"),
          what: query.text("what"),
          since: query.whole("since"),
          search: query.text("search"),
          before: query.whole("before"),
          limit: query.whole("limit") ?? PAGE_SIZE,
        }),
      ),
    "/api/usage": (query) =>
      guardian.usage(defined({ handle: query.text("handle"), since: query.whole("since") ?? clock.now() - 7 * DAY })),
    "/api/why": (query) => guardian.why({ id: query.text("id") ?? "" }),
  };
  for (const [path, read] of Object.entries(reads))
    app.get(path, async (request, reply) => {
      await access.visitorOf(request);
      const answer = await read(queryOf(request.query), request);
      return reply.type(JSON_TYPE).send(typeof answer === "string" ? answer : JSON.stringify(answer));
    });
}

function logFilter(query: Query) {
  return defined({
    handle: query.text("handle"),
    kind: query.text("kind"),
    since: query.whole("since"),
    search: query.text("search"),
  });
}

/** The standing of a running specialist. */
function standingOf({ parts }: ShownRuntime, { handle, tier }: SpecialistShown): Standing | undefined {
  const { trust } = parts.breakers;
  return tier === undefined ? undefined : showStanding(parts.profile, { tier, trust: trust.of(handle), report: trust.report(handle) });
}

/** The plan of a running specialist, beside those that share its key or its lists. */
function planOf(runtime: ShownRuntime, handle: string, now: number): PlanRow | undefined {
  const running = runtime.members().filter(({ retired }) => !retired);
  if (!running.some(({ specialist }) => specialist.handle === handle)) return undefined;
  const { profile, zone } = runtime.parts;
  const inputs = running.map(({ specialist, keyId }) => planInput(specialist, { profile, zone, key: keyId ?? specialist.handle, now }));
  return plan(inputs).find((row) => row.handle === handle);
}

function addExport(app: FastifyInstance, { access, guardian, clock }: RouteParts): void {
  let underWay = 0;
  app.get("/api/log/export", async (request, reply) => {
    await access.visitorOf(request);
    const query = queryOf(request.query);
    const format = query.oneOf("format", EXPORT_FORMATS) ?? "jsonl";
    const filter = logFilter(query);
    if (underWay >= MAX_EXPORTS)
      throw new Retryable("exports_full", `${MAX_EXPORTS} exports of the log are under way`, {
        hint: "try again when one has ended",
        retryAt: clock.now() + 10 * SECOND,
      });
    underWay++;
    const file = Readable.from(exportLog(guardian, filter, format));
    file.once("close", () => void underWay--);
    return reply.type(CONTENT_TYPES[format]).header("content-disposition", `attachment; filename="retinue-log.${format}"`).send(file);
  });
}

function addLive(app: FastifyInstance, { access, live }: RouteParts): void {
  app.get("/api/live", async (request, reply) => {
    await access.visitorOf(request);
    follow(request, reply, { access, live });
  });
}

/** Hands the connection to the stream of changes. */
function follow(request: FastifyRequest, reply: FastifyReply, { access, live }: Pick<RouteParts, "access" | "live">): void {
  const { raw } = reply;
  const stated = Number(request.headers["last-event-id"] ?? Number.NaN);
  const reader = {
    write(text: string): number {
      raw.write(text);
      return raw.writableLength;
    },
    end: () => void raw.destroy(),
    mayRead: () =>
      access.visitorOf(request).then(
        () => true,
        () => false,
      ),
  };
  const stop = live.open(reader, Number.isSafeInteger(stated) ? stated : undefined);
  reply.hijack();
  raw.once("close", stop);
  raw.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store", "x-content-type-options": "nosniff" });
  raw.flushHeaders();
}

function paramOf(request: FastifyRequest, name: string): string {
  return (isObject(request.params) ? textIn(request.params, name) : undefined) ?? "";
}

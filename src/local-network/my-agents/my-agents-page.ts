/** The Guardian's page, My Agents: create a specialist, regenerate its key, set tier and spending limits, decide approvals. */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { isTier } from "../../contract/tiers.ts";
import { defined } from "../../core/defined.ts";
import { RetinueError } from "../../core/errors.ts";
import { confirmationPage, keyPage, loginPage, myAgentsPage, STYLE } from "./page-html.ts";
import type { LocalNetwork } from "../options.ts";

const MAX_SESSIONS = 20;
const COOKIE = "guardian";
const MAX_FAILED_LOGINS = 20;

interface Session {
  readonly id: string;
  /** In every form, so that no other site can post one. */
  readonly csrf: string;
}

type Form = URLSearchParams;

/** Adds the pages under `/guardian`. `token` is what the login asks for. */
export function guardianPages(server: FastifyInstance, network: LocalNetwork, token: string): void {
  const sessions = new Map<string, Session>();
  let failedLogins = 0;

  server.addHook("onSend", async (request, reply) => {
    if (request.url.startsWith("/guardian")) void reply.headers(SAFE_HEADERS);
  });
  server.get("/guardian/style.css", async (_request, reply) => reply.type("text/css").send(STYLE));
  server.get("/guardian", async (request, reply) => {
    if (!isOwnHost(request)) return page(reply, 421, loginPage("This page answers to its own address only."));
    const session = sessionOf(sessions, request);
    return session === undefined ? page(reply, 200, loginPage()) : page(reply, 200, myAgentsPage(network, session.csrf));
  });
  server.post("/guardian/login", async (request, reply) => {
    if (!isOwnHost(request) || !isOwnOrigin(request)) return page(reply, 403, loginPage("This form came from somewhere else."));
    if (failedLogins >= MAX_FAILED_LOGINS || !same(formOf(request).get("token") ?? "", token)) {
      failedLogins++;
      return page(
        reply,
        403,
        loginPage(failedLogins < MAX_FAILED_LOGINS ? "That is not the token." : "Too many attempts: restart the network for a new token."),
      );
    }
    const session = { id: randomBytes(24).toString("base64url"), csrf: randomBytes(24).toString("base64url") };
    sessions.set(session.id, session);
    const oldest = sessions.keys().next().value;
    if (sessions.size > MAX_SESSIONS && oldest !== undefined) sessions.delete(oldest);
    void reply.header("set-cookie", `${COOKIE}=${session.id}; HttpOnly; SameSite=Strict; Path=/guardian`);
    return reply.redirect("/guardian", 303);
  });
  for (const [name, act] of Object.entries(ACTIONS))
    server.post(`/guardian/${name}`, async (request, reply) => {
      const session = sessionOf(sessions, request);
      const form = formOf(request);
      if (!isOwnHost(request) || !isOwnOrigin(request)) return page(reply, 403, loginPage("This form came from somewhere else."));
      if (session === undefined) return page(reply, 403, loginPage("Please log in."));
      if (!same(form.get("csrf") ?? "", session.csrf))
        return page(reply, 403, myAgentsPage(network, session.csrf, "This form was out of date: try again."));
      return perform(act, network, form, session, reply);
    });
}

/** What a form does: a page to show, or nothing to go back to the list. */
type Act = (network: LocalNetwork, form: Form, csrf: string) => string | undefined;

const ACTIONS: Readonly<Record<string, Act>> = {
  create(network, form) {
    const handle = field(form, "handle").toLowerCase();
    const name = field(form, "name");
    const set = form.get("style") === "a" ? "a" : "b";
    const { key } = network.provision({ handle, tier: tierOf(form), set, ...(name === "" ? {} : { name }) });
    return keyPage(handle, key);
  },
  regenerate(network, form, csrf) {
    const handle = field(form, "handle");
    if (form.get("confirm") !== "yes") return confirmationPage(handle, csrf, form.get("style") === "a" ? "a" : "b");
    return keyPage(handle, network.regenerateKey(handle, form.get("style") === "a" ? "a" : "b"));
  },
  tier(network, form) {
    network.setTier(field(form, "handle"), tierOf(form));
    return undefined;
  },
  spending(network, form) {
    const perTransaction = credits(form, "perTransaction");
    const perMonth = credits(form, "perMonth");
    network.setSpending(field(form, "handle"), defined({ perTransaction, perMonth }));
    return undefined;
  },
  decide(network, form) {
    network.decide(field(form, "approval"), form.get("approve") === "yes");
    return undefined;
  },
};

/** What a form holds that cannot be used. */
class BadForm extends Error {}

function perform(act: Act, network: LocalNetwork, form: Form, { csrf }: Session, reply: FastifyReply): FastifyReply {
  try {
    const shown = act(network, form, csrf);
    return shown === undefined ? reply.redirect("/guardian", 303) : page(reply, 200, shown);
  } catch (error) {
    if (!(error instanceof BadForm || error instanceof RetinueError)) throw error;
    return page(reply, 422, myAgentsPage(network, csrf, error.message));
  }
}

function field(form: Form, name: string): string {
  return (form.get(name) ?? "").trim().slice(0, 200);
}

function tierOf(form: Form): "free" | "starter" | "growth" | "pro" {
  const tier = field(form, "tier");
  if (!isTier(tier)) throw new BadForm(`expected a tier, got "${tier}"`);
  return tier;
}

function credits(form: Form, name: string): number | undefined {
  const text = field(form, name);
  if (text === "") return undefined;
  const amount = Number(text);
  if (!Number.isFinite(amount) || amount < 0) throw new BadForm(`expected a number of credits, 0 or more, got "${text}"`);
  return amount;
}

const SAFE_HEADERS = {
  "content-security-policy": "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  "cache-control": "no-store",
  // Not "no-referrer": browsers then send "Origin: null" with the forms of this very page.
  "referrer-policy": "same-origin",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

function page(reply: FastifyReply, status: number, html: string): FastifyReply {
  return reply.code(status).type("text/html; charset=utf-8").send(html);
}

function formOf(request: FastifyRequest): Form {
  return new URLSearchParams(typeof request.body === "string" ? request.body : "");
}

function sessionOf(sessions: ReadonlyMap<string, Session>, request: FastifyRequest): Session | undefined {
  const id = new RegExp(`(?:^|; *)${COOKIE}=([\\w-]+)`).exec(request.headers.cookie ?? "")?.[1];
  return id === undefined ? undefined : sessions.get(id);
}

/** Against DNS rebinding: the name in the address bar must be an address, or localhost. */
function isOwnHost(request: FastifyRequest): boolean {
  return /^(localhost|[\d.]+|\[[\da-f:]+\])(:\d+)?$/i.test(request.headers.host ?? "");
}

function isOwnOrigin(request: FastifyRequest): boolean {
  const { origin, host } = request.headers;
  return origin === undefined || origin === `http://${host}`;
}

function same(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

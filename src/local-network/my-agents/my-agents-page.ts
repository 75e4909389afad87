/** The Guardian's page, My Agents: create a specialist, regenerate its key, set tier and spending limits, decide approvals. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { isTier } from "../../contract/tiers.ts";
import { isSame } from "../../core/bearer.ts";
import { systemClock } from "../../core/clock.ts";
import { defined } from "../../core/defined.ts";
import { RetinueError } from "../../core/errors.ts";
import { createGuessLimit } from "../../core/guess-limit.ts";
import { isOwnHost, isOwnOrigin, pageHeaders } from "../../core/page-origin.ts";
import { cookieHeader, cookieIn, issueSession, readSession, type PageSession } from "../../core/page-session.ts";
import { Secret } from "../../core/secret.ts";
import { confirmationPage, keyPage, loginPage, myAgentsPage, STYLE } from "./page-html.ts";
import type { LocalNetwork } from "../options.ts";

const COOKIE = "guardian";

type Form = URLSearchParams;

/** Adds the pages under `/guardian`. The login asks for `token`. */
export function guardianPages(server: FastifyInstance, network: LocalNetwork, token: string): void {
  const holder = { who: "guardian", token: new Secret(token) };
  // A browser's guesses come in real time, also where the network runs on virtual time.
  const clock = systemClock();
  const guesses = createGuessLimit(clock);
  const sessionOf = (request: FastifyRequest): PageSession | undefined =>
    readSession(cookieIn(request.headers.cookie, COOKIE), () => holder, clock.now());
  const isOwn = ({ headers }: FastifyRequest): boolean => isOwnHost(headers.host) && isOwnOrigin(headers, "http");

  server.addHook("onSend", async (request, reply) => {
    if (request.url.startsWith("/guardian")) void reply.headers(SAFE_HEADERS);
  });
  server.get("/guardian/style.css", async (_request, reply) => reply.type("text/css").send(STYLE));
  server.get("/guardian", async (request, reply) => {
    if (!isOwnHost(request.headers.host)) return page(reply, 421, loginPage("This page answers to its own address only."));
    const session = sessionOf(request);
    return session === undefined ? page(reply, 200, loginPage()) : page(reply, 200, myAgentsPage(network, session.csrf));
  });
  server.post("/guardian/login", async (request, reply) => {
    if (!isOwn(request)) return page(reply, 403, loginPage("This form came from somewhere else."));
    const given = formOf(request).get("token") ?? "";
    const guess = await guesses.check(request.ip, () => isSame(given, token));
    if (guess === "busy") return page(reply, 429, loginPage("Too many attempts wait: try again in a few seconds."));
    if (guess === "wrong") return page(reply, 403, loginPage("That is not the token."));
    const { value } = issueSession(holder, clock.now());
    void reply.header("set-cookie", cookieHeader({ name: COOKIE, value, path: "/guardian", secure: false }));
    return reply.redirect("/guardian", 303);
  });
  for (const [name, act] of Object.entries(ACTIONS))
    server.post(`/guardian/${name}`, async (request, reply) => {
      const session = sessionOf(request);
      const form = formOf(request);
      if (!isOwn(request)) return page(reply, 403, loginPage("This form came from somewhere else."));
      if (session === undefined) return page(reply, 403, loginPage("Please log in."));
      if (!isSame(form.get("csrf") ?? "", session.csrf))
        return page(reply, 403, myAgentsPage(network, session.csrf, "This form was out of date: try again."));
      return perform(act, network, form, session, reply);
    });
}

/** Runs a form and returns a page to show, or nothing to return to the list. */
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
  redeliver(network, form) {
    network.redeliver(field(form, "delivery"));
    return undefined;
  },
};

/** A form value that cannot be used. */
class BadForm extends Error {}

function perform(act: Act, network: LocalNetwork, form: Form, { csrf }: PageSession, reply: FastifyReply): FastifyReply {
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

const SAFE_HEADERS = pageHeaders("style-src 'self'");

function page(reply: FastifyReply, status: number, html: string): FastifyReply {
  return reply.code(status).type("text/html; charset=utf-8").send(html);
}

function formOf(request: FastifyRequest): Form {
  return new URLSearchParams(typeof request.body === "string" ? request.body : "");
}

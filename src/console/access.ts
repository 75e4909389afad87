/** Access to the console: whose token or session a request carries, and the checks that keep other pages out. */
import type { FastifyRequest } from "fastify";
import type { ConsolePerson, ConsoleRole, ConsoleSettings } from "../config/console-settings.ts";
import { bearerIn, isSame } from "../core/bearer.ts";
import type { Clock } from "../core/clock.ts";
import { Refused, Retryable } from "../core/errors.ts";
import type { EndedSessions } from "./ended-sessions.ts";
import { createGuessLimit, GUESS_PAUSE_MS, MAX_WAITING_GUESSES } from "../core/guess-limit.ts";
import { isOwnHost, isOwnOrigin } from "../core/page-origin.ts";
import { cookieHeader, cookieIn, issueSession, readSession, type SessionHolder } from "../core/page-session.ts";

/** The person behind a request. */
export interface Visitor {
  readonly who: string;
  readonly role: ConsoleRole;
  /** Of a session: each order carries it. Absent for a token in the header, which no browser sends by itself. */
  readonly csrf?: string;
}

type Asking = Pick<FastifyRequest, "headers" | "ip">;

export interface Access {
  /**
   * The person whose token or session the request carries. Throws `Refused` (`token_missing`, `token_wrong`, `session_over`,
   * `host_refused`, `origin_refused`) or `Retryable` (`logins_slowed`).
   */
  visitorOf(request: Asking): Promise<Visitor>;
  /** The same, for an order. Throws also `Refused` (`role_view`, `csrf_wrong`). */
  actorOf(request: Asking): Promise<Visitor>;
  /** A session for whoever states a right token, and its cookie. */
  login(request: Asking, token: string): Promise<{ readonly visitor: Visitor; readonly cookie: string }>;
  /** Ends the session of a request, with all copies of its cookie. Returns the cookie that says so. */
  logout(request: Asking): Promise<string>;
}

export interface AccessOptions {
  readonly settings: ConsoleSettings;
  readonly clock: Clock;
  readonly ended: EndedSessions;
  /** Part of the cookie's name: browsers send a cookie to every port of its host. */
  readonly port: () => number;
}

const CSRF_HEADER = "x-csrf-token";
const MAX_TOKEN_CHARS = 512;

export function createAccess({ settings, clock, ended, port }: AccessOptions): Access {
  const { url, tls, people } = settings;
  const scheme = tls === undefined ? "http" : "https";
  const personOf = (who: string): ConsolePerson | undefined => people.find((person) => person.who === who);
  const byName = (who: string): SessionHolder | undefined => holderOf(personOf(who));
  const roleOf = (who: string): ConsoleRole => personOf(who)?.role ?? "view";
  const cookieOf = (value: string): string =>
    cookieHeader({ name: `retinue_${port()}`, value, path: "/", secure: tls !== undefined || url?.protocol === "https:" });

  const byToken = createTokenCheck(clock, () => people.flatMap((person) => holderOf(person) ?? []));
  const checkPlace = ({ headers }: Asking): void => {
    if (!isOwnHost(headers.host, url))
      throw new Refused("host_refused", "the console answers to its own address alone", {
        hint: "open it by its IP address or localhost, or state its name as console.url",
      });
    if (!isOwnOrigin(headers, scheme, url))
      throw new Refused("origin_refused", "a page of another origin may not ask the console", {
        hint: "if this is the console's own name, state it as console.url",
      });
  };

  const visitorOf = async (request: Asking): Promise<Visitor> => {
    const { authorization, cookie } = request.headers;
    // The password that a proxy asks for is its own matter.
    if (authorization !== undefined && /^bearer\b/i.test(authorization)) {
      const { who } = await byToken(request, bearerIn(authorization) ?? "");
      return { who, role: roleOf(who) };
    }
    checkPlace(request);
    const value = cookieIn(cookie, `retinue_${port()}`);
    const session = readSession(value, byName, clock.now());
    if (session !== undefined && !ended.has(session.id)) return { who: session.who, csrf: session.csrf, role: roleOf(session.who) };
    if (people.every(({ readToken }) => readToken() === undefined)) throw tokenMissing();
    if (value !== undefined && value !== "") throw new Refused("session_over", "the session is over", { hint: "log in again" });
    throw new Refused("token_wrong", "log in, or send the console's token");
  };
  return {
    visitorOf,
    async actorOf(request) {
      const visitor = await visitorOf(request);
      const { who, role, csrf } = visitor;
      const given = request.headers[CSRF_HEADER];
      if (csrf !== undefined && !isSame(typeof given === "string" ? given : "", csrf))
        throw new Refused("csrf_wrong", "the order lacks the mark of its session", { hint: "reload the page" });
      if (role !== "act")
        throw new Refused("role_view", `${who} may see everything, and give no order`, { hint: "console.people states the role" });
      return visitor;
    },
    async login(request, token) {
      checkPlace(request);
      const holder = await byToken(request, token.slice(0, MAX_TOKEN_CHARS));
      const { value, session } = issueSession(holder, clock.now());
      return { visitor: { who: session.who, csrf: session.csrf, role: roleOf(session.who) }, cookie: cookieOf(value) };
    },
    async logout(request) {
      await visitorOf(request);
      const session = readSession(cookieIn(request.headers.cookie, `retinue_${port()}`), byName, clock.now());
      if (session !== undefined) await ended.add(session.id, session.until);
      return cookieOf("");
    },
  };
}

function holderOf(person: ConsolePerson | undefined): SessionHolder | undefined {
  const token = person?.readToken();
  return person === undefined || token === undefined ? undefined : { who: person.who, token };
}

function tokenMissing(): Refused {
  return new Refused("token_missing", "set RETINUE_CONSOLE_TOKEN to read this");
}

/** Finds the person who holds a token. Throws `Refused` (`token_missing`, `token_wrong`) or `Retryable` (`logins_slowed`). */
function createTokenCheck(
  clock: Clock,
  holders: () => readonly SessionHolder[],
): (request: Asking, token: string) => Promise<SessionHolder> {
  const guesses = createGuessLimit(clock);
  return async ({ ip }, token) => {
    const known = holders();
    if (known.length === 0) throw tokenMissing();
    const [found] = known.filter((holder) => isSame(token, holder.token.reveal()));
    const guess = await guesses.check(ip, () => found !== undefined);
    if (guess === "busy")
      throw new Retryable("logins_slowed", `${MAX_WAITING_GUESSES} attempts from your address wait already`, {
        hint: "try again in a few seconds",
        retryAt: clock.now() + GUESS_PAUSE_MS * MAX_WAITING_GUESSES,
      });
    if (found === undefined)
      throw new Refused("token_wrong", "this is not the console's token", {
        hint: "the demo prints it beside the console's address (My Agents has another); elsewhere RETINUE_CONSOLE_TOKEN holds it",
      });
    return found;
  };
}

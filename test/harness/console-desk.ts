/** The console over real HTTP, on a store in memory without a runtime. */
import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { request as httpsRequest } from "node:https";
import { onTestFinished } from "vitest";
import type { ConsolePerson, ConsoleSettings } from "../../src/config/console-settings.ts";
import { shippedProfile } from "../../src/contract/profile/profile.ts";
import { systemClock } from "../../src/core/clock.ts";
import { Misconfigured } from "../../src/core/errors.ts";
import { createAnnouncer, type Announcer } from "../../src/core/events.ts";
import { isObject, parseJson, textIn, type JsonObject } from "../../src/core/json.ts";
import { seededRandom } from "../../src/core/random.ts";
import { Secret } from "../../src/core/secret.ts";
import { openConsole } from "../../src/console/console.ts";
import { CERTIFICATE } from "./tls-files.ts";
import { createGuardian, type Guardian } from "../../src/guardian/guardian.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import type { Caller } from "../../src/store/orders.ts";
import type { Store } from "../../src/store/store.ts";

export const TOKEN = "the-token-of-the-guardian";
export const VIEWER = "the-token-of-vera-who-looks";
export const ACTOR = "the-token-of-anna-who-acts";

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly json: JsonObject;
}

export interface Asked {
  readonly method?: string;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: unknown;
}

export interface Session {
  readonly cookie: string;
  readonly csrf: string;
}

export interface ConsoleDesk {
  readonly url: string;
  readonly store: Store;
  readonly announcer: Announcer;
  readonly guardianOf: (caller: Caller) => Guardian;
  readonly errors: readonly unknown[];
  ask(path: string, asked?: Asked): Promise<Answer>;
  login(token?: string): Promise<Session>;
  order(session: Session, name: string, query: object): Promise<Answer>;
  /** Ends this console and opens another on the same store and port. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

/** `tokens` are the present ones: a test may change them. */
export async function consoleDesk(
  tokens: { [who: string]: string | undefined } = { guardian: TOKEN, vera: VIEWER, anna: ACTOR },
  over: Partial<ConsoleSettings> & { readonly pageFolder?: string; readonly guardianOf?: (guardian: Guardian) => Guardian } = {},
): Promise<ConsoleDesk> {
  const { pageFolder = "no such folder", guardianOf: around = (guardian) => guardian, ...settings } = over;
  const clock = systemClock();
  const store = openSqliteStore({ path: ":memory:", clock, random: seededRandom("console") });
  onTestFinished(() => store.close());
  const announcer = createAnnouncer();
  const errors: unknown[] = [];
  const guardianOf = (caller: Caller): Guardian => around(createGuardian({ store, clock, members: async () => [], caller }));
  const people = Object.keys(tokens).map((who): ConsolePerson => {
    const read = (): Secret | undefined => (tokens[who] === undefined ? undefined : new Secret(tokens[who]));
    return { who, role: who === "vera" ? "view" : "act", readToken: read };
  });
  const trust = { of: () => undefined, report: () => undefined };
  const open = (port: number) =>
    openConsole({
      settings: { host: "127.0.0.1", url: undefined, tls: undefined, login: "TOKEN", people, ...settings, port },
      clock,
      announcer,
      runtime: { members: () => [], phase: "working", parts: { profile: shippedProfile("b"), zone: "UTC", breakers: { trust } } },
      guardianOf,
      metrics: { missing: new Misconfigured("peer_missing", "no metrics here") },
      onError: (error) => void errors.push(error),
      pageFolder,
    });
  let console = await open(0);
  let isOpen = true;
  const close = async (): Promise<void> => {
    if (isOpen) await console.close();
    isOpen = false;
  };
  onTestFinished(close);
  const { url } = console;
  const ask: ConsoleDesk["ask"] = (path, asked) => askConsole(`${url}${path}`, asked);
  return {
    url,
    store,
    announcer,
    guardianOf,
    errors,
    ask,
    async login(token = TOKEN) {
      const { status, headers, json } = await ask("/api/session", { body: { token } });
      if (status !== 200) throw new Error(`the login was answered with ${status}`);
      return { cookie: (headers["set-cookie"]?.[0] ?? "").split(";")[0] ?? "", csrf: textIn(json, "csrf") ?? "" };
    },
    order: ({ cookie, csrf }, name, query) => ask(`/api/orders/${name}`, { headers: { cookie, "x-csrf-token": csrf }, body: query }),
    async restart() {
      await console.close();
      console = await open(Number(new URL(url).port));
    },
    close,
  };
}

/** Asks over a socket of its own, with any header. */
export function askConsole(url: string, { method, headers = {}, body }: Asked = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body);
    const request = (url.startsWith("https:") ? httpsRequest : httpRequest)(url, {
      ca: CERTIFICATE,
      method: method ?? (sent === undefined ? "GET" : "POST"),
      agent: false,
      headers: { ...(sent === undefined ? {} : { "content-type": "application/json" }), ...headers },
    });
    request.on("error", reject);
    request.on("response", (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (text += chunk));
      response.on("error", reject);
      response.on("end", () => {
        const json = parseJson(text);
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json: isObject(json) ? json : {} });
      });
    });
    request.end(sent);
  });
}

/** The code of an error's answer. */
export function codeOf({ json }: Answer): unknown {
  return isObject(json["error"]) ? json["error"]["code"] : undefined;
}

/** Requests to the console's server: the session, reads, and orders. A wrong answer is an error with the server's own words. */
import type { Fields, OrderName, OrderResult, Session } from "./answers.ts";
import { send } from "./browser.ts";
import { createCell } from "./cell.ts";

/** `ended`: there was one, so the view below the login keeps its state. */
export type SessionState =
  | { readonly state: "unknown" }
  | { readonly state: "none"; readonly why?: string }
  | { readonly state: "ended"; readonly who: string }
  | { readonly state: "open"; readonly session: Session };

export const sessionCell = createCell<SessionState>({ state: "unknown" });

export class ServerError extends Error {
  readonly status: number;
  readonly code: string;
  readonly hint: string | undefined;

  constructor(status: number, { code, message, hint }: { readonly code: string; readonly message: string; readonly hint?: string }) {
    super(message);
    this.status = status;
    this.code = code;
    this.hint = hint;
  }
}

const UNREACHABLE = { code: "unreachable", message: "the server does not answer", hint: "the page tries again by itself" };

/** Reads a route. The server is of the page's own version, so its answers have the types that both share. */
export async function read<Answer>(path: string, signal?: AbortSignal): Promise<Answer> {
  return (await ask("GET", path, signal === undefined ? {} : { signal })) as Answer;
}

/** Finds the session of the cookie. A refusal that no login changes is shown above the login. */
export async function openSession(): Promise<void> {
  try {
    opened(await read<Session>("/api/session"));
  } catch (error) {
    if (!(error instanceof ServerError) || error.status < 400 || error.status >= 500) throw error;
    if (error.status !== 401)
      sessionCell.set({ state: "none", why: error.hint === undefined ? error.message : `${error.message}: ${error.hint}` });
  }
}

export async function logIn(token: string): Promise<void> {
  opened((await ask("POST", "/api/session", { body: { token } })) as Session);
}

export async function logOut(): Promise<void> {
  await ask("DELETE", "/api/session", {});
  sessionCell.set({ state: "none" });
}

/** Gives an order. Another tab may have renewed the session: a stale proof of origin is read again once. */
export async function giveOrder<Result extends OrderResult = OrderResult>(name: OrderName, query: Fields): Promise<Result> {
  const give = async (): Promise<Result> => (await ask("POST", `/api/orders/${name}`, { body: query })) as Result;
  try {
    return await give();
  } catch (error) {
    if (!(error instanceof ServerError && error.code.startsWith("csrf"))) throw error;
    await openSession();
    return give();
  }
}

function opened(session: Session): void {
  sessionCell.set({ state: "open", session });
}

/** Called wherever the server says that it knows no session. */
export function sessionEnded(): void {
  const present = sessionCell.get();
  if (present.state === "open") sessionCell.set({ state: "ended", who: present.session.who });
  else if (present.state === "unknown") sessionCell.set({ state: "none" });
}

interface Asked {
  readonly body?: Fields;
  readonly signal?: AbortSignal;
}

async function ask(method: string, path: string, { body, signal }: Asked): Promise<unknown> {
  const session = sessionCell.get();
  const headers: Record<string, string> = {};
  if (body !== undefined) headers["content-type"] = "application/json";
  if (method !== "GET" && session.state === "open") headers["x-csrf-token"] = session.session.csrf;
  const init: RequestInit = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  const answer = await answerOf(path, signal === undefined ? init : { ...init, signal });
  if (answer.status === 204) return undefined;
  const said: unknown = await answer.json().catch(() => undefined);
  if (answer.ok) return said;
  if (answer.status === 401 && method + path !== "POST/api/session") sessionEnded();
  throw new ServerError(answer.status, errorIn(said) ?? { code: "failed", message: `the server answered ${answer.status}` });
}

/** The browser says of a lost connection only that it failed. An abort is ours. */
async function answerOf(path: string, init: RequestInit): Promise<Response> {
  try {
    return await send(path, init);
  } catch (error) {
    if (init.signal?.aborted === true) throw error;
    throw new ServerError(0, UNREACHABLE);
  }
}

function errorIn(said: unknown): { readonly code: string; readonly message: string; readonly hint?: string } | undefined {
  const error = fieldsOf(fieldsOf(said)["error"]);
  const [code, message, hint] = [error["code"], error["message"], error["hint"]];
  if (typeof code !== "string" || typeof message !== "string") return undefined;
  return typeof hint === "string" ? { code, message, hint } : { code, message };
}

export function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

/** The stream of changes: one tab of a browser holds it for all, since a browser opens six connections to a server at most. */
import type { Change } from "./answers.ts";
import { after, chance, now, send } from "./browser.ts";
import { createCell, type Cell } from "./cell.ts";
import { connectionOf, retryPause, SILENT_MS, type Connection, type Contact } from "./connection.ts";
import { createStreamReader } from "./event-stream.ts";
import { notify } from "./notices.ts";
import { fieldsOf, openSession, sessionCell, sessionEnded } from "./server.ts";

const LOCK = "retinue-live";
const TICK_MS = 1_000;

/** Messages between tabs. `heard`: a byte came. `hello`: a new tab asks for the state. `session`: somebody logged in or out. */
type Message =
  | { readonly type: "heard"; readonly contact: Contact; readonly lastId?: string | undefined }
  | { readonly type: "change"; readonly change: Change | undefined; readonly lastId?: string | undefined }
  | { readonly type: "hello" | "ended" | "session" };

export const connectionCell: Cell<Connection> = createCell<Connection>({ state: "reconnecting" });

const listeners = new Set<(change: Change | undefined) => void>();

/** Calls `listen` for each change; undefined stands for a change of anything, as after a reconnection. */
export function listenForChanges(listen: (change: Change | undefined) => void): () => void {
  listeners.add(listen);
  return () => void listeners.delete(listen);
}

/** Keeps the connection until `signal` is aborted. */
export function startLive(signal: AbortSignal): void {
  const channel = new BroadcastChannel(LOCK);
  let contact: Contact = { open: false, heardAt: now() };
  let lastId: string | undefined;
  let isLeader = false;

  const take = (message: Message): void => {
    if (message.type === "heard" || message.type === "change") lastId = message.lastId ?? lastId;
    if (message.type === "heard") contact = message.contact;
    else if (message.type === "change") for (const listen of listeners) listen(message.change);
    else if (message.type === "ended") sessionEnded();
    else if (message.type === "session") openSession().catch(sessionEnded);
    else if (isLeader) channel.postMessage({ type: "heard", contact, lastId } satisfies Message);
    show();
  };
  const tell = (message: Message): void => {
    take(message);
    channel.postMessage(message);
  };
  const show = (): void => {
    const next = connectionOf(contact, now());
    if (JSON.stringify(next) !== JSON.stringify(connectionCell.get())) connectionCell.set(next);
  };
  channel.addEventListener("message", ({ data }: MessageEvent<Message>) => take(data));
  channel.postMessage({ type: "hello" } satisfies Message);

  let cancelTick = after(TICK_MS, function tick() {
    show();
    cancelTick = after(TICK_MS, tick);
  });
  signal.addEventListener("abort", () => (cancelTick(), channel.close()));

  const lead = async (): Promise<void> => {
    isLeader = true;
    await holdStream({ signal, tell, lastId: () => lastId, heardAt: () => contact.heardAt });
  };
  // Without locks, as on a page that is neither local nor encrypted, each tab has a stream of its own.
  if (navigator.locks === undefined) void lead();
  else void navigator.locks.request(LOCK, { signal }, lead).catch(() => undefined); // aborted with the page
  let was = sessionCell.get().state;
  const endSession = sessionCell.listen(({ state }) => {
    if (state !== was && (state === "open" || state === "none")) channel.postMessage({ type: "session" } satisfies Message);
    was = state;
  });
  signal.addEventListener("abort", endSession);
}

interface Held {
  readonly signal: AbortSignal;
  readonly tell: (message: Message) => void;
  readonly lastId: () => string | undefined;
  /** Time of the last byte of any connection. */
  readonly heardAt: () => number;
}

/** Connects again whenever the stream ends; waits for a login while there is no session. */
async function holdStream(held: Held): Promise<void> {
  let failures = 0;
  while (!held.signal.aborted) {
    const how = await readStream(held, failures === 0, () => void (failures = 0));
    if (how === "refused") {
      held.tell({ type: "ended" });
      await sessionOpen(held.signal);
    } else await pause(retryPause(failures++, chance()), held.signal);
  }
}

/** Reads one connection to its end. A connection that falls silent is ended here. */
async function readStream({ signal, tell, lastId, heardAt }: Held, isFirstTry: boolean, opened: () => void): Promise<"refused" | "ended"> {
  const silent = new AbortController();
  let cancel = after(SILENT_MS, () => silent.abort());
  const heard = (): void => {
    cancel();
    cancel = after(SILENT_MS, () => silent.abort());
    tell({ type: "heard", contact: { open: true, heardAt: now() } });
  };
  try {
    const id = lastId();
    const headers = { accept: "text/event-stream", ...(id === undefined ? {} : { "last-event-id": id }) };
    const answer = await send("/api/live", { headers, signal: AbortSignal.any([signal, silent.signal]) });
    if (answer.status === 401) return "refused";
    if (!answer.ok || answer.body === null) {
      if (isFirstTry) await tellRefusal(answer);
      return "ended";
    }
    opened();
    heard();
    tell({ type: "change", change: undefined });
    const takePiece = createStreamReader();
    for await (const piece of piecesOf(answer.body)) {
      heard();
      for (const event of takePiece(piece))
        if (event.name === "change") tell({ type: "change", change: changeIn(event.data), lastId: event.id });
    }
    return "ended";
  } catch {
    return "ended"; // the browser does not say why; the page shows that it reconnects
  } finally {
    cancel();
    silent.abort();
    tell({ type: "heard", contact: { open: false, heardAt: heardAt() } });
  }
}

/** As when too many pages follow: the server says what to do. */
async function tellRefusal(answer: Response): Promise<void> {
  const { message, hint } = fieldsOf(fieldsOf(await answer.json())["error"]);
  if (typeof message === "string") notify(typeof hint === "string" ? `${message}: ${hint}` : message, "bad");
}

async function* piecesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield decoder.decode(value, { stream: true });
  }
}

/** A change that cannot be read is one of anything. */
function changeIn(data: string): Change | undefined {
  try {
    const { at, needs, handles, all } = fieldsOf(JSON.parse(data));
    if (typeof at !== "number" || typeof needs !== "number") return undefined;
    return Array.isArray(handles) && all !== true ? { at, needs, handles: handles.map(String) } : { at, needs };
  } catch {
    return undefined;
  }
}

function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const cancel = after(delayMs, resolve);
    signal.addEventListener("abort", () => (cancel(), resolve()), { once: true });
  });
}

function sessionOpen(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (sessionCell.get().state === "open") return resolve();
    const end = sessionCell.listen(({ state }) => state === "open" && (end(), resolve()));
    signal.addEventListener("abort", () => (end(), resolve()), { once: true });
  });
}

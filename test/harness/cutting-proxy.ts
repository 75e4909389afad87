/**
 * Stands between a store and its PostgreSQL, and ends a session at one of its statements, with the statement unheard or its answer lost, or
 * lets nothing through.
 */
import { connect, createServer, type Socket } from "node:net";
import { once } from "node:events";
import type { TestContext } from "vitest";

/** `unheard`: the server never gets the whole statement. `unanswered`: it has done it, and the answer is lost. */
export type CutKind = "unheard" | "unanswered";

export interface CuttingProxy {
  /** The same database by way of the proxy. */
  through(address: string): string;
  /** Ends the session of the first statement for which this is true, once. `count` begins at 1 with this call. */
  cutAt(kind: CutKind, isWanted: (text: string, count: number) => boolean): void;
  /** From now on nothing arrives on either side, as where packets are lost, until it is called with false. */
  silence(isSilent: boolean): void;
  /** True once it has cut. */
  readonly hasCut: boolean;
  /** The statements since the last `cutAt`, or the start. */
  readonly statements: readonly string[];
}

interface Cut {
  readonly kind: CutKind;
  readonly isWanted: (text: string, count: number) => boolean;
}

export async function startCuttingProxy({ onTestFinished }: Pick<TestContext, "onTestFinished">, port: number): Promise<CuttingProxy> {
  let cut: Cut | undefined;
  let hasCut = false;
  let isSilent = false;
  const statements: string[] = [];
  const sockets = new Set<Socket>();
  /** Returns how to end the session at this statement. */
  const said = (text: string): CutKind | undefined => {
    statements.push(text);
    if (hasCut || cut?.isWanted(text, statements.length) !== true) return undefined;
    hasCut = true;
    return cut.kind;
  };
  const server = createServer((client) => {
    const upstream = connect({ port, host: "127.0.0.1" });
    const end = (): void => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket.setNoDelay());
      socket.once("close", end).on("error", end);
      socket.once("close", () => sockets.delete(socket));
    }
    relay(client, upstream, said, end);
    if (isSilent) for (const socket of [client, upstream]) socket.pause();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, "close");
  });
  const own = server.address();
  return {
    through: (address) => address.replace(`:${port}/`, `:${typeof own === "object" ? own?.port : ""}/`),
    cutAt(kind, isWanted) {
      cut = { kind, isWanted };
      hasCut = false;
      statements.length = 0;
    },
    silence(given) {
      isSilent = given;
      for (const socket of sockets) socket[given ? "pause" : "resume"]();
    },
    get hasCut() {
      return hasCut;
    },
    statements,
  };
}

/** Passes the messages of both sides on. The server ends its answer to each statement with `Z`, and its greeting too. */
function relay(client: Socket, upstream: Socket, said: (text: string) => CutKind | undefined, end: () => void): void {
  const texts = new Map<string, string>();
  let text = "";
  let sent = 0;
  let answered = -1;
  let lostAnswer = Infinity;
  const hear = (type: string, body: Buffer): boolean => {
    const [first = "", second = ""] = body.toString("utf8").split("\0", 2);
    if (type === "P") texts.set(first, (text = second));
    if (type === "B") text = texts.get(second) ?? text;
    if (type === "Q") text = first;
    if (type !== "Q" && type !== "S") return true;
    sent++;
    const kind = said(text);
    if (kind === "unanswered") lostAnswer = sent;
    return kind !== "unheard";
  };
  client.on(
    "data",
    messages(false, (whole, type, body) => (hear(type, body) ? void upstream.write(whole) : end())),
  );
  upstream.on(
    "data",
    messages(true, (whole, type) => {
      const isLost = answered + 1 >= lostAnswer;
      if (type === "Z") answered++;
      if (isLost) return type === "Z" ? end() : undefined;
      client.write(whole);
    }),
  );
}

/** Takes a stream of messages apart: a type, a length, a body. The first one of a client has no type. */
function messages(isTyped: boolean, take: (whole: Buffer, type: string, body: Buffer) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  let typed = isTyped;
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      const head = typed ? 1 : 0;
      if (rest.length < head + 4) return;
      const length = head + rest.readInt32BE(head);
      if (rest.length < length) return;
      const whole = rest.subarray(0, length);
      rest = rest.subarray(length);
      take(whole, typed ? whole.toString("latin1", 0, 1) : "", whole.subarray(head + 4));
      typed = true;
    }
  };
}

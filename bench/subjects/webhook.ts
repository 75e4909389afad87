/** What every receiver here does first: reads the body and checks its HMAC in constant time. */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

export const SECRET = "bench-secret-of-thirty-two-bytes!";

/** What is delivered: a new post, in words that each subject understands. */
export interface Delivered {
  readonly action: "opened";
  readonly type: "post.created";
  readonly data: { readonly id: string; readonly content: string; readonly author: { readonly id: string; readonly handle: string } };
}

const WORDS = "hello, is anybody there?";

/** `contentLength` is that of its words. Default: a short sentence, in a body of 0.15 KB. */
export function delivered(n: number, contentLength = WORDS.length): Delivered {
  return {
    action: "opened",
    type: "post.created",
    data: {
      id: `e${n}`,
      content: `${WORDS} `.repeat(Math.ceil(contentLength / WORDS.length)).slice(0, contentLength),
      author: { id: "a1", handle: "bob" },
    },
  };
}

export function signatureOf(body: string | Uint8Array): string {
  return `sha256=${createHmac("sha256", SECRET).update(body).digest("hex")}`;
}

export function verified(body: Uint8Array, signature: unknown): boolean {
  const expected = Buffer.from(signatureOf(body));
  const given = Buffer.from(typeof signature === "string" ? signature : "");
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** A delivery's id as a UUID, for stores whose primary keys are UUIDs: the strictest way to take it once. */
export function uuidOf(deliveryId: string): string {
  const hex = createHash("sha256").update(deliveryId).digest("hex").slice(0, 32);
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

/** Resolves with the status to answer. */
type Take = (event: Delivered, deliveryId: string) => Promise<number>;

export interface Receiver {
  readonly port: number;
  /** Takes no more; what was taken is still answered. */
  close(): void;
}

/** Listens on any port, until the process ends. */
export async function receive(take: Take): Promise<number> {
  return (await openReceiver(take)).port;
}

/** Listens on any port. */
export async function openReceiver(take: Take): Promise<Receiver> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks);
      if (!verified(body, request.headers["x-hub-signature-256"])) return void response.writeHead(401).end();
      take(JSON.parse(body.toString()) as Delivered, String(request.headers["x-github-delivery"])).then(
        (status) => response.writeHead(status).end(),
        (error: unknown) => {
          console.error(error);
          response.writeHead(500).end();
        },
      );
    });
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the receiver has no port");
  return { port: address.port, close: () => void server.close() };
}

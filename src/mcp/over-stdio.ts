/** Serves one MCP client over the standard streams of this process. */
import type { Readable, Writable } from "node:stream";
import { loadPeer } from "../core/peer.ts";
import type { ServerFactory } from "./mcp-server.ts";
import { SERVER_PEER } from "./server-peer.ts";

/** One message of a client. */
const MAX_MESSAGE_BYTES = 1_024 * 1_024;
const MAX_SUBSCRIPTIONS = 16;

/** The standard streams as they are, whatever definitions print. */
export interface Pipes {
  readonly input: Readable;
  readonly output: Writable;
}

export interface StdioServer {
  /** Resolves when the client has gone and its calls under way have ended. */
  readonly over: Promise<void>;
  close(): Promise<void>;
}

/** Answers of a client that does not read them are bounded by reading nothing more of it. Throws `Misconfigured` (`peer_missing`). */
export async function serveOverStdio(
  factory: ServerFactory,
  { input, output }: Pipes,
  onError: (error: unknown) => void,
): Promise<StdioServer> {
  const { serveStdio, StdioServerTransport } = await loadPeer(SERVER_PEER, () => import("@modelcontextprotocol/server/stdio"));
  const transport = new StdioServerTransport(input, output, { maxBufferSize: MAX_MESSAGE_BYTES });
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const closeWire = transport.close.bind(transport);
  transport.close = async () => {
    await closeWire();
    input.destroy(); // a stream that is still open would keep the process
    resolve(factory.idle());
  };
  const paced = (): void => {
    if (!output.writableNeedDrain) return;
    input.pause();
    output.once("drain", () => void (input.destroyed || input.resume()));
  };
  const server = serveStdio(() => factory.create(), { transport, onerror: onError, maxSubscriptions: MAX_SUBSCRIPTIONS });
  input.on("data", paced);
  return { over, close: () => server.close() };
}

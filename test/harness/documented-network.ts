/** A network in an accent that serves its own OpenAPI document, over sockets. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { EndpointSet } from "../../src/contract/operations.ts";
import { systemClock } from "../../src/core/clock.ts";
import { seededRandom } from "../../src/core/random.ts";
import { createLocalNetwork } from "../../src/local-network/local-network.ts";
import type { LocalNetwork } from "../../src/local-network/options.ts";
import { accent, type Accent } from "../campaigns/accents/wire/accent.ts";
import { documentIn } from "../campaigns/accents/wire/document.ts";

export interface DocumentedNetwork {
  readonly network: LocalNetwork;
  readonly spoken: Accent;
  readonly baseUrl: string;
  readonly document: string;
  /** Paths asked for that are no operation, such as the document's. */
  readonly looks: readonly string[];
  close(): Promise<void>;
}

const RESIDENTS = {
  perMinute: { post: 0.01, reply: 0.01, like: 0, follow: 0, offer: 0.01, work: 0 },
  already: { post: 30, reply: 40, offer: 8 },
};

/** `serves`: the document is at /openapi.json. */
export async function documentedNetwork(seed: number, set: EndpointSet, serves: boolean): Promise<DocumentedNetwork> {
  const spoken = accent(seed);
  const network = createLocalNetwork({ clock: systemClock(), random: seededRandom(seed), ...spoken.network, residents: RESIDENTS });
  const document = JSON.stringify(documentIn(spoken.voice, set));
  const looks: string[] = [];
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://network.test");
    if (!pathname.startsWith("/v1/") || pathname.endsWith("/openapi.json") || pathname.endsWith("/openapi.yaml")) {
      looks.push(pathname);
      const isDocument = serves && pathname === "/openapi.json";
      return void response.writeHead(isDocument ? 200 : 404, { "content-type": "application/json" }).end(isDocument ? document : "{}");
    }
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const query = Object.fromEntries(searchParams);
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => void (body += text));
    request.on("end", () => {
      network
        .handle(set, { method: request.method ?? "GET", path: pathname, query, headers, body })
        .then((reply) => response.writeHead(reply.status, reply.headers).end(reply.body))
        .catch(() => response.destroy());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  network.start();
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await network.stop();
  };
  return { network, spoken, baseUrl: set === "b" ? `${origin}/v1` : origin, document, looks, close };
}

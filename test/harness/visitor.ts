/** Speaks to a local network by hand, without any client of ours: over its socketless core, or by raw HTTP. */
import http from "node:http";
import type { EndpointSet } from "../../src/contract/operations.ts";
import { isObject, parseJson, type Json, type JsonObject } from "../../src/core/json.ts";
import { seededRandom } from "../../src/core/random.ts";
import { virtualClock, type VirtualClock } from "../../src/core/virtual-clock.ts";
import { createLocalNetwork } from "../../src/local-network/local-network.ts";
import type { LocalNetwork, LocalNetworkOptions } from "../../src/local-network/options.ts";

export interface Heard {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The body as an object; empty where it is none. */
  readonly json: JsonObject;
}

export interface Question {
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Json;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Ask = (method: string, path: string, question?: Question) => Promise<Heard>;

export interface Lab {
  readonly clock: VirtualClock;
  readonly network: LocalNetwork;
  /** A new specialist (Pro unless said otherwise), and how it asks. */
  readonly join: (handle: string, tier?: "free" | "starter" | "growth" | "pro") => { id: string; key: string; a: Ask; b: Ask };
}

/** A network on virtual time with the same chance in every run. */
export function lab(options: Partial<LocalNetworkOptions> = {}): Lab {
  const clock = virtualClock();
  const network = createLocalNetwork({ clock, random: seededRandom(11), ...options });
  return {
    clock,
    network,
    join(handle, tier = "pro") {
      const { id, key } = network.provision({ handle, tier });
      return { id, key, a: asking(network, "a", key), b: asking(network, "b", key) };
    },
  };
}

/** Asks the network's core. */
export function asking(network: LocalNetwork, set: EndpointSet, key: string): Ask {
  return async (method, path, { query = {}, body, headers = {} } = {}) => {
    const reply = await network.handle(set, {
      method,
      path,
      query,
      headers: { authorization: `Bearer ${key}`, ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
      body: body === undefined ? "" : JSON.stringify(body),
    });
    return heard(reply.status, reply.headers, reply.body);
  };
}

/** Asks over a socket of its own. */
export function askingByHttp(baseUrl: string, key: string | undefined): Ask {
  return (method, path, { query = {}, body, headers = {} } = {}) =>
    new Promise((resolve, reject) => {
      const search = new URLSearchParams(query).toString();
      const url = `${baseUrl}${path}${search === "" ? "" : `?${search}`}`;
      const request = http.request(url, {
        method,
        agent: false,
        headers: {
          ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
      });
      request.on("error", reject);
      request.on("response", (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () => {
          const plain = Object.entries(response.headers).map(([name, value]) => [
            name,
            Array.isArray(value) ? value.join(", ") : (value ?? ""),
          ]);
          resolve(heard(response.statusCode ?? 0, Object.fromEntries(plain) as Record<string, string>, Buffer.concat(chunks).toString()));
        });
      });
      request.end(body === undefined ? undefined : JSON.stringify(body));
    });
}

function heard(status: number, headers: Readonly<Record<string, string>>, text: string): Heard {
  const json = parseJson(text);
  return { status, headers, text, json: isObject(json) ? json : {} };
}

/** The text at a path such as `error.code`; fails the test where it is not there. */
export function at(json: Json | undefined, path: string): Json {
  let value: Json | undefined = json;
  for (const step of path.split(".")) value = Array.isArray(value) ? value[Number(step)] : isObject(value) ? value[step] : undefined;
  if (value === undefined) throw new Error(`expected something at "${path}" of ${JSON.stringify(json)?.slice(0, 500)}`);
  return value;
}

export function textAt(json: Json | undefined, path: string): string {
  const value = at(json, path);
  if (typeof value !== "string") throw new Error(`expected a text at "${path}", got ${JSON.stringify(value)}`);
  return value;
}

/** The records of a list, whichever set sent it. */
export function records({ json }: Heard): JsonObject[] {
  const list = json["data"] ?? json["items"];
  if (!Array.isArray(list)) throw new Error(`expected a list, got ${JSON.stringify(json).slice(0, 300)}`);
  return list.filter((item: Json) => isObject(item));
}

/** The doctor's questions to a network in a function: each read is answered by its path and query. */
import { createClient } from "../../src/client/client.ts";
import { shippedProfile, type Profile } from "../../src/contract/profile/profile.ts";
import type { Json } from "../../src/core/json.ts";
import { Secret } from "../../src/core/secret.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import type { Ask, Finding } from "../../src/doctor/finding.ts";

export interface AskedAnswer {
  readonly status?: number;
  readonly headers?: { readonly [name: string]: string };
  readonly body: Json;
}

export interface AskedNetwork {
  readonly ask: Ask;
  /** Paths with their queries, in order. */
  readonly asked: string[];
}

/** Undefined as an answer means that the examination has used its calls. */
export function askedNetwork(
  answer: (path: string, query: URLSearchParams) => AskedAnswer | undefined,
  current: Profile = shippedProfile("b"),
): AskedNetwork {
  const asked: string[] = [];
  const spent = new Error("no call is left");
  const ask: Ask = async (call, profile = current) => {
    const client = createClient({
      profile,
      baseUrl: "http://net.test/v1",
      clock: virtualClock(),
      transport: ({ path }) => {
        const { pathname, search, searchParams } = new URL(path, "http://net.test");
        asked.push(pathname + search);
        const given = answer(pathname, searchParams);
        if (given === undefined) return Promise.reject(spent);
        const { status = 200, headers = {}, body } = given;
        return Promise.resolve({ kind: "answer", status, headers, text: JSON.stringify(body), elapsedMs: 1 });
      },
    });
    try {
      return await client.exchange(call, { key: new Secret("sk_live_0123456789") });
    } catch (error) {
      if (error === spent) return undefined;
      throw error;
    }
  };
  return { ask, asked };
}

export async function allOf(findings: AsyncIterable<Finding>): Promise<readonly Finding[]> {
  const found: Finding[] = [];
  for await (const one of findings) found.push(one);
  return found;
}

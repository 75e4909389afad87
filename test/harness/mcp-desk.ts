/** An MCP server over a desk of the test's own, and the pair of ends that joins a client to it in memory. */
import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { onTestFinished } from "vitest";
import { shippedProfile } from "../../src/contract/profile/profile.ts";
import { systemClock } from "../../src/core/clock.ts";
import type { CallQuery } from "../../src/guardian/guardian.ts";
import { createServerFactory, type Desk } from "../../src/mcp/mcp-server.ts";
import { offeredTools } from "../../src/mcp/offered-tools.ts";
import { loadServerSdk } from "../../src/mcp/server-peer.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";

/** `scout` may post, and replies after approval. Every part of the desk can be replaced. */
export async function deskServer(desk: Partial<Desk> = {}) {
  const sdk = await loadServerSdk();
  const calls: CallQuery[] = [];
  const errors: unknown[] = [];
  const none = (): Promise<never> => Promise.reject(new Error("not asked here"));
  const definition = { handle: "scout", tier: "pro", may: ["posts.create", "posts.reply"], review: ["posts.reply"] } as const;
  const { call = async () => ({ kind: "read" as const, value: ["hello"] }), ...others } = desk;
  const factory = createServerFactory(sdk, {
    handle: "scout",
    version: "1.0.0",
    tools: offeredTools(createSpecialist(definition), shippedProfile("b"), systemClock()),
    desk: {
      call: (query) => {
        calls.push(query);
        return call(query);
      },
      inbox: none,
      status: none,
      why: none,
      ...others,
    },
    onError: (error) => errors.push(error),
  });
  return { sdk, factory, calls, errors };
}

/** A client joined to it without a wire. */
export async function deskClient(desk: Partial<Desk> = {}) {
  const server = await deskServer(desk);
  const [near, far] = InMemoryTransport.createLinkedPair();
  await server.factory.create().connect(far);
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(near);
  onTestFinished(() => client.close());
  return { ...server, client };
}

/** A specialist with a receiver and a local network that delivers to it, everything over real HTTP. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createKeys } from "../../src/client/auth.ts";
import { createTransport } from "../../src/client/transport.ts";
import { resolveProfile, type Profile } from "../../src/contract/profile/profile.ts";
import { systemClock } from "../../src/core/clock.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { createLogger, type LogLine } from "../../src/core/log.ts";
import { seededRandom, systemRandom } from "../../src/core/random.ts";
import { Scrubber } from "../../src/core/scrubber.ts";
import { Secret } from "../../src/core/secret.ts";
import { livePacer } from "../../src/limits/pacing.ts";
import type { WebhookScheme } from "../../src/local-network/assumptions.ts";
import { createLocalNetwork } from "../../src/local-network/local-network.ts";
import type { ReceiverSettings } from "../../src/webhooks/receiver-settings.ts";
import { createRuntime, type Runtime } from "../../src/runtime/runtime.ts";
import type { SpecialistDefinition } from "../../src/specialist/definition.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";
import { asking, type Ask } from "./visitor.ts";

export const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

export interface WebhookLabOptions {
  readonly definition: Omit<SpecialistDefinition, "handle">;
  readonly scheme?: WebhookScheme;
  readonly profile?: object;
  readonly receiver?: Partial<ReceiverSettings>;
  /** Default true: the receiver's own address is registered. */
  readonly register?: boolean;
  readonly file?: string;
}

export interface WebhookLab {
  readonly runtime: Runtime;
  readonly store: Store;
  readonly profile: Profile;
  readonly network: ReturnType<typeof createLocalNetwork>;
  readonly log: readonly LogLine[];
  /** Where deliveries go, without the handle. */
  readonly receiverUrl: () => string;
  /** Another specialist, who asks by hand. */
  readonly other: (handle: string) => Ask;
  readonly me: Ask;
  readonly counts: (operation: string) => Promise<number>;
  stop(): Promise<void>;
}

export async function webhookLab(options: WebhookLabOptions): Promise<WebhookLab> {
  const clock = systemClock();
  const random = systemRandom();
  const network = createLocalNetwork({
    clock,
    random: seededRandom(7),
    residents: false,
    scale: 0.05,
    assume: { webhookScheme: options.scheme ?? "sha256-header" },
  });
  const listening = await network.listen({ set: "b" });
  const { key } = network.provision({ handle: "scout", tier: "pro", set: "b" });
  const folder = mkdtempSync(join(tmpdir(), "webhooks-"));
  const profile = resolveProfile({ extends: "set-b", timing: { quietMs: 2_000 }, ...options.profile });
  const store = openSqliteStore({
    path: options.file ?? join(folder, "store.sqlite"),
    clock,
    random,
    lateLandingMs: profile.timing.lateLandingMs,
  });
  const transport = createTransport({ clock });
  const scrubber = new Scrubber();
  const lines: LogLine[] = [];
  const runtime = createRuntime({
    specialists: [createSpecialist({ handle: "scout", tier: "pro", ...options.definition })],
    profile,
    baseUrl: listening.baseUrls.b ?? "",
    store,
    transport: transport.send,
    keys: createKeys({ read: () => key, salt: new Secret("salt-of-the-tests"), scrubber }),
    pacer: livePacer(clock, { spacingMs: 0 }),
    clock,
    random,
    scrubber,
    log: createLogger({ level: "debug", now: () => clock.now(), scrubber, sink: (line) => void lines.push(line) }),
    receiver: {
      port: 0,
      host: "127.0.0.1",
      url: undefined,
      allowUnsigned: false,
      local: options.register !== false,
      readSecrets: () => [new Secret(SECRET)],
      ...options.receiver,
    },
  });
  network.start();
  await runtime.start();
  const visitors = new Map<string, Ask>();
  return {
    runtime,
    store,
    profile,
    network,
    log: lines,
    receiverUrl: () => runtime.webhooks?.url ?? "",
    other(handle) {
      const known = visitors.get(handle) ?? asking(network, "b", network.provision({ handle, tier: "pro", set: "b" }).key);
      visitors.set(handle, known);
      return known;
    },
    me: asking(network, "b", key),
    counts: async (operation) => (await store.intents({ operation, limit: 1_000 })).filter(({ state }) => state === "confirmed").length,
    async stop() {
      await runtime.stop();
      await store.close();
      await transport.close();
      await network.stop();
      await listening.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export interface Posted {
  readonly status: number;
  readonly headers: Headers;
}

export async function post(
  url: string,
  delivery: { readonly headers: Readonly<Record<string, string>>; readonly body: Uint8Array },
): Promise<Posted> {
  const response = await fetch(url, { method: "POST", headers: delivery.headers, body: Buffer.from(delivery.body) });
  await response.arrayBuffer();
  return { status: response.status, headers: response.headers };
}

export function envelope(type: string, data: JsonObject, id: string): JsonObject {
  return { id, type, created_at: new Date(1_780_000_000_000).toISOString(), data };
}

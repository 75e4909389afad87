/** A specialist that is told of news by webhook, on virtual time: the local network delivers to its runtime without a socket. */
import { onTestFinished } from "vitest";
import type { Transport } from "../../src/client/transport.ts";
import { resolveProfile } from "../../src/contract/profile/profile.ts";
import { asHandle } from "../../src/core/ids.ts";
import { seededRandom } from "../../src/core/random.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import type { GateAnswer } from "../../src/webhooks/receiver/accept.ts";
import type { RawDelivery } from "../../src/webhooks/receiver/signatures.ts";
import type { Assumptions } from "../../src/local-network/assumptions.ts";
import { isObject, parseJson, sha256 } from "../../src/core/json.ts";
import { signDelivery } from "../../src/webhooks/receiver/sign.ts";
import { createLocalNetwork } from "../../src/local-network/local-network.ts";
import type { ReceiverSettings } from "../../src/webhooks/receiver-settings.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import type { Tier } from "../../src/contract/tiers.ts";
import type { SpecialistDefinition } from "../../src/specialist/definition.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";
import { plainLink } from "./plain-transport.ts";
import { asking, textAt } from "./visitor.ts";
import { virtualRuntime } from "./virtual-runtime.ts";

export const SCOUT = asHandle("scout");

export interface VirtualWebhooksOptions {
  readonly definition?: Omit<SpecialistDefinition, "handle" | "tier">;
  /** Default `pro`. */
  readonly tier?: Tier;
  readonly profile?: object;
  readonly receiver?: Partial<ReceiverSettings>;
  /** Between the runtime and the network. */
  readonly link?: (network: Transport) => Transport;
  readonly assume?: Partial<Assumptions>;
  /** Multiplies the network's own waits. */
  readonly scale?: number;
  /** How far the machine's clock is ahead of the network's. */
  readonly aheadMs?: () => number;
  /** Every delivery ends at another address, which answers 404. */
  readonly astray?: boolean;
  /** What earlier processes left in the store. */
  readonly prepare?: (store: Store) => Promise<void>;
  /** What becomes of a delivery on its way. */
  readonly altered?: (delivery: RawDelivery) => RawDelivery;
}

export async function virtualWebhooks(options: VirtualWebhooksOptions) {
  const { definition = {}, tier = "pro", profile = {}, receiver, assume = {}, scale = 1, aheadMs = () => 0 } = options;
  const { link = (plain) => plain, altered = (delivery) => delivery } = options;
  const clock = virtualClock(Date.UTC(2026, 10, 21));
  const wall = { ...clock, now: () => clock.now() + aheadMs() };
  const random = seededRandom(7);
  /** What the receiver answered to each delivery of the network. */
  const answers: GateAnswer["status"][] = [];
  const hand: { runtime?: Runtime } = {};
  const accept = async (delivery: RawDelivery): Promise<GateAnswer["status"]> =>
    (await hand.runtime?.webhooks?.accept("scout", delivery))?.status ?? 503;
  const network = createLocalNetwork({
    clock,
    random,
    residents: false,
    assume,
    scale,
    webhooks: {
      async deliver({ headers, body }) {
        const status = options.astray === true ? 404 : await accept(altered({ headers, body: Buffer.from(body) }));
        answers.push(status);
        return status;
      },
    },
  });
  const { key } = network.provision({ handle: "scout", tier, set: "b" });
  const store = openSqliteStore({ path: ":memory:", clock, random });
  if (options.prepare !== undefined) await clock.run(options.prepare(store));
  const begin = (): Runtime =>
    virtualRuntime({
      specialists: [createSpecialist({ handle: "scout", tier, ...definition })],
      transport: link(plainLink(network, "b")),
      profile: resolveProfile({ extends: "set-b", ...profile }),
      store,
      keyOf: () => key,
      clock: wall,
      random,
      receiver: { port: undefined, host: "", url: "https://bots.example.net", allowUnsigned: false, readSecrets: () => [], ...receiver },
    });
  const runtime = begin();
  hand.runtime = runtime;
  network.start();
  await clock.run(runtime.start());
  onTestFinished(async () => {
    await clock.run(hand.runtime?.stop() ?? Promise.resolve());
    await clock.run(network.stop());
    await clock.run(store.close());
  });
  const requests: { readonly operation: string; readonly at: number }[] = [];
  runtime.announcer.on("request", ({ operation }) => void requests.push({ operation, at: clock.now() }));
  const mine = asking(network, "b", key);
  return {
    clock,
    network,
    runtime,
    store,
    answers,
    requests,
    mine,
    accept,
    /** Ends the runtime, and begins another on the same store. */
    restart: async (): Promise<void> => {
      await clock.run(hand.runtime?.stop() ?? Promise.resolve());
      hand.runtime = begin();
      await clock.run(hand.runtime.start());
    },
    /** What the network holds of our webhooks. */
    registered: async () => {
      const { json } = await mine("GET", "/v1/webhooks");
      return Array.isArray(json["items"]) ? json["items"] : [];
    },
    other: (handle: string) => asking(network, "b", network.provision({ handle, tier: "pro", set: "b" }).key),
  };
}

/** What becomes of a delivery whose network tells what happened, and not to what. */
export const withoutIds =
  (secret: string) =>
  ({ body }: RawDelivery): RawDelivery => {
    const text = Buffer.from(body).toString();
    const told = parseJson(text);
    const type = isObject(told) ? (told["type"] ?? null) : null;
    return signDelivery({ scheme: "github", secret, payload: { type, nonce: sha256(text) }, id: textAt(told, "id"), at: 0 });
  };

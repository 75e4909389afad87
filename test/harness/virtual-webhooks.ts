/** A specialist that is told of news by webhook, on virtual time: the local network delivers to its runtime without a socket. */
import type { Transport } from "../../src/client/transport.ts";
import type { ProfileSource } from "../../src/contract/profile/source.ts";
import { asHandle } from "../../src/core/ids.ts";
import type { GateAnswer } from "../../src/webhooks/receiver/accept.ts";
import type { RawDelivery } from "../../src/webhooks/receiver/signatures.ts";
import type { Assumptions } from "../../src/local-network/assumptions.ts";
import { isObject, parseJson, sha256 } from "../../src/core/json.ts";
import { signDelivery } from "../../src/webhooks/receiver/sign.ts";
import type { ReceiverSettings } from "../../src/webhooks/receiver-settings.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import type { Tier } from "../../src/contract/tiers.ts";
import type { SpecialistDefinition } from "../../src/specialist/definition.ts";
import type { Store } from "../../src/store/store.ts";
import { textAt } from "./visitor.ts";
import { harness } from "./harness.ts";

export const SCOUT = asHandle("scout");

export interface VirtualWebhooksOptions {
  readonly definition?: Omit<SpecialistDefinition, "handle" | "tier">;
  /** Default `pro`. */
  readonly tier?: Tier;
  readonly profile?: Omit<ProfileSource, "extends">;
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
  /** True while deliveries are lost on their way. */
  readonly lost?: () => boolean;
  /** True if the process that starts next has no receiver. */
  readonly withoutReceiver?: () => boolean;
  /** What earlier processes left in the store. */
  readonly prepare?: (store: Store) => Promise<void>;
  /** What becomes of a delivery on its way. */
  readonly altered?: (delivery: RawDelivery) => RawDelivery;
}

export async function virtualWebhooks(options: VirtualWebhooksOptions) {
  const { definition = {}, tier = "pro", profile = {}, receiver, assume = {}, scale = 1, aheadMs = () => 0 } = options;
  const { link = (plain) => plain, altered = (delivery) => delivery } = options;
  /** What the receiver answered to each delivery of the network. */
  const answers: GateAnswer["status"][] = [];
  const hand: { runtime?: Runtime } = {};
  const accept = async (delivery: RawDelivery): Promise<GateAnswer["status"]> =>
    (await hand.runtime?.webhooks?.accept("scout", delivery))?.status ?? 503;
  const here = await harness({
    seed: 7,
    network: {
      assume,
      scale,
      webhooks: {
        async deliver({ headers, body }) {
          const status =
            options.astray === true || options.lost?.() === true ? 404 : await accept(altered({ headers, body: Buffer.from(body) }));
          answers.push(status);
          return status;
        },
      },
    },
    specialists: [{ handle: "scout", tier, ...definition }],
    profile,
    link,
    aheadMs,
    receiver: { port: undefined, host: "", url: "https://bots.example.net", allowUnsigned: false, readSecrets: () => [], ...receiver },
    withoutReceiver: () => options.withoutReceiver?.() === true,
    start: false,
  });
  const { clock, network, runtime, store } = here;
  if (options.prepare !== undefined) await clock.run(options.prepare(store));
  hand.runtime = runtime;
  await clock.run(runtime.start());
  const requests: { readonly operation: string; readonly at: number }[] = [];
  runtime.announcer.on("request", ({ operation }) => void requests.push({ operation, at: clock.now() }));
  const mine = here.as("scout");
  return {
    clock,
    network,
    runtime,
    get store() {
      return here.store;
    },
    answers,
    requests,
    mine,
    accept,
    /** Ends the runtime, and begins another on what it stored. */
    async restart(): Promise<void> {
      await here.restart();
      hand.runtime = here.runtime;
    },
    /** What the network holds of our webhooks. */
    registered: async () => {
      const { json } = await mine("GET", "/v1/webhooks");
      return Array.isArray(json["items"]) ? json["items"] : [];
    },
    other: (handle: string) => here.other(handle),
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

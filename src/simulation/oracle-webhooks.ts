/** Judges what became of webhook deliveries: what was answered for is on disk, and what was told of is handled. */
import { createHash } from "node:crypto";
import { isObject, parseJson } from "../core/json.ts";
import { DAY } from "../core/units.ts";
import type { RawDelivery } from "../webhooks/receiver/signatures.ts";
import type { LocalNetwork } from "../local-network/options.ts";
import type { Specialist } from "../specialist/specialist.ts";
import type { Disk } from "./disk.ts";

export interface WebhookOracle {
  /** Whether a delivery that the receiver says it has would survive a power cut. */
  isKept(handle: string, delivery: RawDelivery): boolean;
  /** When all is quiet: what only webhooks tell of, was taken, and never became an event. */
  unheard(now: number): readonly string[];
}

/** Rows younger than this have not been pruned. */
const KEPT_MS = 20 * DAY;

export function createWebhookOracle(
  { db, holds, observe }: Pick<Disk, "db" | "holds" | "observe">,
  network: LocalNetwork,
  specialists: readonly Specialist[],
): WebhookOracle {
  const stored = db.prepare("SELECT seq FROM delivery WHERE specialist = ? AND id IN (SELECT value FROM json_each(?))");
  const unfit = db.prepare("SELECT 1 FROM delivery WHERE specialist = ? AND state = 'parked' LIMIT 1");
  const event = db.prepare("SELECT 1 FROM event WHERE specialist = ? AND id = ?");
  // One that means events by its bytes is kept as its events.
  const meant =
    observe === undefined
      ? undefined
      : db.prepare("SELECT max(seq) AS seq FROM event WHERE specialist = ? AND delivery IN (SELECT value FROM json_each(?))");
  return {
    isKept(handle, delivery) {
      const ids = JSON.stringify(identitiesOf(delivery));
      const row = stored.get(handle, ids);
      if (row !== undefined) return holds("delivery", Number(row["seq"]));
      const event = meant?.get(handle, ids)?.["seq"];
      return typeof event === "number" && holds("event", event);
    },
    unheard(now) {
      // Posts and jobs show in lists too, where the judge looks for them; of a follower nothing else tells.
      const listening = specialists.filter(({ handle, on }) => on["follower.new"] !== undefined && unfit.get(handle) === undefined);
      const handles = new Set<string>(listening.map(({ handle }) => handle));
      const told = network
        .deliveries()
        .filter(
          ({ agent, type, status, createdAt }) =>
            handles.has(agent) && type === "follower.new" && status === "delivered" && createdAt > now - KEPT_MS,
        );
      return told.flatMap(({ agent, payload }) => {
        const id = followerIn(payload);
        return event.get(agent, `follower.new:${id}`) === undefined
          ? [`${agent} was told of its follower ${id} and never heard of it`]
          : [];
      });
    },
  };
}

/** How the row of a delivery may be called: by its id where the signature covers that, else by a hash of what it covers. */
function identitiesOf({ headers, body }: RawDelivery): readonly string[] {
  const text = Buffer.from(body).toString();
  const { signature: _signature, ...signed } = Object(parseJson(text)) as { readonly [member: string]: unknown };
  const hashes = [text, JSON.stringify(signed)].map((covered) => `sha256:${createHash("sha256").update(covered).digest("hex")}`);
  return [`id:${String(headers["webhook-id"])}`, ...hashes];
}

function followerIn(payload: string): string {
  const body = parseJson(payload);
  const data = isObject(body) ? body["data"] : undefined;
  const id = isObject(data) ? data["id"] : undefined;
  return typeof id === "string" ? id : "nobody";
}

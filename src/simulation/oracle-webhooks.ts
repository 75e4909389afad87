/** Checks webhook deliveries: an acknowledged delivery is on disk, and a reported event is handled. */
import { createHash } from "node:crypto";
import { isObject, parseJson } from "../core/json.ts";
import { DAY } from "../core/units.ts";
import type { RawDelivery } from "../webhooks/receiver/signatures.ts";
import type { LocalNetwork } from "../local-network/options.ts";
import type { Specialist } from "../specialist/specialist.ts";
import type { Disk } from "./disk.ts";

export interface WebhookOracle {
  /** Returns true if a delivery that the receiver acknowledged survives a power cut. */
  isKept(handle: string, delivery: RawDelivery): boolean;
  /** Returns acknowledged followers, reported by webhook only, that never became an event, once all is quiet. */
  unhandled(now: number): readonly string[];
}

/** Rows younger than this have not been pruned. */
const KEPT_MS = 20 * DAY;

export function createWebhookOracle(
  { db, holds }: Pick<Disk, "db" | "holds">,
  network: LocalNetwork,
  specialists: readonly Specialist[],
): WebhookOracle {
  const stored = db.prepare("SELECT seq FROM delivery WHERE specialist = ? AND id IN (SELECT value FROM json_each(?))");
  const unfit = db.prepare("SELECT 1 FROM delivery WHERE specialist = ? AND state = 'parked' LIMIT 1");
  const event = db.prepare("SELECT 1 FROM event WHERE specialist = ? AND id = ?");
  // A delivery whose bytes contain its events is kept as these.
  const reported = db.prepare("SELECT max(seq) AS seq FROM event WHERE delivery IN (SELECT value FROM json_each(?2)) AND +specialist = ?1");
  return {
    isKept(handle, delivery) {
      const ids = JSON.stringify(identitiesOf(delivery));
      const row = stored.get(handle, ids);
      if (row !== undefined) return holds("delivery", Number(row["seq"]));
      const event = reported.get(handle, ids)?.["seq"];
      return typeof event === "number" && holds("event", event);
    },
    unhandled(now) {
      // Posts and jobs also appear in lists, which the feed oracle checks; a follower is reported by webhook only.
      const listening = specialists.filter(({ handle, on }) => on["follower.new"] !== undefined && unfit.get(handle) === undefined);
      const handles = new Set<string>(listening.map(({ handle }) => handle));
      const delivered = network
        .deliveries()
        .filter(
          ({ agent, type, status, createdAt }) =>
            handles.has(agent) && type === "follower.new" && status === "delivered" && createdAt > now - KEPT_MS,
        );
      return delivered.flatMap(({ agent, payload }) => {
        const id = followerIn(payload);
        return event.get(agent, `follower.new:${id}`) === undefined
          ? [`${agent} never handled its follower ${id}, delivered by webhook`]
          : [];
      });
    },
  };
}

/** Returns the possible ids of a delivery's row: the signed id, or a hash of the signed bytes. */
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

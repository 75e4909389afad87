/** `Idempotency-Key`, if the network honours it: the same key gets the first answer again. */
import { sha256 } from "../../core/json.ts";
import { Refusal } from "../server/exchange.ts";
import type { NetworkReply, NetworkRequest } from "../server/exchange.ts";
import type { Account } from "./rows.ts";
import type { World } from "./world.ts";

const MAX_KEPT = 100_000;

interface Answered {
  readonly id: string;
  readonly at: number;
  /** The first request, to refuse a different one under the same key. */
  readonly asked: string;
  readonly reply: NetworkReply;
}

export type Idempotency = (account: Account, request: NetworkRequest, answer: () => NetworkReply) => NetworkReply;

export function createIdempotency(world: World): Idempotency {
  const kept = world.tables.table<Answered>("idempotent");
  return (account, request, answer) => {
    const key = request.headers["idempotency-key"];
    if (key === undefined || world.assume.idempotencyKeys === "ignored") return answer();
    const now = world.clock.now();
    for (const old of kept.all()) {
      if (old.at > now - world.assume.idempotencyKeyMs && kept.size <= MAX_KEPT) break;
      kept.remove(old.id);
    }
    const id = `${account.id}/${key.slice(0, 255)}`;
    const asked = sha256(`${request.method} ${request.path} ${request.body}`);
    const first = kept.get(id);
    if (first !== undefined && first.asked !== asked)
      throw new Refusal(422, "idempotency_key_reused", "this idempotency key belongs to another request");
    if (first !== undefined) return { ...first.reply, headers: { ...first.reply.headers, "idempotency-replayed": "true" } };
    const reply = answer();
    kept.put({ id, at: now, asked, reply });
    return reply;
  };
}

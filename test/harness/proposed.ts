/** A reply that waits for the Guardian's word, as a handling leaves it in a store. */
import { asEventId, asHandle, asIntentId } from "../../src/core/ids.ts";
import type { Json, JsonObject } from "../../src/core/json.ts";
import { credits, DAY } from "../../src/core/units.ts";
import { payloadHash } from "../../src/limits/approvals.ts";
import type { DraftIntent } from "../../src/specialist/intent-draft.ts";
import { DEFAULT_BRAKES } from "../../src/specialist/specialist.ts";
import type { Store } from "../../src/store/store.ts";

const SCOUT = asHandle("scout");
/** The post that it answers. */
const POST: JsonObject = { kind: "post", id: "post_7", authorHandle: "quill", content: "What is the\nbest approach?", raw: {} };

export interface Proposed {
  readonly id: string;
  readonly input: JsonObject;
  readonly now: number;
  readonly expiresAt?: number;
  /** The payload of the event; default the post that it answers. */
  readonly event?: Json;
}

/** For two credits at most, to be answered within three days. */
export async function propose(store: Store, { id, input, now, expiresAt, event: payload = POST }: Proposed): Promise<void> {
  const action = { operation: "posts.reply", target: "post_7", input } as const;
  const draft: DraftIntent = {
    ...action,
    id: asIntentId(id),
    ordinal: 0,
    effect: "reconciled",
    lane: "reply",
    conflictKey: id,
    hops: 0,
    review: { payloadHash: payloadHash(action), amount: credits(2), expiresAt: now + 3 * DAY },
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
  const event = { specialist: SCOUT, id: asEventId(`post.created:${id}`), kind: "post.created", payload, via: "poll", hops: 0 } as const;
  await store.saveAccount(SCOUT, "agt_mine", now);
  await store.recordRun(event, {
    specialist: SCOUT,
    now,
    intents: [draft],
    caps: DEFAULT_BRAKES,
    brake: () => undefined,
    report: () => undefined,
  });
}

/** An event as it happened, with its specialist's present value: what a rehearsal needs to handle it again. */
import { RECORDING_VERSION } from "../config/simulation-files.ts";
import { Refused } from "../core/errors.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { Store } from "../store/store.ts";

export interface Recording {
  readonly recording: typeof RECORDING_VERSION;
  readonly handle: string;
  readonly event: {
    readonly id: string;
    readonly kind: string;
    /** The time at which it was stored, in ms since the epoch. */
    readonly at: number;
    readonly payload: Json;
  };
  /** The specialist's id on the network, once it is known. */
  readonly account?: string;
  /** The specialist's value now; absent before its first. */
  readonly state?: JsonObject;
}

/** One event may have reached this many specialists. */
const MAX_SAME = 50;

/** Throws `Refused` (`nothing_found`) for an event that is not stored, or is stored for several specialists and none is named. */
export async function recordEvent(store: Store, id: string, handle: string | undefined): Promise<Recording> {
  const found = (await store.reads.findEvents(id, MAX_SAME)).filter(({ specialist }) => handle === undefined || specialist === handle);
  const [event, ...others] = found;
  if (event === undefined)
    throw new Refused("nothing_found", `there is no event "${id}"${handle === undefined ? "" : ` of ${handle}`}`, {
      hint: "retinue why <action> shows the event that led to it, and retinue log those that failed",
    });
  if (others.length > 0)
    throw new Refused("nothing_found", `"${id}" reached ${found.map(({ specialist }) => specialist).join(", ")}`, {
      hint: "name one with --as",
    });
  const state = store.loadState(event.specialist);
  const { accountId } = await store.loadSpecialist(event.specialist);
  return {
    recording: RECORDING_VERSION,
    handle: event.specialist,
    event: { id: event.id, kind: event.kind, at: event.createdAt, payload: event.payload },
    ...(accountId === undefined ? {} : { account: accountId }),
    ...(Object.keys(state).length === 0 ? {} : { state }),
  };
}

/** One pass over each kind of work of a specialist, in the order of the flow. */
import { learnAccount } from "../gateway/own-account.ts";
import type { Member } from "../gateway/member.ts";
import { handleEvents } from "../handlers/handle-events.ts";
import { readFor } from "../handlers/reads.ts";
import { resolveInDoubt } from "../outbox/resolve-in-doubt.ts";
import { sendIntents } from "../outbox/send.ts";
import { pollSources } from "../polling/poll-lists.ts";
import { followWatches } from "../polling/poll-watches.ts";
import { startSchedules } from "../schedule/fire.ts";
import type { WorkKind } from "../store/sources.ts";
import { readAgain, takeDeferred, takeDeliveries } from "../webhooks/process-deliveries.ts";
import type { Dependencies } from "./dependencies.ts";

/** Returns true if there may be more right away. */
type Pass = (parts: Dependencies, member: Member) => Promise<boolean>;

export const PASSES: { readonly [part in WorkKind]: Pass } = {
  deliveries: takeDeliveries,
  sources: async (parts, member) => {
    await learnAccount(parts, member);
    const more = await pollSources(parts, member);
    return (await readAgain(parts, member, "sources")) || more;
  },
  watches: async (parts, member) => {
    const more = await followWatches(parts, member);
    return (await readAgain(parts, member, "watches")) || more;
  },
  schedules: startSchedules,
  async events(parts, member) {
    const more = await handleEvents(parts, member, (who, call, options) => readFor(parts, who, call, options));
    if (!more) takeDeferred(parts, member);
    return more;
  },
  intents: sendIntents,
  doubts: resolveInDoubt,
};

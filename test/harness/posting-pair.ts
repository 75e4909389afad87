/** A local network on virtual time and two specialists that post every minute and watch the feed, to be restarted and looked at. */
import type { DriftPolicy } from "../../src/contract/reading/pinned-fields.ts";
import type { ProfileSource } from "../../src/contract/profile/source.ts";
import { createAnnouncer } from "../../src/core/events.ts";
import type { VirtualClock } from "../../src/core/virtual-clock.ts";
import type { LocalNetwork } from "../../src/local-network/options.ts";
import type { Guardian } from "../../src/guardian/guardian.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { defined } from "../../src/core/defined.ts";
import { harness } from "./harness.ts";

export interface Stage {
  readonly clock: VirtualClock;
  readonly network: LocalNetwork;
  /** The one that runs now. */
  readonly runtime: () => Runtime;
  readonly guardian: () => Guardian;
  /** Ends the runtime and starts another on what the first one stored. */
  restart(changes?: Omit<ProfileSource, "extends">): Promise<void>;
  /** Ends the runtime, lets a person look at what it left, and starts it again. */
  asleep(look: (guardian: Guardian) => Promise<void>): Promise<void>;
  readonly parked: string[];
  /** Requests of a handle so far, by method and first word of the path. */
  requests(handle: string): number;
  asked(pattern: RegExp): number;
  /** When a handle asked for what matches, since then. */
  times(handle: string, pattern: RegExp, since: number): readonly number[];
}

const HANDLES = ["ann", "ben"];

/** They post every minute, unless told otherwise. */
export async function stage(
  options: {
    readonly drift?: DriftPolicy;
    readonly spoil?: (path: string, text: string) => string;
    /** How often they post. Default `1m`. */
    readonly every?: string;
    /** Posts of others in a minute. Default 2. */
    readonly news?: number;
    /** Told of each post that is handled. */
    readonly onPost?: (handle: string, post: string) => void;
  } = {},
): Promise<Stage> {
  const log: { readonly handle: string; readonly line: string; readonly at: number }[] = [];
  const handles = new Map<string, string>();
  const announcer = createAnnouncer();
  const parked: string[] = [];
  announcer.on("parked", ({ handle, code }) => void parked.push(`${handle} ${code}`));
  const here = await harness({
    seed: 5,
    network: { residents: { perMinute: { post: options.news ?? 2, reply: 0, like: 0, offer: 0, work: 0, follow: 0 } } },
    specialists: HANDLES.map((handle) => ({
      handle,
      tier: "starter",
      may: ["posts.create"],
      watch: { feed: true },
      on: { "post.created": (post) => options.onPost?.(handle, post.id) },
      schedules: { talk: { every: options.every ?? "1m", run: (act) => void act.post(`${handle} at ${act.now}`) } },
    })),
    link:
      (plain, { clock }) =>
      async (request) => {
        const { method, path, headers } = request;
        const line = `${method} ${path.split("?", 1)[0]}`;
        log.push({ handle: handles.get(headers["authorization"] ?? "") ?? "", line, at: clock.now() });
        const answer = await plain(request);
        return answer.kind === "answer" ? { ...answer, text: options.spoil?.(line, answer.text) ?? answer.text } : answer;
      },
    announcer,
    ...defined({ profile: options.drift === undefined ? undefined : { drift: options.drift } }),
    start: false,
  });
  const { clock, network } = here;
  for (const handle of HANDLES) handles.set(`Bearer ${here.keyOf(handle)}`, handle);
  await clock.run(here.runtime.start());
  return {
    clock,
    network,
    runtime: () => here.runtime,
    guardian: () => here.guardian,
    restart: (changes) => here.restart(changes),
    asleep: (look) => here.restart({}, look),
    parked,
    requests: (handle) => log.filter((entry) => entry.handle === handle).length,
    times: (handle, pattern, since) =>
      log.filter((one) => one.handle === handle && one.at >= since && pattern.test(one.line)).map(({ at }) => at - since),
    asked: (pattern) => log.filter(({ line }) => pattern.test(line)).length,
  };
}

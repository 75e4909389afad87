/** Assembles one local network: tables, world, timers, deliveries, request handler, residents. */
import { createTimers } from "./world/timers.ts";
import { DEFAULT_ASSUMPTIONS } from "./assumptions.ts";
import { createDeliveries, deliverByHttp } from "./webhooks/deliver.ts";
import type { Deliveries } from "./webhooks/deliver.ts";
import { createRequestHandler } from "./server/handle.ts";
import type { RequestHandler } from "./server/handle.ts";
import { createFaults } from "./faults/network-faults.ts";
import type { FaultBook } from "./faults/network-faults.ts";
import { takeDueStep } from "./world/job-lifecycle.ts";
import { COMMUNITIES } from "./seed-content.ts";
import type { LocalNetworkOptions } from "./options.ts";
import { createResidents } from "./residents/residents.ts";
import type { Residents } from "./residents/residents.ts";
import { openTables } from "./world/persistence.ts";
import { checkDeliverable, rebuildTask } from "./residents/jobs/job-kinds.ts";
import { openGroundTruth } from "./ground-truth.ts";
import { openWorld } from "./world/world.ts";
import type { Keep, World } from "./world/world.ts";

const DEFAULT_KEEP: Keep = { posts: 20_000, jobs: 5_000, requests: 200_000, effects: 1_000_000 };

export interface Assembly {
  readonly world: World;
  readonly requestHandler: RequestHandler;
  readonly faults: FaultBook;
  readonly deliveries: Deliveries;
  readonly residents: Residents | undefined;
}

/** Throws `Misconfigured` if the data file cannot be used. */
export function assemble(options: LocalNetworkOptions): Assembly {
  const { clock, random, window, residents } = options;
  const tables = openTables(options.data);
  const keep = { ...DEFAULT_KEEP, ...options.keep };
  const faults = createFaults(random.fork("faults"));
  // Timers, deliveries and world refer to each other; nothing is due before this function returns.
  const timers = createTimers(clock, (key, now) => dispatch(key, now));
  const deliveries = createDeliveries({
    world: () => world,
    dialect: () => requestHandler.wireFormats.b,
    faults,
    deliver: options.webhooks?.deliver ?? deliverByHttp,
    rows: tables.table("delivery"),
  });
  const world = openWorld({
    clock,
    random,
    secrets: options.secrets ?? random,
    tables,
    keep,
    scale: options.scale ?? 1,
    assume: { ...DEFAULT_ASSUMPTIONS, ...(window === undefined ? {} : { window }), ...options.assume },
    truth: openGroundTruth(tables, keep),
    timers,
    rebuildInput: (task) => rebuildTask(task).input,
    tell: (place, happening) => deliveries.tell(place, happening),
  });
  foundCommunities(world);
  const requestHandler = createRequestHandler(world, options.wireFormats);
  const people = residents === undefined || residents === false ? undefined : createResidents(world, residents, tables.table("plan"));
  const dispatch = (key: string, now: number): void => {
    const [what, id = ""] = key.split(":", 2);
    if (what === "job") {
      const job = world.jobs.get(id);
      if (job !== undefined) takeDueStep(world, job, now, checkDeliverable);
    } else if (what === "delivery") deliveries.attempt(id, now);
    else people?.act(id, now);
    tables.commit();
  };
  tables.commit();
  return { world, requestHandler, faults, deliveries, residents: people };
}

function foundCommunities(world: World): void {
  if (world.communities.size > 0) return;
  for (const [handle, name, description] of COMMUNITIES)
    world.communities.put({ id: `com_${world.next("community")}`, handle, name, description, createdAt: world.clock.now(), members: [] });
}

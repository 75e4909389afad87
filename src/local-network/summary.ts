/** Totals of the specialists' actions, by the network's own count. */
import type { Tally } from "./world/rows.ts";
import type { World } from "./world/world.ts";

export interface Summary {
  readonly jobs: Readonly<Pick<Tally, "seen" | "applied" | "assigned" | "delivered" | "accepted" | "rejected" | "paid">>;
  readonly network: { readonly requests: number; readonly refused429: number };
}

/** Excludes residents and the Guardian. `seen` counts each job once per specialist that it was shown to. */
export function summarise(world: World, handles?: readonly string[]): Summary {
  const jobs = { seen: 0, applied: 0, assigned: 0, delivered: 0, accepted: 0, rejected: 0, paid: 0 };
  const network = { requests: 0, refused429: 0 };
  const wanted = handles === undefined ? undefined : new Set(handles);
  for (const { kind, handle, tally } of world.accounts.all()) {
    if (kind !== "specialist" || wanted?.has(handle) === false) continue;
    for (const what of Object.keys(jobs) as (keyof typeof jobs)[]) jobs[what] += tally[what];
    network.requests += tally.requests;
    network.refused429 += tally.refused429;
  }
  return { jobs, network };
}

/** A process of a fleet as a look shows it, without shards. */
import type { FleetProcess } from "../../src/store/postgres/fleet-view.ts";

export const fleetProcess = (number: number): FleetProcess => ({
  number,
  name: `web:${number}`,
  version: "0.1.0",
  startedAt: 0,
  draining: false,
  present: true,
  shards: [],
});

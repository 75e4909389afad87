/** A store on PostgreSQL: from event to effect, beside the durable queues that keep their work on the same server, and our own file. */
import { goal, type Goal } from "../harness/suite.ts";
import { effectSuite, type Contender } from "./effect.ts";

const KEEPS = "event, intent, attempt";
const OURS: Contender = { name: "Retinue on PostgreSQL", file: "retinue.ts", needs: "postgres", keeps: KEEPS };

/** Together, beside one. */
const SEVERAL: readonly (Contender & { readonly least: number })[] = [
  { ...OURS, name: "Retinue on PostgreSQL, two processes", processes: 2, least: 0.9 },
  { ...OURS, name: "Retinue on PostgreSQL, four processes", processes: 4, least: 0.75 },
];

/** With the least effects a second that ours makes beside each, at 16 and 64 in flight. */
const PEERS: readonly (Contender & { readonly least: number })[] = [
  { name: "Retinue in a file", file: "retinue.ts", keeps: KEEPS, least: 0.5 },
  { name: "pg-boss 12.35.0", file: "pg-boss.js", needs: "postgres", keeps: "job", least: 1.2 },
  { name: "DBOS 5.3.0", file: "dbos.js", needs: "postgres", keeps: "workflow", least: 3 },
];

const WHY = "each group of commits waits for one round trip to the server and its flush";
const SHARED_MACHINE = "all processes, the server, the sender and the network share the processors of this machine";

export const suite = effectSuite({
  name: "fleet",
  title: "A store on PostgreSQL: event to effect",
  contenders: [OURS, ...SEVERAL, ...PEERS],
  judge(contenders, of) {
    const goals: Goal[] = [];
    const ratios: Record<string, number> = {};
    const isIn = (one: Contender): boolean => contenders.includes(OURS) && contenders.some(({ name }) => name === one.name);
    for (const { least, ...peer } of PEERS.filter(isIn))
      for (const inFlight of [16, 64]) {
        const ratio = of(OURS, inFlight, "effects") / of(peer, inFlight, "effects");
        goals.push(goal(`effects/s at ${inFlight}, beside ${peer.name}`, { least }, ratio, " ×", WHY));
        if (inFlight === 16) ratios[`effects/s on PostgreSQL: Retinue ÷ ${peer.name}`] = ratio;
      }
    for (const { least, ...several } of SEVERAL.filter(isIn))
      for (const inFlight of [16, 64]) {
        const ratio = of(several, inFlight, "effects") / of(OURS, inFlight, "effects");
        goals.push(goal(`effects/s at ${inFlight}, ${several.name.split(", ")[1]} beside one`, { least }, ratio, " ×", SHARED_MACHINE));
      }
    if (contenders.includes(OURS))
      goals.push(goal("statements that write, for an event at 64", { most: 1 }, of(OURS, 64, "statements"), "", WHY));
    return { goals, ratios };
  },
});

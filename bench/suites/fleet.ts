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

/**
 * They take deliveries and poll nothing: ten thousand that poll would hide what an event costs. Both are measured after as many events,
 * with which each of the many has got its rows, and for a minute, in which the server does its upkeep (autovacuum) once: it costs a shorter
 * measurement nothing, or too much.
 */
const SIZES: readonly (Contender & { readonly specialists: number })[] = [100, 10_000].map((specialists) => ({
  ...OURS,
  name: `Retinue on PostgreSQL, ${specialists.toLocaleString("en")} specialists that poll nothing`,
  specialists,
  type: "mention.created",
  settings: { polls: false },
  warmUp: 20_000,
  seconds: 60,
}));
/** Flat is within this share, in percent. */
const FLAT = 20;

/** With the least effects a second that ours makes beside each, at 16 and 64 in flight. */
const PEERS: readonly (Contender & { readonly least: number })[] = [
  { name: "Retinue in a file", file: "retinue.ts", keeps: KEEPS, least: 0.5 },
  { name: "pg-boss 12.35.0", file: "pg-boss.js", needs: "postgres", keeps: "job", least: 1.2 },
  { name: "DBOS 5.3.0", file: "dbos.js", needs: "postgres", keeps: "workflow", least: 3 },
];

const WHY = "each group of commits waits for one round trip to the server and its flush";
const OF_MANY =
  "quota and usage are counted in rows of a key and a specialist: those of few are counted many times before they are written, those of many once or twice";
const SHARED_MACHINE = "all processes, the server, the sender and the network share the processors of this machine";

export const suite = effectSuite({
  name: "fleet",
  title: "A store on PostgreSQL: event to effect",
  contenders: [OURS, ...SEVERAL, ...SIZES, ...PEERS],
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
    const [few, many] = SIZES;
    const costOf = (one: Contender, inFlight: number): number => of(one, inFlight, "cpuMs") + of(one, inFlight, "serverMs");
    if (few !== undefined && many !== undefined && contenders.includes(few) && contenders.includes(many))
      for (const inFlight of [16, 64])
        goals.push(
          goal(
            `processor of an event at ${inFlight}, 10,000 specialists beside 100`,
            { most: FLAT },
            (costOf(many, inFlight) / costOf(few, inFlight) - 1) * 100,
            " %",
            OF_MANY,
          ),
        );
    if (contenders.includes(OURS))
      goals.push(goal("statements that write, for an event at 64", { most: 1 }, of(OURS, 64, "statements"), "", WHY));
    return { goals, ratios };
  },
});

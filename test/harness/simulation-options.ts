/**
 * What a campaign runs for a seed: a world drawn small. Each seed has some of the cast, few kinds of faults and its own habits
 * of network and people, since what comes together hides one another (Groce et al., Swarm Testing, ISSTA 2012).
 */
import { credits } from "retinue";
import { resolveProfile, type Profile } from "../../src/contract/profile/profile.ts";
import { seededRandom, type Random } from "../../src/core/random.ts";
import type { Assumptions, WebhookScheme } from "../../src/local-network/assumptions.ts";
import type { TrafficRates } from "../../src/simulation/background-traffic.ts";
import type { FaultChoice, FaultRates } from "../../src/simulation/faults.ts";
import type { SimulateOptions } from "../../src/simulation/simulate-options.ts";
import type { SpecialistDefinition } from "../../src/specialist/definition.ts";
import { glutton, patron, regular, worker, type Appetite, type Offering } from "./simulation-cast.ts";

/** Of Free's quota: what uses up two hours in a row, and what uses up a day. */
const HOURLY: Appetite = { every: "6h", reads: 140 };
const DAILY: Appetite = { every: "3h", reads: 125 };

/** Of what a patron may spend in a day: twenty small offers, or a few that use it up. */
const MANY: Offering = { every: "30m", dearest: 2 };
const DEAR: Offering = { every: "3h", dearest: 14 };

/** Everybody, as usual. */
export const CAST: readonly SpecialistDefinition[] = [worker, patron(DEAR), regular, glutton({ every: "6h", reads: 100 })];

/** What goes wrong together, and often. A seed draws a few of them. */
const THEMES: { readonly [name: string]: Partial<FaultRates> } = {
  loss: { lostRequests: 0.12, lostReplies: 0.12, refusedConnections: 0.03 },
  lateness: { lateLandings: 0.3, slowReplies: 0.1 },
  strays: { veryLateLandings: 0.2, lostRequests: 0.05 },
  failures: { failedBefore: 0.12, failedAfter: 0.12, spoiltBodies: 0.05 },
  stale: { staleReads: 1, lostReplies: 0.15 },
  blind: { blindReads: 1, lostReplies: 0.1 },
  limits: { limited: 0.2 },
  crashes: { crashes: 60 },
  stops: { stopsPerDay: 24, outagesPerDay: 6 },
  clocks: { clockJumpsPerDay: 8 },
  slips: { clockSlipsPerDay: 24 },
  keys: { keyRotationsPerDay: 12 },
  halts: { haltsPerDay: 8 },
  sender: { lostDeliveries: 0.1, wrongSignatures: 0.1, doubledDeliveries: 0.3, reorderedDeliveries: 0.2, lateDeliveries: 0.2 },
  storms: { followStormsPerDay: 12 },
};
const MOST_THEMES = 4;
/** What goes wrong among several processes, whatever else does. */
const FLEET: Partial<FaultRates> = { crashes: 15, stopsPerDay: 12, disconnectionsPerDay: 12, departuresPerDay: 6 };

const SCHEMES: readonly WebhookScheme[] = ["sha256-header", "standard", "stripe", "github", "in-body"];

export function course(seed: number, hours: number): SimulateOptions {
  const random = seededRandom(`course ${seed}`);
  const chance = (share: number): boolean => random.next() < share;
  const set = chance(0.2) ? "a" : "b";
  const priced = chance(0.25);
  const specialists = castOf(random, set === "b", priced);
  const faults = faultsOf(random);
  const webhooks = chance(0.5) || isOfDeliveries(faults);
  const crowd = crowdOf(random);
  const habits = habitsOf(random);
  const profile = profileOf(random, set, priced);
  const rushesPerDay = chance(0.4) ? 6 : 0;
  const several = chance(0.25);
  return {
    specialists,
    seed,
    hours,
    faults: several && typeof faults === "object" ? { ...FLEET, ...faults } : faults,
    ...(several ? { processes: 3 } : {}),
    set,
    webhooks,
    crowd: { ...crowd, rushesPerDay },
    assume: { ...habits, ...(priced ? { prices: { "jobs.apply": 1, "posts.reply": 1 } } : {}) },
    profile,
  };
}

function faultsOf(random: Random): FaultChoice {
  const kind = random.next();
  if (kind < 0.1) return "all";
  if (kind < 0.2) return "swarm";
  const names = Object.keys(THEMES);
  const drawn = Array.from({ length: 1 + random.int(MOST_THEMES) }, () => THEMES[random.pick(names)] ?? {});
  return Object.assign({ pileUps: random.next() < 0.5 ? 0 : 0.15 }, ...drawn) as Partial<FaultRates>;
}

/** Where nobody is told of anything, no delivery goes wrong. */
function isOfDeliveries(faults: FaultChoice): boolean {
  return typeof faults === "object" && (faults.followStormsPerDay ?? faults.lostDeliveries) !== undefined;
}

/** One of the cast at least; those who are hungry use up an hour, a day or neither. */
function castOf(random: Random, hasStarter: boolean, priced: boolean): readonly SpecialistDefinition[] {
  const tier = hasStarter && random.next() < 0.15 ? "starter" : "free";
  const cast: readonly SpecialistDefinition[] = [
    { ...worker, tier, ...(priced ? { spend: { perDay: credits(100) } } : {}) },
    patron(random.pick([MANY, DEAR])),
    regular,
    glutton(random.pick([HOURLY, DAILY])),
  ];
  const some = cast.filter(() => random.next() < 0.5);
  return some.length === 0 ? [random.pick(cast)] : some;
}

function crowdOf(random: Random): Omit<TrafficRates, "rushesPerDay"> {
  return {
    postsPerHour: random.pick([2, 8, 8, 24]),
    repliesPerHour: random.pick([0, 3, 6]),
    jobsPerHour: random.pick([0, 3, 6]),
    followsPerHour: random.pick([0, 1, 4]),
    takesPerHour: random.pick([0, 6, 60]),
  };
}

function habitsOf(random: Random): Partial<Assumptions> {
  return {
    window: random.pick(["sliding", "sliding", "fixed", "anchored"]),
    repeatedVote: random.pick(["toggles", "ignored"]),
    tellsVoters: random.next() < 0.5,
    webhookScheme: random.pick(SCHEMES),
    deliveryDetail: random.pick(["record", "id"]),
    retryAfter: random.pick(["seconds", "date", "none"]),
    limitHeaders: random.pick(["none", "none", "x-ratelimit", "ratelimit-draft"]),
    idempotencyKeys: random.next() < 0.1 ? "honoured" : "ignored",
    ownVote: random.pick(["shown", "shown", "blank", "left-out"]),
  };
}

/** At times of a network where words and applications cost something as well, or of which a person says that no vote is to be sent again. */
function profileOf(random: Random, set: "a" | "b", priced: boolean): Profile {
  const price = { micros: 1_000_000, currency: "credits" };
  return resolveProfile({
    extends: set === "a" ? "set-a" : "set-b",
    operations: {
      ...(priced ? { "jobs.apply": { price }, "posts.reply": { price } } : {}),
      ...(random.next() < 0.25 ? { "posts.vote": { effect: "at-most-once" } } : {}),
    },
  });
}

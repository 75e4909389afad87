/** What tests of specialists import: virtual time, a local network, a store in memory, and whole simulated weeks. */
export { virtualClock, type VirtualClock } from "./core/virtual-clock.ts";
export { systemClock, type Clock } from "./core/clock.ts";
export { seededRandom, type Random } from "./core/random.ts";
export { silentLogger } from "./core/log.ts";
export { createLocalNetwork } from "./network/network.ts";
export type { Listening, LocalNetwork, LocalNetworkOptions, NewSpecialist, Provisioned } from "./network/local-network.ts";
export type { DeliveryMishap, Fault, Mishap } from "./network/faults.ts";
export type { Effect, GroundTruth } from "./network/truth.ts";
export { DELIVERY_SCHEMES, signDelivery, type DeliveryScheme, type DeliveryToSign, type SignedDelivery } from "./intake/webhook/sign.ts";
export { openSqliteStore, type SqliteStoreOptions } from "./store/sqlite/store.ts";
export { simulate, type Simulation } from "./simulation/simulate.ts";
export type { SimulateOptions } from "./simulation/options.ts";
export { FAULT_NAMES, type FaultChoice, type FaultName, type FaultRates } from "./simulation/faults.ts";
export type { Violation } from "./simulation/judge.ts";
export type { Tally } from "./simulation/tally.ts";
export { world, SITUATIONS, type Situation, type World, type WorldOptions } from "./simulation/world.ts";

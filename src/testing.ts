/** Entry point for tests of specialists: virtual time, a local network, a store in memory, and simulated weeks. */
export { virtualClock, type VirtualClock } from "./core/virtual-clock.ts";
export { systemClock, type Clock } from "./core/clock.ts";
export { seededRandom, type Random } from "./core/random.ts";
export { silentLogger } from "./core/log.ts";
export { createLocalNetwork } from "./local-network/local-network.ts";
export type { Listening, LocalNetwork, LocalNetworkOptions, NewSpecialist, Provisioned } from "./local-network/options.ts";
export type { DeliveryFault, FaultRule, Fault } from "./local-network/faults/network-faults.ts";
export type { Effect, GroundTruth, RequestLine } from "./local-network/ground-truth.ts";
export { DELIVERY_SCHEMES, signDelivery, type DeliveryScheme, type DeliveryToSign, type SignedDelivery } from "./webhooks/receiver/sign.ts";
export {
  handle,
  type Handled,
  type HandledIntent,
  type HandledKind,
  type HandledPayload,
  type HandleOptions,
  type ReadAnswers,
  type ToolAnswers,
} from "./simulation/handle-in-test.ts";
export { loadSpecialist, type GivenSpecialist } from "./simulation/given-in-test.ts";
export { record, replay, type RunRecording } from "./simulation/replay-in-test.ts";
export { stage, type StageIntent, type TestStage, type TestStageOptions } from "./simulation/stage-in-test.ts";
export type { HaltedTime, StagePromises } from "./simulation/stage-promises.ts";
export { agent, approvalRequest, community, job, like, post, receipt, reply, searchResult, stats } from "./simulation/sample-records.ts";
export {
  scriptedModel,
  type ModelRequest,
  type Script,
  type ScriptedCall,
  type ScriptedModel,
  type ScriptedReply,
} from "./simulation/scripted-model.ts";
export type { FetchAnswers, ServiceAnswer } from "./simulation/answering-fetch.ts";
export { simulate, type Simulation } from "./simulation/simulate.ts";
export type { SimulateOptions, SimulationProgress } from "./simulation/simulate-options.ts";
export type { CrowdOptions } from "./simulation/background-traffic.ts";
export type { CrowdJob } from "./simulation/crowd-words.ts";
export { FAULT_NAMES, type FaultChoice, type FaultName, type FaultRates } from "./simulation/faults.ts";
export type { Violation } from "./simulation/oracle.ts";
export type { SimulationStats } from "./simulation/stats.ts";
export { networkSituation, SITUATIONS, type Situation, type NetworkSituation, type SituationOptions } from "./simulation/situation.ts";

/** A stage for tests: the real runtime on virtual time, with specialists under test, others who act as told, and promises to check. */
import type { EndpointSet } from "../contract/operations.ts";
import { shippedProfile, type Profile } from "../contract/profile/profile.ts";
import type { Job, Post } from "../contract/records.ts";
import { Misconfigured } from "../core/errors.ts";
import { isObject, parseJson, type Json, type JsonObject } from "../core/json.ts";
import { CREDITS, DAY, durationMs, HOUR, MINUTE, showDuration, type Duration } from "../core/units.ts";
import type { VirtualClock } from "../core/virtual-clock.ts";
import type { ModelConfig } from "../config/model-settings.ts";
import { limitsOf } from "../gateway/permissions.ts";
import { createGuardian, type Guardian } from "../guardian/guardian.ts";
import type { Effect, RequestLine } from "../local-network/ground-truth.ts";
import type { LocalNetwork } from "../local-network/options.ts";
import type { Intent } from "../outbox/intent.ts";
import type { CrowdOptions } from "./background-traffic.ts";
import type { CrowdJob } from "./crowd-words.ts";
import { fetchOf, type FetchAnswers } from "./answering-fetch.ts";
import type { Disk } from "./disk.ts";
import { moneyCounted } from "./invariants.ts";
import { checkNames, specialistsOf, type GivenSpecialist, type NamesOf } from "./given-in-test.ts";
import type { Violation } from "./oracle.ts";
import { job, post } from "./sample-records.ts";
import { SITUATIONS, UNHURRIED, type Setting, type Situation } from "./situation.ts";
import { openStage, type Stage } from "./stage.ts";
import { modelInTest, openStagedModels, requireModels, type StagedModels } from "./staged-models.ts";
import { createStagePromises, type StagePromises } from "./stage-promises.ts";

/** Options of a stage: the specialists under test, and the network on which they live. */
export interface TestStageOptions {
  readonly specialists: readonly GivenSpecialist[];
  /** Default `"empty"`: nobody else acts but for the test. */
  readonly situation?: Situation;
  /** The same seed gives the same run. Default 1. */
  readonly seed?: number;
  readonly set?: EndpointSet;
  /** Default: the set's own, as shipped. */
  readonly profile?: Profile;
  /** The network also sends webhooks (Set B). */
  readonly webhooks?: boolean;
  /** Answers `act.fetch`. Default: refuses every request (`no_fetch`). */
  readonly fetch?: FetchAnswers;
  /**
   * Models by name, mostly one of `scriptedModel`. They are asked over HTTP while virtual time stands still; no key is sent. Each model that
   * a behaviour asks has to be given (`model_missing`).
   */
  readonly models?: { readonly [name: string]: ModelConfig };
  /** Others who post, reply and offer jobs all the time. Default: nobody. */
  readonly crowd?: CrowdOptions;
}

/** An action of a specialist, as it is now. */
export type StageIntent = Pick<
  Intent,
  "id" | "specialist" | "operation" | "target" | "input" | "state" | "label" | "code" | "message" | "createdRef" | "createdAt"
>;

/** The real runtime on virtual time. Time passes only in `advance`, `assign`, `approve` and the promises. */
export interface TestStage extends StagePromises, AsyncDisposable {
  readonly clock: VirtualClock;
  readonly network: LocalNetwork;
  /** A post of another account (default: ada). */
  post(fields: { readonly content: string; readonly community?: string }, as?: string): Promise<Post>;
  /** A reply of another account. */
  reply(to: { readonly id: string }, fields: { readonly content: string }, as?: string): Promise<Post>;
  /** A job that another account offers; it accepts whatever is delivered. Its deadline is a day away if not given. */
  offerJob(offer: CrowdJob, as?: string): Promise<Job>;
  /** Lets time pass until the network has given the job to this specialist, which has to apply for it within a day. */
  assign(job: { readonly id: string }, handle: string): Promise<void>;
  /** Lets time pass. Rejects if a promise of Retinue breaks meanwhile. */
  advance(time: Duration): Promise<void>;
  /** Ends the process at once, like `kill -9`. It starts again after a while. */
  crash(): void;
  /** Cuts the specialists off the network for this time, beginning now. */
  outage(time: Duration): void;
  /** Orders of a person: halt, pause, approve, why, status. */
  guardian<Answer>(order: (guardian: Guardian) => Promise<Answer>): Promise<Answer>;
  /** Approves an action that waits for its Guardian. */
  approve(intent: { readonly id: string }): Promise<void>;
  /** The actions decided so far, oldest first: the last 10,000. */
  intents(handle?: string): Promise<readonly StageIntent[]>;
  /** Amount that is spent or held, in units of the currency: `"usd"` for models. Default credits. */
  spent(handle?: string, currency?: string): number;
  /** The requests that reached the network, by its own record, oldest first: the last 100,000. */
  requests(handle?: string): readonly RequestLine[];
  /** The writes that took effect, by the network's own record, oldest first. */
  effects(handle?: string): readonly Effect[];
  stop(): Promise<void>;
}

const OPTIONS: NamesOf<TestStageOptions> = {
  specialists: true,
  situation: true,
  seed: true,
  set: true,
  profile: true,
  webhooks: true,
  fetch: true,
  models: true,
  crowd: true,
};
const KEPT_REQUESTS = 100_000;
/** A test is about its specialists; the memory of the runtime is the subject of simulations, which compare it far more often. */
const COMPARED_EVERY = 1_000;
const MAX_INTENTS = 10_000;
/** Longest time in which a process that crashed starts again. */
const RESTART_MS = DAY;
const VISITOR = "ada";

/** Opens a stage, on which the specialists have just started. End it by `stop`, or by `await using`. */
export async function stage(options: TestStageOptions): Promise<TestStage> {
  const { situation = "empty", set = "b", specialists: definitions, fetch: _answers, models: given, crowd, ...rest } = options;
  if (!Array.isArray(definitions) || definitions.length === 0)
    throw new Misconfigured("specialists_empty", "expected at least one specialist on the stage, got none");
  checkNames(options, OPTIONS);
  if (!Object.hasOwn(SITUATIONS, situation))
    throw new Misconfigured("option_invalid", `there is no situation ${JSON.stringify(situation)}`, {
      expected: `one of ${Object.keys(SITUATIONS).join(", ")}`,
    });
  const specialists = specialistsOf(definitions);
  const { residents, assume, faults = [] }: Setting = SITUATIONS[situation];
  const profile = options.profile ?? shippedProfile(set);
  for (const { tier } of specialists) limitsOf(tier, profile); // throws for a tier that the network does not have
  requireModels(specialists, given ?? {}, modelInTest);
  const models = given && (await openStagedModels(given));
  const opened = openStage(
    {
      ...rest,
      models,
      set,
      specialists,
      faults: "none",
      keptRequests: KEPT_REQUESTS,
      comparedEvery: COMPARED_EVERY,
      profile,
      fetch: fetchOf(options.fetch),
      ...(crowd === undefined ? {} : { crowd }),
      ...(residents === undefined ? {} : { residents: { ...UNHURRIED, ...residents } }),
      ...(assume === undefined ? {} : { assume }),
    },
    specialists,
  );
  const { network, machine } = opened;
  const handles = specialists.map(({ handle }): string => handle);
  for (const { share, fault } of faults) for (const agent of handles) network.faults.add({ fault, probability: share, match: { agent } });
  network.start();
  if (crowd !== undefined) opened.crowd.start();
  machine.boot();
  const staged = createTestStage(opened, handles, set, models);
  await staged.advance(MINUTE);
  if (machine.runtimes()[0]?.phase !== "working") throw new Error(`the specialists did not start: ${opened.tally.errors().join("; ")}`);
  return staged;
}

function createTestStage(opened: Stage, handles: readonly string[], set: EndpointSet, models: StagedModels | undefined): TestStage {
  const { clock, network, machine, parts } = opened;
  let stopped: Promise<void> | undefined;
  const visit = createVisitors(network, set, () => clock.now());
  const own = (handle: string | undefined): readonly string[] => {
    if (handle === undefined) return handles;
    if (!handles.includes(handle))
      throw new Misconfigured("specialist_unknown", `${handle} is not on this stage`, { expected: handles.join(" or ") });
    return [handle];
  };
  const advance = async (time: Duration): Promise<void> => {
    if (stopped !== undefined) throw new Error("the stage has ended: nothing happens on it");
    const known = opened.violations().length;
    if (!(await clock.runUntil(() => parts.some(({ oracle }) => oracle.violations.length > known), durationMs(time)))) return;
    throw new Error(`a promise of Retinue broke: ${opened.violations().slice(known).map(violationText).join("; ")}`);
  };
  const guardian = async <Answer>(order: (guardian: Guardian) => Promise<Answer>): Promise<Answer> => {
    await clock.runUntil(() => machine.runtimes()[0]?.phase === "working", RESTART_MS);
    const [[store], [runtime]] = [machine.stores(), machine.runtimes()];
    if (store === undefined || runtime === undefined) throw new Error(`the process did not start within ${showDuration(RESTART_MS)}`);
    return clock.run(order(createGuardian({ store, clock, live: { runtime, startedAt: clock.now(), baseUrl: "" } })), HOUR);
  };
  const intents = async (handle?: string): Promise<readonly StageIntent[]> => {
    const wanted = own(handle);
    await clock.runUntil(() => machine.stores().length > 0, RESTART_MS);
    const rows = await clock.run(machine.stores()[0]?.intents({ limit: MAX_INTENTS }) ?? Promise.resolve([]), HOUR);
    return rows.filter(({ specialist }) => wanted.includes(specialist)).toReversed();
  };
  const requests = (handle?: string): readonly RequestLine[] => ofAgents(network.truth.requests(), own(handle));
  const effects = (handle?: string): readonly Effect[] => ofAgents(network.truth.effects(), own(handle));
  const stop = async (): Promise<void> => {
    opened.heal();
    await clock.run(machine.stop(), HOUR);
    await clock.run(network.stop());
    for (const { disk } of parts) disk.close();
    await models?.close();
  };
  const staged: Omit<TestStage, keyof StagePromises> = {
    clock,
    network,
    ...visit,
    async assign({ id }, handle) {
      own(handle);
      const account = network.find(handle)?.id;
      const given = (): boolean => network.jobs().some((one) => one.id === id && one.assigneeId === account);
      if (!(await clock.runUntil(given, DAY)))
        throw new Error(`${id} was not given to ${handle} within a day: ${whyUnassigned(network, id, account)}`);
    },
    advance,
    crash: () => machine.kill(),
    outage(time) {
      opened.setOutage(true);
      clock.after(durationMs(time), () => opened.setOutage(false));
    },
    guardian,
    approve: ({ id }) =>
      guardian(async (person) => {
        const { approval } = await person.why({ id });
        await person.approve({ id, hash: approval?.hash ?? "" });
      }),
    intents,
    spent: (handle, currency = CREDITS) => parts.reduce((sum, { disk }) => sum + countedOf(disk, own(handle), currency), 0),
    requests,
    effects,
    stop: () => (stopped ??= stop()),
    [Symbol.asyncDispose]: () => (stopped ??= stop()),
  };
  return { ...staged, ...createStagePromises({ ...staged, handles, truth: network.truth }) };
}

function violationText({ promise, what }: Violation): string {
  return `${promise} ${what}`;
}

function countedOf({ db }: Disk, handles: readonly string[], currency: string): number {
  return handles.reduce((sum, handle) => sum + moneyCounted(db, handle, currency), 0);
}

function whyUnassigned(network: LocalNetwork, id: string, account: string | undefined): string {
  const job = network.jobs().find((one) => one.id === id);
  if (job === undefined) return "there is no such job";
  const applied = job.applications.some(({ accountId }) => accountId === account);
  return `${applied ? "it has applied" : "it has not applied"}, and the job is ${job.status}`;
}

function ofAgents<Line extends { readonly agent: string }>(lines: readonly Line[], handles: readonly string[]): readonly Line[] {
  return lines.filter(({ agent }) => handles.includes(agent));
}

/** Other accounts, each made when it first acts. */
function createVisitors(network: LocalNetwork, set: EndpointSet, now: () => number): Pick<TestStage, "post" | "reply" | "offerJob"> {
  const keys = new Map<string, string>();
  const send = async (handle: string, path: string, body: JsonObject): Promise<JsonObject> => {
    const key = keys.get(handle) ?? network.provision({ handle, tier: "pro", set }).key;
    keys.set(handle, key);
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const reply = await network.handle(set, { method: "POST", path, query: {}, headers, body: JSON.stringify(body) });
    const answer = parseJson(reply.body);
    if (reply.status >= 300 || !isObject(answer))
      throw new Error(`the network refused ${handle}: ${reply.status} ${reply.body.slice(0, 500)}`);
    return answer;
  };
  const author = (handle: string) => ({ authorHandle: handle, authorId: network.find(handle)?.id ?? "" });
  return {
    async post(fields, handle = VISITOR) {
      const raw = await send(handle, "/v1/posts", { ...fields });
      return post({ id: idIn(raw, "post"), ...fields, ...author(handle), raw });
    },
    async reply(to, fields, handle = VISITOR) {
      const raw = await send(handle, `/v1/posts/${to.id}/reply`, { ...fields });
      return post({ id: idIn(raw, "reply"), parentId: to.id, ...fields, ...author(handle), raw });
    },
    async offerJob({ title, description = title, skills = [], reward = 1, input, deadlineMs = DAY }, handle = VISITOR) {
      const deadlineAt = now() + deadlineMs;
      const about = { title, description, skills: [...skills], reward };
      const deadline = new Date(deadlineAt).toISOString();
      const raw = await send(handle, "/v1/jobs", { ...about, deadline, ...(input === undefined ? {} : { input }) });
      return job({ id: idIn(raw, "job"), ...about, deadlineMs: deadlineAt, ...author(handle), raw });
    },
  };
}

/** A set may send the record alone, or by its name. */
function idIn(answer: JsonObject, name: string): string {
  const inner: Json | undefined = answer[name];
  const id = isObject(inner) ? inner["id"] : answer["id"];
  if (typeof id !== "string") throw new Error(`expected the id of a ${name}, got ${JSON.stringify(answer).slice(0, 500)}`);
  return id;
}

/** Manages the specialists' accounts with the Guardian's own key: through the gateway, with a store, and so a quota, of its own. */
import type { Config } from "../config/config.ts";
import { createDefinitionLoader } from "../config/definitions.ts";
import type { Environment } from "../config/environment.ts";
import { keyReference, keyVariable } from "../config/key-sources.ts";
import { throwMistakes } from "../config/problem.ts";
import { loadProfile } from "../config/profile-file.ts";
import { checkRosterKeys, type Roster } from "../config/roster.ts";
import { storeFile } from "../config/store-address.ts";
import type { Call } from "../contract/call.ts";
import type { Profile } from "../contract/profile/profile.ts";
import type { Agent } from "../contract/records.ts";
import { defined } from "../core/defined.ts";
import { foreignCode } from "../core/error-codes.ts";
import { Misconfigured, Refused, Retryable } from "../core/errors.ts";
import type { Secret } from "../core/secret.ts";
import { checkReachable } from "../doctor/reach.ts";
import type { GatewayAnswer } from "../gateway/gateway-answer.ts";
import type { Member } from "../gateway/member.ts";
import { readResult } from "../gateway/read-result.ts";
import { recordCall, type Calling } from "../guardian/call-operation.ts";
import { DONE, failedEnd } from "../guardian/record-orders.ts";
import type { Intent } from "../outbox/intent.ts";
import type { Dependencies } from "../runtime/dependencies.ts";
import { asConfigured, requireBaseUrl } from "../runtime/launch.ts";
import { createSpecialist } from "../specialist/specialist.ts";
import type { Caller } from "../store/orders.ts";
import { MEMORY } from "../store/sqlite/database.ts";
import type { Context } from "./command.ts";
import { GUARDIAN_VARIABLE } from "./key-file.ts";
import { launchOn, openStage } from "./session.ts";
import { shellUser } from "./shell-user.ts";

/** The handle under which the Guardian's requests stand in its store. */
const GUARDIAN = "guardian";
const NEEDED = ["agents.list", "agents.create", "agents.update", "agents.delete"] as const;
type Needed = (typeof NEEDED)[number];
const MAX_PAGES = 50;

/** The result of a write. */
export interface Performed {
  readonly intent: string;
  readonly agent: Agent | undefined;
  /** The key that the network issued. */
  readonly apiKey: Secret | undefined;
}

export interface Provisioning {
  readonly profile: Profile;
  /** All agents of the Guardian. Throws `Refused` or `Retryable` if they cannot all be read. */
  list(): Promise<readonly Agent[]>;
  /** Sends one recorded write once. Throws `Refused` if it did not happen, `Retryable` (`answer_lost`) if it may have. */
  perform(call: Calling & { readonly operation: Needed }): Promise<Performed>;
}

/** The file of the Guardian's own store, beside that of the specialists: the commands work while they run. */
export function provisioningStore({ store }: Config): string {
  const path = storeFile(store);
  return path === MEMORY ? MEMORY : `${path.replace(/\.sqlite$/, "")}-guardian.sqlite`;
}

/** Throws `Misconfigured` (`operation_not_in_set`, `guardian_key_missing`) before any request. */
export async function planProvisioning(config: Config): Promise<Profile> {
  requireBaseUrl(config);
  const profile = asConfigured(await loadProfile(config.network.profile), config);
  const lacking = NEEDED.filter((name) => profile.operations.get(name)?.unsupported !== undefined);
  if (lacking.length > 0)
    throw new Misconfigured("operation_not_in_set", `Set ${profile.set.toUpperCase()} has no ${lacking.join(" and no ")}`, {
      expected: "a network of Set B, or a profile that states these operations",
      hint: "here agents and their keys are managed on the network's own dashboard, under My Agents",
    });
  const { environment, cwd } = config;
  const isStated = [GUARDIAN_VARIABLE, `${GUARDIAN_VARIABLE}_FILE`].some((name) => environment.get(name) !== undefined);
  const reference = keyReference({ handle: GUARDIAN }, guardianOnly(environment), cwd);
  if (!isStated || reference.read() === undefined)
    throw new Misconfigured("guardian_key_missing", "there is no key of the Guardian, which manages the agents", {
      expected: `the Guardian's own key in ${isStated ? reference.source : GUARDIAN_VARIABLE}, not that of a specialist`,
      hint: `set ${GUARDIAN_VARIABLE} in the environment or in .env, or ${GUARDIAN_VARIABLE}_FILE to a file that holds it`,
    });
  return profile;
}

/** Starts a runtime of the Guardian alone, for this work only. */
export async function withProvisioning<Result>(
  context: Context,
  given: Config,
  profile: Profile,
  work: (provisioning: Provisioning) => Promise<Result>,
): Promise<Result> {
  const config = {
    ...given,
    specialists: {},
    environment: guardianOnly(given.environment),
    store: { kind: "sqlite" as const, path: provisioningStore(given) },
  };
  const specialist = createSpecialist({ handle: GUARDIAN, may: [...NEEDED] });
  const roster: Roster = { set: profile.set, definitions: [{ file: "the Guardian", specialist }], drafts: [], problems: [] };
  throwMistakes(checkRosterKeys(roster, config));
  const baseUrl = requireBaseUrl(config);
  await checkReachable(baseUrl, context.clock);
  const stage = openStage(context, undefined);
  try {
    const loader = createDefinitionLoader(context.clock);
    const launched = await launchOn(stage, { config, baseUrl, profile, roster, loader, warnings: [] }, { passive: true });
    try {
      await launched.start();
      const { parts } = launched.runtime;
      const member = launched.runtime.member(GUARDIAN);
      if (member === undefined) throw new TypeError("expected the Guardian to be launched");
      return await work({
        profile,
        list: () => listAgents(parts, member),
        perform: (call) => recorded(parts, shellUser(context.env), call, () => perform(parts, member, call)),
      });
    } finally {
      await launched.stop();
    }
  } finally {
    stage.close();
  }
}

/** The environment in which the Guardian's key stands where a specialist's would. */
function guardianOnly(environment: Environment): Environment {
  const [asked, held] = [keyVariable(GUARDIAN), GUARDIAN_VARIABLE];
  const own = [asked, `${asked}_FILE`];
  const name = (wanted: string): string => (own.includes(wanted) ? wanted.replace(asked, held) : wanted);
  const get: Environment["get"] = (wanted) => environment.get(name(wanted));
  return {
    ...environment,
    get,
    describe: (wanted) => environment.describe(name(wanted)),
    entries: (prefix) => [
      ...environment.entries(prefix).filter(([one]) => !own.includes(one)),
      ...own.flatMap((one): [string, string][] => {
        const value = one.startsWith(prefix) ? get(one) : undefined;
        return value === undefined ? [] : [[one, value]];
      }),
    ],
  };
}

async function listAgents({ gateway, ending }: Dependencies, member: Member): Promise<readonly Agent[]> {
  const agents: Agent[] = [];
  let call: Call | undefined = { operation: "agents.list", input: {} };
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const answer: GatewayAnswer = await gateway.read(member, call, { signal: ending });
    refuseKey(answer);
    const result = readResult(answer);
    if (result.kind === "wait")
      throw new Retryable("quota_waits", `the agents cannot be listed now: ${result.message}`, { retryAt: result.until });
    if (result.kind === "failed") throw new Retryable(result.code, `the agents could not be listed: ${result.message}`);
    if (result.kind !== "value") throw new Refused(result.code, `the agents could not be listed: ${result.message}`);
    const { items = [], next, skipped = 0 } = result.value;
    if (skipped > 0)
      throw new Refused("unreadable", `${skipped} of the agents in the list cannot be read`, { hint: "retinue doctor drafts a profile" });
    agents.push(...items.filter((record) => record.kind === "agent"));
    if (next?.cursor === undefined) return agents;
    call = { operation: "agents.list", input: { cursor: next.cursor } };
  }
  throw new Refused("unreadable", `the list of agents has more than ${MAX_PAGES} pages`);
}

/** A row with who gave the order and what came of it, beside that of the action. */
async function recorded(
  { store, clock }: Dependencies,
  caller: Caller,
  { operation, target, input }: Calling,
  work: () => Promise<Performed>,
): Promise<Performed> {
  const { handle } = input;
  const subject = typeof handle === "string" ? handle : target;
  const seq = await store.noteOrder({ ...caller, at: clock.now(), what: operation, ...defined({ subject }) });
  try {
    const performed = await work();
    await store.endOrder(seq, { result: DONE });
    return performed;
  } catch (error) {
    await store.endOrder(seq, failedEnd(error));
    throw error;
  }
}

async function perform(parts: Dependencies, member: Member, call: Calling): Promise<Performed> {
  const { store, gateway } = parts;
  const id = await recordCall(parts, member, call);
  const intent = await store.findIntent(id);
  if (intent?.state !== "ready")
    throw new Refused(foreignCode(intent?.code ?? "call_lost"), `${call.operation} was refused: ${intent?.message ?? id}`);
  const answer = await gateway.send(member, intent);
  if (answer.kind === "answered" && answer.outcome.class === "confirmed") {
    const { record, secrets } = answer.outcome;
    return { intent: id, agent: record?.kind === "agent" ? record : undefined, apiKey: secrets?.apiKey };
  }
  const failure = failureOf(answer, call, parts.clock.now());
  await end(parts, intent, failure);
  throw failure;
}

/** The Guardian is told, and repeats the command: nothing is left for the outbox to send. */
async function end({ store, clock }: Dependencies, { seq, id }: Intent, { code, message }: Refused | Retryable): Promise<void> {
  const now = clock.now();
  const state = (await store.findIntent(id))?.state;
  if (state === "ready")
    await store.moveIntent({ seq, by: "outbox", change: { state: code === "answer_lost" ? "parked" : "refused", code, message }, now });
  if (state === "in_doubt") await store.moveIntent({ seq, by: "read-back", change: { state: "parked", code, message }, now });
}

function failureOf(answer: GatewayAnswer, { operation }: Calling, now: number): Refused | Retryable {
  if (answer.kind === "waits")
    return new Retryable("quota_waits", `${operation} was not sent: ${answer.message}`, { retryAt: answer.until });
  if (answer.kind === "refused")
    return new Refused(answer.code, `${operation} was not sent: ${answer.message}`, answer.code === "price_unknown" ? UNPRICED : {});
  if (answer.kind === "gone") return new Refused("call_lost", `${operation} was not sent`);
  const { outcome } = answer;
  switch (outcome.class) {
    case "unauthorized":
      return keyRefused();
    case "refused":
      return new Refused(outcome.code, `the network refuses ${operation}: ${outcome.message}`);
    case "limited":
      return new Retryable("limited", `${operation} did not happen: the network answered ${outcome.status}`, {
        retryAt: now + (outcome.retryAfterMs ?? 0),
        hint: "run the command again later",
      });
    case "pending":
      return new Refused(
        "pending_approval",
        `${operation} waits for a decision on the network's dashboard: ${outcome.message ?? "it said no more"}`,
      );
    case "never-left":
      return new Retryable("network_unreachable", `${operation} was not sent: ${outcome.reason}`);
    default:
      return new Retryable("answer_lost", `the answer to ${operation} was lost, so it may have happened`);
  }
}

const UNPRICED = { hint: 'state it in the config file: prices: { "agents.create": "free" }, or an amount with a cap for it' };

function keyRefused(): Refused {
  return new Refused("guardian_key_refused", "the network refuses the Guardian's key (401)", {
    hint: `put the present one into ${GUARDIAN_VARIABLE}; the key of a specialist cannot manage agents`,
  });
}

function refuseKey(answer: GatewayAnswer): void {
  if (answer.kind === "answered" && answer.outcome.class === "unauthorized") throw keyRefused();
  if (answer.kind === "waits" && answer.rule === "key_unusable") throw keyRefused();
}

/** Examines a network with reads only, and proposes a profile for it. */
import type { Call } from "../contract/call.ts";
import { shippedProfile, type Profile } from "../contract/profile/profile.ts";
import type { EndpointSet } from "../contract/operations.ts";
import type { Exchange } from "../client/client.ts";
import type { WireAnswer } from "../client/transport.ts";
import { isReadableRecord } from "../contract/reading/fields.ts";
import { examineOrder, examinePaging, scalarsBeside } from "./examine-paging.ts";
import { examineErrors, examineLists, examineWords, FEED, LISTS, listsOf, type ListOperation, type Samples } from "./examine-records.ts";
import { examineBeside, examineSingles } from "./examine-objects.ts";
import { examineValues } from "./examine-values.ts";
import { isLimitHeader, proposeCounters, proposeLimitHeaders } from "./meanings.ts";
import { applied } from "./draft-profile.ts";
import { bodyOf, finding, shown, succeeded, type Ask, type Finding } from "./finding.ts";

/** Charged reads of one examination. */
export const MAX_DOCTOR_CALLS = 60;
/** A larger clock difference makes times and expiries unsafe. */
const MAX_SKEW_MS = 30_000;

export interface DoctorOptions {
  readonly profile: Profile;
  /** Returns a sender for a given profile, with the specialist's key. It charges and paces the requests. */
  readonly connect: (profile: Profile) => (call: Call) => Promise<Exchange>;
  /** The set whose key prefix matches the key in use. */
  readonly keySet?: EndpointSet;
  /** Default and maximum: `MAX_DOCTOR_CALLS`. */
  readonly maxCalls?: number;
  /** Findings from elsewhere, such as a document: their proposals hold until the network is seen otherwise. */
  readonly known?: readonly Finding[];
}

const NOTHING_READ =
  "no list could be read, so there is nothing to draft from: check the base address, the permissions of the key, and the paths in the profile";

const NO_LIST =
  "the profile has no list to read, so nothing can be examined: state the path of one that the network has, such as operations.jobs.list.path";

interface Vitals {
  readonly elapsedMs: number[];
  readonly skewsMs: number[];
  readonly limitHeaders: Set<string>;
  /** Numbers of each answer, by place, in the order of the requests. */
  readonly numbers: Map<string, number[]>;
  /** Places that are true in every success. */
  readonly truths: Set<string>;
  areLimitsRead: boolean;
  /** Number of successful reads. */
  successes: number;
}

/** Yields one finding after another. An error of `connect` (such as a spent quota) ends it. */
export async function* examine(options: DoctorOptions): AsyncGenerator<Finding, void, void> {
  const vitals: Vitals = {
    elapsedMs: [],
    skewsMs: [],
    limitHeaders: new Set(),
    numbers: new Map(),
    truths: new Set(),
    areLimitsRead: false,
    successes: 0,
  };
  const findings: Finding[] = [...(options.known ?? [])];
  let { profile } = applied(options.profile, findings);
  const ask = askWithin(options, vitals, () => profile);
  const keep = (found: Finding): Finding => {
    findings.push(found);
    if (found.proposals.length > 0) ({ profile } = applied(options.profile, findings));
    return found;
  };

  const lists = listsOf(profile);
  const reach = await reachable(lists, ask, profile);
  for (const found of reach.findings) yield keep(found);
  if (!reach.goOn) return;
  for await (const found of examineSet(options, ask)) yield keep(found);
  const samples: Samples = new Map();
  for await (const found of examineLists(profile, ask, samples)) yield keep(found);
  if (vitals.successes === 0) {
    yield keep(finding("shapes", "problem", NOTHING_READ));
    return;
  }
  for await (const found of examineSingles(profile, ask, samples)) yield keep(found);
  for (const found of examineValues(profile, samples)) yield keep(found);
  for (const found of examineWords(profile, samples)) yield keep(found);
  for await (const found of examineBeside(profile, ask, samples)) yield keep(found);
  for await (const found of examineErrors(profile, ask, vitals.truths)) yield keep(found);
  const longest = longestOf(profile, lists, samples);
  if (longest !== undefined) {
    for await (const found of examinePaging(profile, longest, ask)) yield keep(found);
    for await (const found of examineOrder(longest, ask)) yield keep(found);
    const other: ListOperation = longest === "jobs.list" ? "posts.list" : "jobs.list";
    if (listsOf(profile).includes(other)) for await (const found of examinePaging(profile, other, ask, true)) yield keep(found);
  }
  for (const found of unexamined(profile)) yield keep(found);
  for (const found of vitalFindings(vitals, profile)) yield keep(found);
}

function askWithin({ connect, maxCalls = MAX_DOCTOR_CALLS }: DoctorOptions, vitals: Vitals, current: () => Profile): Ask {
  let left = Math.min(maxCalls, MAX_DOCTOR_CALLS);
  const doors = new Map<Profile, (call: Call) => Promise<Exchange>>();
  return async (call, profile = current()) => {
    if (profile.operations.get(call.operation)?.unsupported !== undefined || left-- <= 0) return undefined;
    const door = doors.get(profile) ?? connect(profile);
    doors.set(profile, door);
    const answer = await door(call);
    const { wire, outcome } = answer;
    if (succeeded(answer)) {
      vitals.successes++;
      note(answer, vitals);
    }
    if (wire.kind === "answer") {
      vitals.elapsedMs.push(wire.elapsedMs);
      for (const name of Object.keys(wire.headers)) if (isLimitHeader(name)) vitals.limitHeaders.add(name);
    }
    if ("skewMs" in outcome && outcome.skewMs !== undefined) vitals.skewsMs.push(outcome.skewMs);
    if ("limits" in outcome && outcome.limits !== undefined) vitals.areLimitsRead = true;
    return answer;
  };
}

function note(answer: Exchange, { numbers, truths }: Vitals): void {
  for (const { path, value } of scalarsBeside(bodyOf(answer))) {
    if (value === true) truths.add(path);
    if (typeof value === "number") numbers.set(`body:${path}`, [...(numbers.get(`body:${path}`) ?? []), value]);
  }
}

/** A gateway may fail once, and another list may answer. */
const MAX_FIRST_TRIES = 3;

/** The list with the most items that were read: it shows paging and order best. The feed wins a tie. */
function longestOf(profile: Profile, lists: readonly ListOperation[], samples: Samples): ListOperation | undefined {
  const sizes = lists.map((name) => {
    const record = profile.operations.get(name)?.record;
    return { name, size: record === undefined || !isReadableRecord(record) ? 0 : (samples.get(record)?.length ?? 0) };
  });
  const most = Math.max(0, ...sizes.map(({ size }) => size));
  return (lists.includes(FEED) ? FEED : undefined) ?? (most === 0 ? undefined : sizes.find(({ size }) => size === most)?.name);
}

/** Names the lists that the profile says are missing. */
function unexamined(profile: Profile): readonly Finding[] {
  const missing = LISTS.filter((name) => !listsOf(profile).includes(name));
  return missing.length === 0
    ? []
    : [finding("set", "note", `not examined, because the profile says that they are missing: ${missing.join(", ")}`)];
}

async function firstAnswer(lists: readonly ListOperation[], ask: Ask): Promise<Exchange | undefined> {
  let answer: Exchange | undefined;
  for (let tries = 0; tries < MAX_FIRST_TRIES; tries++) {
    const operation = lists[tries % lists.length];
    answer = operation === undefined ? undefined : ((await ask({ operation, input: {} })) ?? answer);
    if (answer === undefined || !isPassing(answer)) return answer;
  }
  return answer;
}

function isPassing({ outcome }: Exchange): boolean {
  return outcome.class === "unknown" && outcome.unreadable !== true && (outcome.status === undefined || outcome.status >= 500);
}

async function reachable(
  lists: readonly ListOperation[],
  ask: Ask,
  profile: Profile,
): Promise<{ readonly findings: readonly Finding[]; readonly goOn: boolean }> {
  if (lists.length === 0) return { findings: [finding("reach", "problem", NO_LIST)], goOn: false };
  const answer = await firstAnswer(lists, ask);
  if (answer === undefined) return { findings: [], goOn: false };
  const { outcome, wire } = answer;
  const stop = (step: "reach" | "key", message: string): { findings: readonly Finding[]; goOn: false } => ({
    findings: [finding(step, "problem", message)],
    goOn: false,
  });
  if (outcome.class === "never-left") return stop("reach", `nothing answers: ${outcome.reason}`);
  if (outcome.class === "unauthorized") return stop("key", refusedKey(profile));
  if (outcome.class === "limited") return stop("reach", "the key's quota is spent (429); try again later");
  if (outcome.class === "refused" && outcome.code === "redirected") return stop("reach", outcome.message);
  if (outcome.class === "unknown" && outcome.unreadable !== true) return stop("reach", `no usable answer: ${outcome.reason}`);
  const status = wire.kind === "answer" ? wire.status : 0;
  const type = typeOf(wire);
  // An HTML page comes from a proxy before the network, or from a wrong address.
  if (bodyOf(answer) === undefined)
    return stop("reach", `the answer (${status}, ${type}) is not JSON: check the base address, and any proxy before the network`);
  return { findings: [finding("reach", "ok", `the network answers (${status}, ${type})`), keyFinding(answer, status)], goOn: true };
}

/** A network that takes tokens alone refuses a good key too. */
function refusedKey({ auth, operations }: Profile): string {
  const advice = "the network does not accept this key (401): check the key, and its place in the profile (auth)";
  const trade = operations.get("auth.token");
  if (auth.exchange || trade === undefined || trade.unsupported !== undefined) return advice;
  const next = "state auth.exchange and auth.token (docs/profiles.md, Tokens for keys), and run the doctor again";
  return `${advice}; ${trade.method} ${trade.path} is known: if keys are exchanged for tokens, ${next}`;
}

const MAX_TYPE = 60;

function typeOf(wire: WireAnswer): string {
  const stated = wire.kind === "answer" ? wire.headers["content-type"] : undefined;
  return typeof stated === "string" ? stated.slice(0, MAX_TYPE) : "no type";
}

function keyFinding(answer: Exchange, status: number): Finding {
  if (succeeded(answer)) return finding("key", "ok", "the key is accepted");
  if (status === 403) return finding("key", "warning", "the key is known, but it may not read this list (403)");
  return finding("key", "note", `this answer does not show if the key is accepted (${status})`);
}

/** Each set has reads that the other lacks; if they are missing, those of the other set are tried. */
async function* examineSet({ profile, keySet }: DoctorOptions, ask: Ask): AsyncGenerator<Finding> {
  const { set } = profile;
  if (keySet !== undefined && keySet !== set)
    yield finding(
      "key",
      "warning",
      `the key looks like one of Set ${keySet.toUpperCase()}, but the profile extends Set ${set.toUpperCase()}`,
    );
  const own: Call = set === "b" ? { operation: "webhooks.list", input: {} } : { operation: "search.jobs", input: { query: "data" } };
  const operation = profile.operations.get(own.operation);
  if (operation === undefined || operation.unsupported !== undefined) return;
  const answer = await ask(own);
  if (answer === undefined) return;
  const { outcome } = answer;
  const isMissing = "status" in outcome && (outcome.status === 404 || outcome.status === 405);
  if (succeeded(answer)) return void (yield finding("set", "ok", `Set ${set.toUpperCase()}: ${own.operation} answers`));
  if (!isMissing) return void (yield finding("set", "note", `the set is unclear: ${own.operation} answers ${shown(outcome)}`));
  const other = set === "b" ? "a" : "b";
  const theirs: Call = other === "b" ? { operation: "webhooks.list", input: {} } : { operation: "search.jobs", input: { query: "data" } };
  const second = await ask(theirs, shippedProfile(other));
  const isOther = second !== undefined && second.wire.kind === "answer" && second.wire.status < 300;
  yield finding(
    "set",
    "warning",
    isOther
      ? `this speaks Set ${other.toUpperCase()}: ${theirs.operation} answers and ${own.operation} does not; use --set ${other}`
      : `${own.operation} is missing (${shown(outcome)}), and ${theirs.operation} too`,
  );
}

function vitalFindings({ elapsedMs, skewsMs, limitHeaders, numbers, areLimitsRead }: Vitals, profile: Profile): Finding[] {
  const skew = median(skewsMs);
  const latency = median(elapsedMs);
  const names = [...limitHeaders].sort((a, b) => a.localeCompare(b)).join(", ");
  const proposals = areLimitsRead ? [] : proposeLimitHeaders(profile, [...limitHeaders]);
  const counted = areLimitsRead || proposals.length > 0 ? [] : proposeCounters(numbers);
  const unread =
    proposals.length > 0 ? "; proposed by their names" : "; the profile reads none of them: state their meaning under limitHeaders";
  return [
    skew === undefined
      ? finding("clock", "note", "the network sends no date")
      : finding("clock", Math.abs(skew) > MAX_SKEW_MS ? "warning" : "ok", clockText(skew)),
    ...(latency === undefined ? [] : [finding("latency", "ok", `${Math.round(latency)} ms, the median of ${elapsedMs.length} answers`)]),
    limitHeaders.size === 0
      ? counted.length > 0
        ? finding("limits", "warning", "a number in each answer falls with each request: the remaining quota", counted)
        : finding("limits", "note", "no answer carries limit headers")
      : finding("limits", areLimitsRead ? "ok" : "warning", `limit headers seen: ${names}${areLimitsRead ? "" : unread}`, proposals),
  ];
}

/** Dates in answers have whole seconds, so a difference of up to two is none. */
function clockText(skewMs: number): string {
  const seconds = Math.round(Math.abs(skewMs) / 1_000);
  return seconds < 2
    ? "the network's clock agrees with ours"
    : `the network's clock is ${seconds} s ${skewMs > 0 ? "ahead of" : "behind"} ours`;
}

function median(values: readonly number[]): number | undefined {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
}

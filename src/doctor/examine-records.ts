/** Examines records: the places of lists and single objects, and the fields a profile fails to find. */
import { fieldPath, firstAt, valueAt } from "../contract/reading/field-path.ts";
import { FIELDS, isReadableRecord, NEEDS_ID, type FieldKind, type ReadableRecord } from "../contract/reading/fields.ts";
import { createPins } from "../contract/reading/pinned-fields.ts";
import type { Profile } from "../contract/profile/profile.ts";
import { readList, readRecord } from "../contract/reading/read-answer.ts";
import type { NetworkRecord } from "../contract/records.ts";
import { isObject, type Json, type JsonObject } from "../core/json.ts";
import { applied } from "./draft-profile.ts";
import { bodyOf, finding, shown, succeeded, type Ask, type Finding, type Proposal } from "./finding.ts";
import { besideOf, findList, flatten, guessEmpty, guessFields, unitIn, type FieldGuess } from "./guess-shapes.ts";
import { scalarsBeside } from "./examine-paging.ts";
import { proposeStates } from "./meanings.ts";

export const LISTS = ["posts.list", "jobs.list", "communities.list", "agents.list", "webhooks.list"] as const;
export type ListOperation = (typeof LISTS)[number];
export const FEED: ListOperation = "posts.list";
/** Reads of single objects, to ask for one that cannot exist. */
const SINGLE_READS = ["posts.get", "jobs.get", "communities.get", "agents.get"] as const;
/** Fields whose absence means nothing: most networks send them rarely or never. */
const RARE: ReadonlySet<FieldKind> = new Set(["posts", "json", "secret", "refs"]);
/** Kinds that no value of a list shows. */
const UNGUESSED: ReadonlySet<FieldKind> = new Set(["posts", "json", "secret"]);

/** Longer words are data rather than states. */
const MAX_WORD_LENGTH = 60;
const MAX_OPEN_WORDS = 4;
const MAX_UNSORTED = 9;
/** A field in fewer objects is a guess. */
const MIN_SEEN = 2;
const MAX_SAMPLES = 20;

/** An object of a list, to be read alone. */
export interface Sample {
  readonly id: string;
  readonly handle?: string;
  /** As shown in its list. */
  readonly item: JsonObject;
  /** As shown alone. */
  readonly whole?: JsonObject;
}

/** Objects of every kind seen, the most informative first. */
export type Samples = Map<ReadableRecord, readonly Sample[]>;

/** The lists that a profile says are there. */
export function listsOf(profile: Profile): readonly ListOperation[] {
  return LISTS.filter((name) => isThere(profile, name));
}

function isThere(profile: Profile, name: string): boolean {
  const operation = profile.operations.get(name);
  return operation !== undefined && operation.unsupported === undefined;
}

/** Yields one finding for each list, with proposals for the profile where needed. */
export async function* examineLists(profile: Profile, ask: Ask, samples: Samples): AsyncGenerator<Finding> {
  const missing: string[] = [];
  let isAnyThere = false;
  for (const name of listsOf(profile)) {
    const operation = profile.operations.get(name);
    if (operation === undefined || !isReadableRecord(operation.record)) continue;
    const answer = await ask({ operation: name, input: {} });
    if (answer === undefined) return;
    if (!succeeded(answer)) {
      const { outcome } = answer;
      const isMissing = "status" in outcome && (outcome.status === 404 || outcome.status === 405);
      if (isMissing) missing.push(name);
      if (outcome.class === "unauthorized") yield finding("key", "problem", `${name} does not accept this key (401)`);
      else yield finding("shapes", "warning", `${name} answers ${shown(outcome)}`);
      continue;
    }
    isAnyThere = true;
    const body = bodyOf(answer);
    yield operation.list
      ? examineList(profile, name, operation.record, body, samples)
      : examineAlone(profile, name, operation.record, body, samples);
  }
  // If everything is missing, the address is wrong.
  if (isAnyThere && missing.length > 0)
    yield finding(
      "shapes",
      "warning",
      `${missing.join(", ")}: nothing at that address; the network lacks it, or the profile must state its path`,
      missing.map(unsupported),
    );
}

function unsupported(name: string): Proposal {
  return {
    path: ["operations", name, "unsupported"],
    value: "the network answered that there is no such address",
    isDoubtful: true,
    because: "404 or 405",
  };
}

/** The place of one list, and the fields that its items show. */
export function examineList(profile: Profile, name: string, record: ReadableRecord, body: Json | undefined, samples: Samples): Finding {
  const known = readList(profile, record, body);
  const place = known.items === undefined || known.items.length + known.skipped === 0 ? findList(body) : placeOf(profile, record, body);
  if (place === undefined) return finding("shapes", "problem", `${name} holds no list that can be found`);
  const proposals: Proposal[] = [];
  if (known.items === undefined) proposals.push({ path: ["lists", record], value: [place], isDoubtful: false });
  const list = valueAt(body, fieldPath(place));
  const items = Array.isArray(list) ? list.filter((item): item is JsonObject => isObject(item)) : [];
  if (items.length === 0) return finding("shapes", "note", `${name} is empty, so its records could not be examined`, proposals);
  return examineItems(profile, { name, record, place, items, proposals }, samples);
}

/** A read that gives one object where others have a list, such as one's own account. */
function examineAlone(profile: Profile, name: string, record: ReadableRecord, body: Json | undefined, samples: Samples): Finding {
  const read = readRecord(profile, record, body).record;
  const object = read !== undefined && "raw" in read ? read.raw : body;
  if (!isObject(object)) return finding("shapes", "problem", `${name} holds no object that can be found`);
  return examineItems(profile, { name, record, place: "its own place", items: [object], proposals: [] }, samples);
}

interface Listed {
  readonly name: string;
  readonly record: ReadableRecord;
  readonly place: string;
  readonly items: readonly JsonObject[];
  readonly proposals: readonly Proposal[];
}

function examineItems(profile: Profile, { name, record, place, items, proposals: known }: Listed, samples: Samples): Finding {
  const guesses = guessRecord(profile, record, items);
  const proposals: Proposal[] = [...known, ...guesses.proposals];
  const after = drafted(profile, proposals);
  const read = readEach(after, record, items);
  sample(read, record, samples);
  if (record === "job") proposals.push(...openWords(after, items, read).proposals, ...moneyIn(after, items));

  const summary = `${name}: ${items.length} items at ${place}, ${read.length} readable`;
  const shown = placesIn(guesses.proposals);
  const guessed = shown === "" ? "" : `; proposed ${shown}`;
  const severity = read.length === 0 ? "problem" : proposals.length > 0 ? "warning" : "ok";
  const unseen = guesses.unseen.length === 0 ? "" : `; not seen: ${guesses.unseen.join(", ")}`;
  return finding("shapes", severity, `${summary}${guessed}${unseen}`, proposals);
}

/** `content at words, createdAtMs at made`: proposed fields with their first place. */
export function placesIn(proposals: readonly Proposal[]): string {
  return proposals.map(({ path, value }) => `${path[2] ?? ""} at ${Array.isArray(value) ? String(value[0]) : ""}`).join(", ");
}

/** Proposes fields of a record from the items of one list. */
function guessRecord(
  profile: Profile,
  record: ReadableRecord,
  items: readonly JsonObject[],
): { readonly proposals: readonly Proposal[]; readonly unseen: readonly string[] } {
  const proposals: Proposal[] = [];
  /** `because`: the reason to doubt it. */
  const propose = (field: string, paths: readonly string[], because?: string): void => {
    const doubt = because === undefined ? { isDoubtful: false } : { isDoubtful: true, because };
    proposals.push({ path: ["records", record, field], value: [...new Set(paths)], ...doubt });
  };
  const doubtIn = ({ by, seen }: FieldGuess): string | undefined => {
    if (by === "value") return `no name says so; its values fit in ${seen} of ${items.length} objects`;
    return seen < Math.min(MIN_SEEN, items.length) ? `seen in ${seen} of ${items.length} objects` : undefined;
  };
  const kinds: Readonly<Record<string, FieldKind>> = FIELDS[record];
  // An item is unreadable without its id, so the id comes first.
  const first = winnersIn(profile, record, items);
  const isHandle = first.get("id") !== undefined && first.get("id") === first.get("handle");
  if (first.get("id") === undefined || isHandle) {
    // A name such as "key" may pass for a secret, and still be the id if nothing else can be.
    const taken = [...first].flatMap(([field, path]) => (kinds[field] === "secret" ? [] : [path]));
    const [guess] = guessFields(record, items, ["id"], taken);
    const isSure = guess?.by === "name" || (!isHandle && NEEDS_ID.has(record));
    if (guess !== undefined && isSure) propose("id", [guess.path], doubtIn(guess));
  }
  const winners = winnersIn(drafted(profile, proposals), record, items);
  const taken = [...winners.values()];
  const missing = Object.keys(kinds).filter((field) => !UNGUESSED.has(kinds[field] ?? "json") && !winners.has(field));
  const sought = missing.filter((field) => field !== "id");
  // The one name of an account is its handle.
  const name = record === "agent" && missing.includes("handle") ? winners.get("name") : undefined;
  if (name !== undefined) taken.splice(taken.indexOf(name), 1);
  for (const guess of guessFields(record, items, sought, taken)) {
    taken.push(guess.path);
    propose(guess.field, [guess.path], doubtIn(guess));
  }
  for (const [field, other] of PERSONS) {
    const known = proposals.find(({ path }) => path[2] === other)?.value ?? winners.get(other);
    const place = Array.isArray(known) ? (known as readonly string[])[0] : typeof known === "string" ? known : undefined;
    if (place === undefined || winners.has(field) || proposals.some(({ path }) => path[2] === field)) continue;
    const beside = besideOf(place, field.endsWith("Id") ? "id" : "handle", items);
    if (beside !== undefined && !taken.includes(beside)) propose(field, [beside], `beside ${other}`);
  }
  const unseen = missing.filter((field) => !RARE.has(kinds[field] ?? "json") && !proposals.some(({ path }) => path[2] === field));
  for (const field of unseen) {
    const paths = guessEmpty(items, field, taken);
    const candidates: readonly string[] = profile.records[record]?.[field] ?? [];
    if (paths.length > 0) propose(field, [...paths, ...candidates], `empty in each of ${items.length} objects`);
  }
  return { proposals, unseen: unseen.filter((field) => !proposals.some(({ path }) => path[2] === field)) };
}

/** The two names of a person: the place of one is beside that of the other. */
const PERSONS = [
  ["authorId", "authorHandle"],
  ["authorHandle", "authorId"],
  ["assigneeId", "assigneeHandle"],
  ["assigneeHandle", "assigneeId"],
] as const;

/** The place of each field that the profile reads. */
export function winnersIn(profile: Profile, record: ReadableRecord, items: readonly JsonObject[]): ReadonlyMap<string, string> {
  const pins = createPins();
  readList({ ...profile, lists: { [record]: ["$"] } }, record, items, pins);
  return new Map([...pins.fields].map(([field, pin]) => [field, pin.path]));
}

/** Proposes how money is counted, by the name of its field or the unit in its text. */
export function moneyIn(profile: Profile, items: readonly JsonObject[]): readonly Proposal[] {
  const paths = profile.records["job"]?.["reward"] ?? [];
  const place = paths.find((path) => items.some((item) => valueAt(item, fieldPath(path)) !== undefined));
  const value = place === undefined ? undefined : valueAt(items[0], fieldPath(place));
  const unit = typeof value === "string" ? unitIn(value) : undefined;
  const isNew = unit !== undefined && !profile.money.unit.some((one) => one.toLowerCase() === unit.toLowerCase());
  const perUnit = place === undefined ? 1 : countedBy(place);
  return [
    ...(isNew ? [{ path: ["money", "unit"], value: [unit, ...profile.money.unit], isDoubtful: true, because: "seen in one amount" }] : []),
    ...(perUnit === 1 || perUnit === profile.money.perUnit
      ? []
      : [{ path: ["money", "perUnit"], value: perUnit, isDoubtful: true, because: `by the name of ${place ?? ""}` }]),
  ];
}

/** Parts of a unit that a field's name counts: `fee_cents`. */
function countedBy(path: string): number {
  if (/cents?$|_minor$|pence$/i.test(path)) return 100;
  return /micros?$/i.test(path) ? 1_000_000 : 1;
}

/** Words of states, as a list of jobs shows them. */
export interface StateWords {
  readonly proposals: readonly Proposal[];
  /** Words without a known meaning at jobs that somebody has: a person has to place them. */
  readonly unsorted: readonly string[];
}

/** Proposes words for the state of offered jobs: a listed job that nobody has can be applied for, whatever its state is called. */
export function openWords(profile: Profile, items: readonly JsonObject[], read: readonly NetworkRecord[]): StateWords {
  const paths = (profile.records["job"]?.["status"] ?? []).map(fieldPath);
  const seen = items.flatMap((item, index) => {
    const job = read[index];
    if (job?.kind !== "job" || job.status !== "unknown") return [];
    const word = firstAt(item, paths, (found) => (typeof found === "string" && found !== "" ? found : undefined));
    const isFree = job.assigneeId === undefined && job.assigneeHandle === undefined;
    return word === undefined || word.length > MAX_WORD_LENGTH ? [] : [{ word, isFree }];
  });
  if (seen.length === 0) return { proposals: [], unsorted: [] };
  const { proposals, unclear } = proposeStates(
    profile,
    seen.map(({ word }) => word),
  );
  const free = unclear.filter((word) => seen.some((one) => one.word === word && one.isFree));
  const unsorted = unclear.filter((word) => !free.includes(word)).slice(0, MAX_UNSORTED);
  const isOpen = free.length > 0 && free.length <= MAX_OPEN_WORDS;
  const known = proposals.find(({ path }) => path[1] === "open")?.value ?? profile.statuses.open ?? [];
  const open: Proposal = {
    path: ["statuses", "open"],
    value: [...(Array.isArray(known) ? (known as readonly string[]) : []), ...free],
    isDoubtful: true,
    because: "a listed job that nobody has can be applied for",
  };
  return { proposals: [...proposals.filter(({ path }) => !isOpen || path[1] !== "open"), ...(isOpen ? [open] : [])], unsorted };
}

/** Names the states of jobs that no word of the profile tells, for a person. */
export function* examineWords(profile: Profile, samples: Samples): Generator<Finding> {
  const items = (samples.get("job") ?? []).map(({ item }) => item);
  const { unsorted } = openWords(profile, items, readEach(profile, "job", items));
  if (unsorted.length > 0)
    yield finding("shapes", "warning", `words at jobs of somebody: ${unsorted.join(", ")} (put each under its state in statuses)`);
}

function drafted(profile: Profile, proposals: readonly Proposal[]): Profile {
  return applied(profile, [{ proposals }]).profile;
}

/** The items that the profile can read, wherever their list was. */
export function readEach(profile: Profile, record: ReadableRecord, items: readonly JsonObject[]): readonly NetworkRecord[] {
  return readList({ ...profile, lists: { [record]: ["$"] } }, record, items).items ?? [];
}

function placeOf(profile: Profile, record: ReadableRecord, body: Json | undefined): string | undefined {
  const places = [...(profile.lists[record] ?? []), ...(profile.lists["any"] ?? [])];
  const lists = places.filter((place) => Array.isArray(valueAt(body, fieldPath(place))));
  return lists.find((place) => (valueAt(body, fieldPath(place)) as readonly Json[]).length > 0) ?? lists[0];
}

/** Puts posts with replies first, because only they show where replies are. */
function sample(read: readonly NetworkRecord[], record: ReadableRecord, samples: Samples): void {
  const answered = (found: NetworkRecord): number => (found.kind === "post" ? (found.replyCount ?? countsIn(found.raw)) : 0);
  const known = read.flatMap((found): Sample[] => {
    if (!("id" in found) || found.id === undefined || !("raw" in found)) return [];
    const handle = "handle" in found ? found.handle : undefined;
    return [{ id: found.id, item: found.raw, ...(handle === undefined ? {} : { handle }) }];
  });
  const order = new Map(read.flatMap((found) => ("id" in found && found.id !== undefined ? [[found.id, answered(found)] as const] : [])));
  known.sort((one, other) => (order.get(other.id) ?? 0) - (order.get(one.id) ?? 0));
  if (known.length > 0) samples.set(record, known.slice(0, MAX_SAMPLES));
}

/** Larger numbers are ids and times. */
const MAX_COUNT = 1_000;

/** The sum of the small numbers of an object: one of them may count its replies. */
function countsIn(object: JsonObject): number {
  const values = [...flatten([object]).values()].flat();
  return values.reduce<number>((sum, value) => sum + (typeof value === "number" && value < MAX_COUNT ? value : 0), 0);
}

/** Requests objects that cannot exist, to learn the form of the network's refusals. */
export async function* examineErrors(profile: Profile, ask: Ask, truths: ReadonlySet<string> = new Set()): AsyncGenerator<Finding> {
  const operation = SINGLE_READS.find((name) => isThere(profile, name));
  if (operation === undefined)
    return void (yield finding("errors", "note", "refusals are not examined: the profile has no read of a single object"));
  const answer = await ask({ operation, target: "retinue-doctor-no-such-post", input: {} });
  if (answer === undefined) return;
  const { outcome } = answer;
  const body = bodyOf(answer);
  const isRead = (paths: readonly string[]): boolean => paths.some((path) => typeof valueAt(body, fieldPath(path)) === "string");
  const failed = failedIn(profile, body, truths);
  if (outcome.class === "refused" && isRead(profile.errors.message) && isRead(profile.errors.code))
    return void (yield finding("errors", "ok", `a refusal reads as code and message (${outcome.status})`, failed));
  const texts = stringsIn(body);
  const message =
    texts.find(({ path, text }) => /message|detail|description|reason|error|problem|msg/i.test(path) && /\s/.test(text)) ??
    texts.find(({ text }) => /\s/.test(text));
  const words = texts.filter(({ path, text }) => path !== message?.path && /^\S+$/.test(text));
  const code = words.find(({ path }) => /code|type|kind|error|name|slug/i.test(path)) ?? (words.length === 1 ? words[0] : undefined);
  if (succeeded(answer) || message === undefined)
    return void (yield finding("errors", "warning", `a refusal has no readable shape: ${shown(outcome)}`));
  const proposals: Proposal[] = [{ path: ["errors", "message"], value: [message.path], isDoubtful: false }];
  if (code !== undefined)
    proposals.push({ path: ["errors", "code"], value: [code.path], isDoubtful: true, because: "seen in one refusal" });
  yield finding("errors", "warning", `a refusal has its message at ${message.path}`, [...proposals, ...failed]);
}

/** A place that is true in every success and false in a refusal marks failures. */
function failedIn({ errors }: Profile, body: Json | undefined, truths: ReadonlySet<string>): readonly Proposal[] {
  const found = scalarsBeside(body).filter(({ path, value }) => value === false && truths.has(path) && !errors.failed.includes(path));
  const value = [...errors.failed, ...found.map(({ path }) => path)];
  return found.length === 0
    ? []
    : [{ path: ["errors", "failed"], value, isDoubtful: true, because: "false in one refusal, true elsewhere" }];
}

function stringsIn(value: Json | undefined, path = "", depth = 0): { readonly path: string; readonly text: string }[] {
  if (typeof value === "string") return path === "" ? [] : [{ path, text: value }];
  if (typeof value !== "object" || value === null || depth > 3) return [];
  const members: [string, Json | undefined][] = Object.entries(value).slice(0, 50);
  return members.flatMap(([key, item]) => (/[\s.$]/.test(key) ? [] : stringsIn(item, path === "" ? key : `${path}.${key}`, depth + 1)));
}

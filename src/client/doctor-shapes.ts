/** The doctor's look at records: where lists and single objects are, and which fields a profile fails to find. */
import { fieldPath, valueAt } from "../contract/field-path.ts";
import { FIELDS, isReadableRecord, type FieldKind, type ReadableRecord } from "../contract/fields.ts";
import { resolveProfile, type Profile } from "../contract/profile.ts";
import { readList } from "../contract/read.ts";
import type { NetworkRecord } from "../contract/records.ts";
import { isObject, type Json, type JsonObject } from "../core/json.ts";
import { draftProfile } from "./draft.ts";
import { bodyOf, finding, shown, succeeded, type Ask, type Finding, type Proposal } from "./finding.ts";
import { findList, findSingle, guessFields } from "./shape.ts";

const LISTS = ["posts.list", "jobs.list", "communities.list", "agents.list", "webhooks.list"] as const;
const SINGLES = ["posts.get", "jobs.get", "communities.get", "agents.get"] as const;
/** Fields whose absence says nothing: most networks send them only now and then, or never. */
const RARE: ReadonlySet<FieldKind> = new Set(["posts", "json", "secret", "refs"]);

/** An object of every kind seen, for reading one alone. */
export type Samples = Map<ReadableRecord, { readonly id: string; readonly handle?: string }>;

/** One finding for each list, and where needed what the profile should say. */
export async function* examineLists(profile: Profile, ask: Ask, samples: Samples): AsyncGenerator<Finding> {
  for (const name of LISTS) {
    const operation = profile.operations.get(name);
    if (operation === undefined || operation.unsupported !== undefined || !isReadableRecord(operation.record)) continue;
    const answer = await ask({ operation: name, input: {} });
    if (answer === undefined) return;
    if (!succeeded(answer)) {
      const isMissing = "status" in answer.outcome && (answer.outcome.status === 404 || answer.outcome.status === 405);
      yield finding("shapes", "warning", `${name} answers ${shown(answer.outcome)}`, isMissing ? [unsupported(name)] : []);
      continue;
    }
    yield examineList(profile, name, operation.record, bodyOf(answer), samples);
  }
}

function unsupported(name: string): Proposal {
  return { path: ["operations", name, "unsupported"], value: "the doctor was answered that there is no such address", isDoubtful: true };
}

function examineList(profile: Profile, name: string, record: ReadableRecord, body: Json | undefined, samples: Samples): Finding {
  const known = readList(profile, record, body);
  const place = known.items === undefined || known.items.length + known.skipped === 0 ? findList(body) : placeOf(profile, record, body);
  if (place === undefined) return finding("shapes", "problem", `${name} holds no list that can be found`);
  const proposals: Proposal[] = [];
  if (known.items === undefined) proposals.push({ path: ["lists", record], value: [place], isDoubtful: false });
  const list = valueAt(body, fieldPath(place));
  const items = Array.isArray(list) ? list.filter((item): item is JsonObject => isObject(item)) : [];
  if (items.length === 0) return finding("shapes", "note", `${name} is empty, so its records could not be looked at`, proposals);

  // Without its id nothing of an item is read, so the id comes first.
  const idGuesses = readEach(profile, record, items).length === items.length ? [] : guessFields(record, items, ["id"]);
  for (const { field, path, by } of idGuesses)
    proposals.push({ path: ["records", record, field], value: [path], isDoubtful: by === "value" });
  const read = readEach(drafted(profile, proposals), record, items);
  const found = new Set(read.flatMap((item) => Object.keys(item)));
  const kinds: Readonly<Record<string, FieldKind>> = FIELDS[record];
  const missing = Object.keys(kinds).filter((field) => !RARE.has(kinds[field] ?? "json") && !found.has(field));
  const others = guessFields(
    record,
    items,
    missing.filter((field) => field !== "id"),
    idGuesses.map(({ path }) => path),
  );
  for (const { field, path, by } of others) proposals.push({ path: ["records", record, field], value: [path], isDoubtful: by === "value" });
  const guesses = [...idGuesses, ...others];
  sample(read, record, samples);

  const unread = missing.filter((field) => !guesses.some((guess) => guess.field === field));
  const summary = `${name}: ${items.length} items at ${place}, ${read.length} readable`;
  const guessed = guesses.length === 0 ? "" : `; proposed ${guesses.map(({ field, path }) => `${field} at ${path}`).join(", ")}`;
  const severity = unread.includes("id") ? "problem" : guesses.length > 0 ? "warning" : "ok";
  return finding("shapes", severity, `${summary}${guessed}${unread.length === 0 ? "" : `; not seen: ${unread.join(", ")}`}`, proposals);
}

function drafted(profile: Profile, proposals: readonly Proposal[]): Profile {
  return resolveProfile(draftProfile(profile, [{ proposals }]), profile);
}

/** Those items that the profile reads, wherever their list was. */
function readEach(profile: Profile, record: ReadableRecord, items: readonly JsonObject[]): readonly NetworkRecord[] {
  return readList({ ...profile, lists: { [record]: ["$"] } }, record, items).items ?? [];
}

function placeOf(profile: Profile, record: ReadableRecord, body: Json | undefined): string | undefined {
  const places = [...(profile.lists[record] ?? []), ...(profile.lists["any"] ?? [])];
  const lists = places.filter((place) => Array.isArray(valueAt(body, fieldPath(place))));
  return lists.find((place) => (valueAt(body, fieldPath(place)) as readonly Json[]).length > 0) ?? lists[0];
}

function sample(read: readonly NetworkRecord[], record: ReadableRecord, samples: Samples): void {
  const [first] = read;
  if (first === undefined || !("id" in first) || first.id === undefined) return;
  const handle = "handle" in first ? first.handle : undefined;
  samples.set(record, { id: first.id, ...(handle === undefined ? {} : { handle }) });
}

/** Reads one object of each kind alone: it must be there, and be the one that was asked for. */
export async function* examineSingles(profile: Profile, ask: Ask, samples: Samples): AsyncGenerator<Finding> {
  for (const name of SINGLES) {
    const operation = profile.operations.get(name);
    if (operation === undefined || operation.unsupported !== undefined || !isReadableRecord(operation.record)) continue;
    const { record } = operation;
    const known = samples.get(record);
    const target = operation.targetBy === "handle" ? (known?.handle ?? known?.id) : known?.id;
    if (known === undefined || target === undefined) continue;
    const answer = await ask({ operation: name, target, input: {} });
    if (answer === undefined) return;
    const { outcome } = answer;
    const read = outcome.class === "confirmed" && outcome.record !== undefined && "id" in outcome.record ? outcome.record.id : undefined;
    if (read === known.id) {
      yield finding("shapes", "ok", `${name} gives the ${record} that was asked for`);
      continue;
    }
    const idPaths: readonly string[] = profile.records[record]?.["id"] ?? [];
    const place = idPaths.flatMap((path) => findSingle(bodyOf(answer), path, known.id) ?? [])[0];
    if (!succeeded(answer)) yield finding("shapes", "warning", `${name} answers ${shown(outcome)}`);
    else if (place === undefined) yield finding("shapes", "problem", `${name} holds no ${record} with the id its list gave`);
    else
      yield finding("shapes", "warning", `${name} has its ${record} at ${place}`, [
        { path: ["singles", record], value: [place], isDoubtful: false },
      ]);
  }
}

/** Asks for what cannot exist, to see how the network says no. */
export async function* examineErrors(profile: Profile, ask: Ask): AsyncGenerator<Finding> {
  const answer = await ask({ operation: "posts.get", target: "retinue-doctor-no-such-post", input: {} });
  if (answer === undefined) return;
  const { outcome } = answer;
  if (outcome.class === "refused") return void (yield finding("errors", "ok", `a refusal reads as code and message (${outcome.status})`));
  const body = bodyOf(answer);
  const texts = stringsIn(body);
  const message =
    texts.find(({ path, text }) => /message|detail|description|reason|error|problem|msg/i.test(path) && /\s/.test(text)) ??
    texts.find(({ text }) => /\s/.test(text));
  const code = texts.find(({ path, text }) => path !== message?.path && /code|type|kind|error|name|slug/i.test(path) && /^\S+$/.test(text));
  if (succeeded(answer) || message === undefined)
    return void (yield finding("errors", "warning", `a refusal is in no shape that can be read: ${shown(outcome)}`));
  const proposals: Proposal[] = [{ path: ["errors", "message"], value: [message.path], isDoubtful: false }];
  if (code !== undefined) proposals.push({ path: ["errors", "code"], value: [code.path], isDoubtful: true });
  yield finding("errors", "warning", `a refusal has its message at ${message.path}`, proposals);
}

function stringsIn(value: Json | undefined, path = "", depth = 0): { readonly path: string; readonly text: string }[] {
  if (typeof value === "string") return path === "" ? [] : [{ path, text: value }];
  if (typeof value !== "object" || value === null || depth > 3) return [];
  const members: [string, Json | undefined][] = Object.entries(value).slice(0, 50);
  return members.flatMap(([key, item]) => (/[\s.$]/.test(key) ? [] : stringsIn(item, path === "" ? key : `${path}.${key}`, depth + 1)));
}

/** Examines single objects: their place in an answer, and fields that lists do not show. */
import { fieldPath, valueAt } from "../contract/reading/field-path.ts";
import { isReadableRecord, type ReadableRecord } from "../contract/reading/fields.ts";
import type { Profile } from "../contract/profile/profile.ts";
import type { NetworkRecord } from "../contract/records.ts";
import { isObject, type Json, type JsonObject } from "../core/json.ts";
import type { Exchange } from "../client/client.ts";
import { placesIn, type Sample, type Samples } from "./examine-records.ts";
import { bodyOf, finding, shown, succeeded, type Ask, type Finding, type Proposal } from "./finding.ts";
import { findList, findSingle, guessFields, pathFor } from "./guess-shapes.ts";
import { applied } from "./draft-profile.ts";
import { commentList } from "./openapi/draft-extras.ts";

const SINGLES = ["posts.get", "jobs.get", "communities.get", "agents.get"] as const;
/** Objects read until one shows the field in question. Each is a charged read. */
const MAX_TRIES = 3;
/** Fields that single objects show and lists do not, by record. */
const WHOLE: { readonly [record in ReadableRecord]?: readonly string[] } = {
  post: ["replies"],
  job: ["input", "verdict", "assigneeId", "assigneeHandle", "applicantIds"],
};

/** Of these, fields whose values must fit too. */
const GUESSED: ReadonlySet<string> = new Set(["assigneeId", "assigneeHandle", "applicantIds"]);

/** Reads one object of each kind alone: it must exist, and be the requested one. */
export async function* examineSingles(profile: Profile, ask: Ask, samples: Samples): AsyncGenerator<Finding> {
  for (const name of SINGLES) {
    const operation = profile.operations.get(name);
    if (operation === undefined || operation.unsupported !== undefined || !isReadableRecord(operation.record)) continue;
    const { record } = operation;
    const known = (samples.get(record) ?? []).slice(0, WHOLE[record] === undefined ? 1 : MAX_TRIES);
    let unseen = WHOLE[record] ?? [];
    for (const [tries, sample] of known.entries()) {
      const target = operation.targetBy === "handle" ? (sample.handle ?? sample.id) : sample.id;
      const answer = await ask({ operation: name, target, input: {} });
      if (answer === undefined) return;
      const place = placeIn(profile, record, answer, sample);
      if (tries === 0) yield placed(name, record, answer, sample, place);
      if (place === undefined) break;
      const whole = valueAt(bodyOf(answer), fieldPath(place));
      if (isObject(whole)) samples.set(record, withWhole(samples.get(record) ?? [], sample, whole));
      const found = moreIn(profile, record, whole, sample, unseen);
      if (found.finding !== undefined) yield found.finding;
      unseen = found.unseen;
      if (unseen.length === 0 || record !== "post") break;
    }
  }
}

/** Ends of a post's path under which networks list its comments; each try is a charged read. */
const BESIDE = ["comments", "replies", "answers"] as const;

/** Looks for comments in a list of their own, where a post that has some does not show them. */
export async function* examineBeside(profile: Profile, ask: Ask, samples: Samples): AsyncGenerator<Finding> {
  const single = profile.operations.get("posts.get");
  const [post] = samples.get("post") ?? [];
  const counts = (profile.records["post"]?.["replyCount"] ?? []).map((path) => valueAt(post?.item ?? {}, fieldPath(path)));
  const isAnswered = counts.some((count) => typeof count === "number" && count > 0);
  if (single === undefined || single.unsupported !== undefined || post === undefined || !isAnswered) return;
  const whole = await ask({ operation: "posts.get", target: post.id, input: {} });
  const record = whole === undefined ? undefined : recordOf(whole);
  if (record?.kind !== "post" || (record.replies?.length ?? 0) > 0) return;
  for (const end of BESIDE) {
    const proposals = commentList(`${single.path}/${end}`, `read once beside one post`);
    const [list] = proposals;
    if (list === undefined) return;
    const trying = applied(profile, [{ proposals: [list] }]).profile;
    const answer = await ask({ operation: "comments.list", target: post.id, input: {} }, trying);
    if (answer === undefined) return;
    const place = succeeded(answer) ? findList(bodyOf(answer)) : undefined;
    const items = place === undefined ? undefined : valueAt(bodyOf(answer), fieldPath(place));
    if (!holdsPosts(profile, items)) continue;
    yield finding("shapes", "warning", `comments are a list of their own, under ${end} of their post`, proposals);
    return;
  }
}

function recordOf({ outcome }: Exchange): NetworkRecord | undefined {
  return outcome.class === "confirmed" ? outcome.record : undefined;
}

/** The place of the requested object in the answer. */
function placeIn(profile: Profile, record: ReadableRecord, answer: Exchange, { id }: Sample): string | undefined {
  if (!succeeded(answer)) return undefined;
  const idPaths: readonly string[] = profile.records[record]?.["id"] ?? [];
  return idPaths.flatMap((path) => findSingle(bodyOf(answer), path, id) ?? [])[0];
}

function placed(name: string, record: ReadableRecord, answer: Exchange, { id }: Sample, place: string | undefined): Finding {
  const read = recordOf(answer);
  if (read !== undefined && "id" in read && read.id === id) return finding("shapes", "ok", `${name} gives the requested ${record}`);
  if (!succeeded(answer)) return finding("shapes", "warning", `${name} answers ${shown(answer.outcome)}`);
  if (place === undefined) return finding("shapes", "problem", `${name} holds no ${record} with the id its list gave`);
  return finding("shapes", "warning", `${name} has its ${record} at ${place}`, [
    { path: ["singles", record], value: [place], isDoubtful: false },
  ]);
}

/** Looks for fields among the members that the single object has and its list item did not. */
function moreIn(
  profile: Profile,
  record: ReadableRecord,
  value: Json | undefined,
  { item }: Sample,
  wanted: readonly string[],
): { readonly finding?: Finding; readonly unseen: readonly string[] } {
  if (!isObject(value) || wanted.length === 0) return { unseen: wanted };
  const listed = new Set(pathsIn(item));
  const all = pathsIn(value);
  const extra = all.filter((path) => !listed.has(path));
  const known = (field: string): boolean => (profile.records[record]?.[field] ?? []).some((path) => all.includes(path));
  const proposals: Proposal[] = [];
  const unseen = wanted.filter((field) => {
    if (known(field)) return false;
    // A network may show replies in its list as well.
    const fits = field === "replies" ? all.filter((path) => holdsPosts(profile, valueAt(value, fieldPath(path)))) : extra;
    const [guessed] = GUESSED.has(field) ? guessFields(record, [value], [field], [...listed]) : [];
    const named = GUESSED.has(field) ? guessed?.path : pathFor(field, fits);
    const path = named ?? (fits.length === 1 && field !== "verdict" && !GUESSED.has(field) ? fits[0] : undefined);
    if (path === undefined) return true;
    proposals.push({
      path: ["records", record, field],
      value: [path],
      ...(named === undefined ? { isDoubtful: true, because: "the only field that a whole object adds" } : { isDoubtful: false }),
    });
    return false;
  });
  if (proposals.length === 0) return { unseen };
  return { finding: finding("shapes", "warning", `a whole ${record} also shows ${placesIn(proposals)}`, proposals), unseen };
}

function withWhole(known: readonly Sample[], { id }: Sample, whole: JsonObject): readonly Sample[] {
  return known.map((one) => (one.id === id ? { ...one, whole } : one));
}

/** True for a list of objects that each have the id of a post. */
function holdsPosts(profile: Profile, value: Json | undefined): boolean {
  if (!Array.isArray(value) || value.length === 0) return false;
  const ids = profile.records["post"]?.["id"] ?? [];
  return value.every((item: Json) => isObject(item) && ids.some((path) => valueAt(item, fieldPath(path)) !== undefined));
}

/** Paths to the members of an object and of its nested objects. */
function pathsIn(object: JsonObject): readonly string[] {
  return Object.entries(object).flatMap(([key, value]) => {
    if (value === undefined || value === null || /[\s.$]/.test(key)) return [];
    return [key, ...(isObject(value) ? Object.keys(value).flatMap((inner) => (/[\s.$]/.test(inner) ? [] : [`${key}.${inner}`])) : [])];
  });
}

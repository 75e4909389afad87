/** Examines an OpenAPI document as the doctor examines a network: the same findings and proposals, without a request. */
import { createClient } from "../../client/client.ts";
import type { Profile } from "../../contract/profile/profile.ts";
import { fieldPath, valueAt } from "../../contract/reading/field-path.ts";
import { FIELDS, isReadableRecord } from "../../contract/reading/fields.ts";
import { OPERATION_NAMES, type OperationName } from "../../contract/operations.ts";
import type { Clock } from "../../core/clock.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import { Secret } from "../../core/secret.ts";
import { applied } from "../draft-profile.ts";
import { examineErrors, examineList, examineLists, type Samples } from "../examine-records.ts";
import { examineSingles } from "../examine-objects.ts";
import { bodyOf, finding, succeeded, type Ask, type Finding, type Proposal } from "../finding.ts";
import { findList, guessFields } from "../guess-shapes.ts";
import { proposeStates } from "../meanings.ts";
import { apiOperations, type ApiOperation } from "./api-operations.ts";
import { documentNetwork } from "./document-network.ts";
import { draftAuth, draftHeaders, draftLimits, draftWebhooks } from "./draft-access.ts";
import { draftExtras } from "./draft-extras.ts";
import { draftPaging } from "./draft-paging.ts";
import { draftRequest, isStatedAt } from "./draft-requests.ts";
import { matchOperations, type Kind, type Match, type Matches } from "./match-operations.ts";
import type { OpenDocument } from "./open-document.ts";
import { merged, namesIn, sampleOf } from "./schema-sample.ts";

const MAX_NAMED = 12;

export interface DocumentExamination {
  readonly document: OpenDocument;
  readonly profile: Profile;
  readonly baseUrl: string;
  readonly clock: Clock;
}

/** Findings in the order of the document; none of them is a problem, since the network itself is still to be asked. */
export async function examineDocument(options: DocumentExamination): Promise<readonly Finding[]> {
  const { document, profile } = options;
  const operations = apiOperations(document);
  const { found, others, perhaps } = matchOperations(operations, (operation) => kindOf(document, operation));
  const matches = found.filter(({ name }) => !isSettled(profile, name, "unsupported") || isUsed(profile, name));
  if (matches.length === 0)
    return [
      finding(
        "document",
        "problem",
        `none of its ${operations.length} operations is one of a network of agents, so nothing is drafted from it`,
      ),
    ];
  const findings = [
    finding(
      "document",
      "ok",
      `${matches.length} of its ${operations.length} operations are known here: ${matches.map(({ name }) => name).join(", ")}`,
      [...matches.flatMap((match) => draftRequest(options, match)), ...missing(profile, matches)],
    ),
    ...draftAuth(document, matches, profile),
    ...draftHeaders(operations, profile),
    ...draftPaging(document, matches, profile),
    ...draftLimits(document, matches, profile),
    ...draftWebhooks(document, matches, profile),
  ];
  const first = applied(profile, findings);
  const shapes = await examineShapes(options, first.profile, operations);
  const whole = applied(first.profile, shapes);
  const states = proposeStates(whole.profile, stateWords(document, matches));
  const single = matches.find(({ name }) => name === "posts.get")?.operation;
  const nested = (whole.profile.records["post"]?.["replies"] ?? []).map((path) => path.split(".")[0]);
  const isNested = objectsIn(sampleOf(document, single?.success?.schema)).some(({ object }) =>
    nested.some((name) => Array.isArray(object[name ?? ""])),
  );
  const extras = draftExtras(options, others, isNested ? undefined : single?.path);
  const rest = [
    ...extras,
    ...examineAnswers(document, whole.profile, matches),
    ...stateFindings(states),
    ...leftOver(options, others, perhaps),
  ];
  return [...findings, ...shapes, ...rest];
}

function isUsed({ operations }: Profile, name: string): boolean {
  return operations.get(name)?.unsupported === undefined;
}

/** Returns true if a person states this part of an operation, without a doubt. */
function isSettled({ settled }: Profile, name: string, part: "path" | "unsupported"): boolean {
  return settled.includes(`operations.${name}.${part}`);
}

function missing(profile: Profile, matches: readonly Match[]): readonly Proposal[] {
  const known = new Set(matches.map(({ name }) => name));
  const isOpen = (name: OperationName): boolean => !known.has(name) && isUsed(profile, name) && !isSettled(profile, name, "path");
  return OPERATION_NAMES.filter(isOpen).map((name) => ({
    path: ["operations", name, "unsupported"],
    value: "the network's OpenAPI document has no such operation",
    isDoubtful: true,
    because: "no operation of the document fits",
  }));
}

/** The doctor's own steps, on answers that the document describes. */
async function examineShapes(
  { document, baseUrl, clock }: DocumentExamination,
  profile: Profile,
  operations: readonly ApiOperation[],
): Promise<readonly Finding[]> {
  const transport = documentNetwork(document, operations, baseUrl);
  let present = profile;
  const ask: Ask = async (call, other = present) => {
    if (other.operations.get(call.operation)?.unsupported !== undefined) return undefined;
    const client = createClient({ profile: other, baseUrl, clock, transport });
    return client.exchange(call, { key: new Secret("a key that goes nowhere"), built: client.check(call, "an id that goes nowhere") });
  };
  const findings: Finding[] = [];
  const samples: Samples = new Map();
  for (const step of [
    (): AsyncGenerator<Finding> => examineLists(present, ask, samples),
    (): AsyncGenerator<Finding> => examineSingles(present, ask, samples),
    (): AsyncGenerator<Finding> => examineErrors(present, ask),
    (): AsyncGenerator<Finding> => examineResults(present, ask, samples),
  ]) {
    for await (const { severity, message, proposals } of step())
      findings.push(
        finding(
          "document",
          severity === "problem" ? "warning" : severity,
          message,
          proposals.filter(({ path }) => path[2] !== "unsupported" && path[0] !== "statuses"),
        ),
      );
    present = applied(profile, findings).profile;
  }
  return findings;
}

/** The results of a web search, which no read may look for. */
async function* examineResults(profile: Profile, ask: Ask, samples: Samples): AsyncGenerator<Finding> {
  const answer = await ask({ operation: "search.web", input: { query: "words" } });
  if (answer !== undefined && succeeded(answer)) yield examineList(profile, "search.web", "result", bodyOf(answer), samples);
}

/** Fields by which a kind of object is known. */
const TELLING: { readonly [kind in Kind]: readonly string[] } = {
  post: ["content", "votes", "replyCount", "replies", "parentId", "community"],
  job: ["reward", "status", "skills", "deadlineMs", "assigneeId", "assigneeHandle"],
  community: ["memberCount", "joined", "handle"],
  agent: ["handle", "bio", "tier", "trust", "reputation", "skills"],
  webhook: ["url", "events", "active"],
};
const MIN_TELLING = 2;

function kindOf(document: OpenDocument, { success }: ApiOperation): Kind | undefined {
  const body = sampleOf(document, success?.schema);
  const place = findList(body);
  const list = place === undefined ? undefined : valueAt(body, fieldPath(place));
  const items = Array.isArray(list) ? list.filter((item): item is JsonObject => isObject(item)) : [];
  if (items.length === 0) return undefined;
  const kinds = Object.keys(TELLING) as Kind[];
  const scored = kinds.map((kind) => ({ kind, told: guessFields(kind, items, TELLING[kind]).filter(({ by }) => by === "name").length }));
  const [best] = scored.toSorted((a, b) => b.told - a.told);
  return best !== undefined && best.told >= MIN_TELLING ? best.kind : undefined;
}

/** The place and the fields of records that only writes and single reads answer with. */
function examineAnswers(document: OpenDocument, profile: Profile, matches: readonly Match[]): readonly Finding[] {
  const proposals = new Map<string, Proposal>();
  for (const { name, operation } of matches) {
    const known = profile.operations.get(name);
    if (known === undefined || !isReadableRecord(known.record) || known.list) continue;
    const { record } = known;
    const body = sampleOf(document, operation.success?.schema);
    const fields = Object.keys(FIELDS[record]);
    const candidates: Readonly<Record<string, readonly string[] | undefined>> = profile.records[record] ?? {};
    const places = objectsIn(body).map(({ path, object }) => {
      const present = fields.filter((field) => (candidates[field] ?? []).some((at) => valueAt(object, fieldPath(at)) !== undefined));
      const guesses = guessFields(
        record,
        [object],
        fields.filter((field) => !present.includes(field)),
        present.flatMap((field) => candidates[field] ?? []),
      );
      const named = guesses.filter(({ by }) => by === "name");
      const hasId = present.includes("id") || named.some(({ field, path: at }) => field === "id" && !at.includes("."));
      return { path, object, guesses: named, told: present.length, hasId };
    });
    // The outer object reaches everything inside too, so the innermost that tells nearly as much is the record.
    const scoreOf = ({ told, guesses }: (typeof places)[number]): number => told + guesses.length;
    const most = Math.max(0, ...places.map(scoreOf));
    const near = places.filter((one) => 4 * scoreOf(one) >= 3 * most);
    const identified = near.filter(({ hasId }) => hasId);
    const [best] = (identified.length > 0 ? identified : near).toSorted(
      (a, b) => depthOf(b.path) - depthOf(a.path) || scoreOf(b) - scoreOf(a),
    );
    if (best === undefined || best.told + best.guesses.length < leastTold(record)) {
      if (known.answer === "record" && known.effect !== "read")
        proposals.set(`${name} answer`, { path: ["operations", name, "answer"], value: "any", isDoubtful: false });
      continue;
    }
    const stated = [...(profile.singles[record] ?? []), ...(profile.singles["any"] ?? [])];
    const earlier = proposals.get(`singles ${record}`)?.value;
    const listed: readonly Json[] = Array.isArray(earlier) ? earlier : [];
    if (![...stated, ...listed].includes(best.path)) {
      const present = listed.length > 0 ? listed : (profile.singles[record] ?? []);
      proposals.set(`singles ${record}`, { path: ["singles", record], value: [best.path, ...present], isDoubtful: false });
    }
    if (name in { "posts.create": 1, "posts.reply": 1, "posts.vote": 1, "jobs.create": 1, "jobs.submit": 1 }) continue; // their fields are those of the list
    for (const { field, path } of best.guesses)
      proposals.set(`${record} ${field}`, { path: ["records", record, field], value: [path], isDoubtful: false });
  }
  if (proposals.size === 0) return [];
  const named = [...proposals.values()].map(({ path }) => path.join("."));
  return [finding("document", "warning", `answers to writes: ${named.join(", ")}`, [...proposals.values()])];
}

function depthOf(path: string): number {
  return path === "$" ? 0 : path.split(".").length;
}

/** Fields that make an object a record: an id alone is none, unless the record has little else. */
function leastTold(record: string): number {
  return record === "token" || record === "stats" || record === "application" ? 1 : 2;
}

function objectsIn(body: Json | undefined): readonly { readonly path: string; readonly object: JsonObject }[] {
  const found: { readonly path: string; readonly object: JsonObject }[] = [];
  const visit = (value: Json | undefined, path: string, depth: number): void => {
    if (!isObject(value)) return;
    found.push({ path: path === "" ? "$" : path, object: value });
    if (depth < 2)
      for (const [name, item] of Object.entries(value))
        if (!/[\s.$]/.test(name)) visit(item, path === "" ? name : `${path}.${name}`, depth + 1);
  };
  visit(body, "", 0);
  return found;
}

/** The words that a job's state may have, wherever a schema of jobs lists them. */
function stateWords(document: OpenDocument, matches: readonly Match[]): readonly string[] {
  const found: string[] = [];
  let left = 2_000;
  const visit = (at: Json | undefined, name: string, depth: number): void => {
    const schema = merged(document, at);
    if (schema === undefined || depth > 8 || left-- <= 0) return;
    if (/(?:^|_)(?:status|state|phase|stage)$/i.test(name)) found.push(...namesIn(schema["enum"]));
    if (isObject(schema["properties"])) for (const [key, item] of Object.entries(schema["properties"])) visit(item, key, depth + 1);
    visit(schema["items"], name, depth + 1);
  };
  for (const { name, operation } of matches) if (name === "jobs.list" || name === "jobs.get") visit(operation.success?.schema, "", 0);
  return [...new Set(found)].slice(0, 60);
}

function stateFindings({ proposals, unclear }: ReturnType<typeof proposeStates>): readonly Finding[] {
  const unknown = unclear.length === 0 ? "" : `; without a known meaning: ${unclear.join(", ")} (state them under statuses)`;
  if (proposals.length === 0 && unknown === "") return [];
  return [finding("document", "warning", `${proposals.length} states have words of their own${unknown}`, proposals)];
}

/** Names for a person what the document has and neither a proposal nor the profile covers. */
function leftOver(options: DocumentExamination, others: Matches["others"], perhaps: Matches["perhaps"]): readonly Finding[] {
  const { document, profile } = options;
  const stated = [...profile.operations.values()].filter(
    ({ name, extra, unsupported }) => unsupported === undefined && (extra || isSettled(profile, name, "path")),
  );
  const open = others
    .filter((operation) => !stated.some((one) => isStatedAt(options, one, operation)))
    .map((operation) => {
      const names = (perhaps.get(operation) ?? []).filter((name) => isUsed(profile, name) && !isSettled(profile, name, "path"));
      return { place: `${operation.method} ${operation.path}`, names };
    });
  const guessed = open.filter(({ names }) => names.length > 0).map(({ place, names }) => `${place} may be ${names.join(" or ")}`);
  const alone = open.filter(({ names }) => names.length === 0).map(({ place }) => place);
  const unfollowed = document.unfollowed();
  return [
    ...(guessed.length === 0 ? [] : [finding("document", "note", `${shortened(guessed)}: state its path there, or under extra`)]),
    ...(alone.length === 0
      ? []
      : [finding("document", "note", `of this network alone (state what you need under extra): ${shortened(alone)}`)]),
    ...(unfollowed.length === 0 ? [] : [finding("document", "warning", `references that were left out: ${unfollowed.join("; ")}`)]),
  ];
}

function shortened(named: readonly string[]): string {
  const more = named.length > MAX_NAMED ? `, and ${named.length - MAX_NAMED} more` : "";
  return `${named.slice(0, MAX_NAMED).join(", ")}${more}`;
}

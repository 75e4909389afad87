/** The marks that a person settles from a network's documentation, since no read can show them; each leaf is one mark. */
import { OPERATION_NAMES, OPERATIONS, parameterOf, type EndpointSet, type OperationName } from "../../../src/contract/operations.ts";
import { shippedProfile } from "../../../src/contract/profile/profile.ts";
import { COLLECTIONS, type ProfileSource } from "../../../src/contract/profile/source.ts";
import { inCollection } from "../../../src/contract/profile/network-operations.ts";
import { JOB_STATUSES } from "../../../src/contract/records.ts";
import { statusWord } from "../../../src/contract/reading/values.ts";
import { isObject, type Json } from "../../../src/core/json.ts";
import type { Accent } from "./wire/accent.ts";
import type { Spoken } from "./wire/requests.ts";

type OperationMarks = Record<string, Json>;

/** What to write before the doctor looks. Nothing in it says where a field of an answer is. */
export function marksOf(spoken: Accent, set: EndpointSet): ProfileSource {
  const { operations = {}, ...marks } = eachMarkOf(spoken, set);
  const collections: Partial<Record<(typeof COLLECTIONS)[number], string>> = {};
  for (const noun of COLLECTIONS) {
    const list = OPERATIONS[`${noun}.list`].endpoints[set]?.path;
    const own = operations[`${noun}.list`]?.path;
    if (list !== undefined && own !== undefined) collections[noun] = own;
  }
  const left = OPERATION_NAMES.flatMap((name): [string, OperationMarks][] => {
    const { path: own, ...rest } = operations[name] ?? {};
    const published = OPERATIONS[name].endpoints[set]?.path;
    if (published === undefined || spoken.documented[set][name] === undefined) return [];
    const noun = COLLECTIONS.find((one) => name.startsWith(`${one}.`));
    const collection = noun === undefined ? undefined : collections[noun];
    const told = collection === undefined ? published : inCollection(published, collection);
    const path = own ?? published;
    const kept = { ...(path === told ? {} : { path }), ...rest } as OperationMarks;
    return Object.keys(kept).length === 0 ? [] : [[name, kept]];
  });
  return {
    ...marks,
    ...(Object.keys(collections).length === 0 ? {} : { collections }),
    ...(left.length === 0 ? {} : { operations: Object.fromEntries(left) }),
  };
}

/** The same without collections: each path by itself. */
export function eachMarkOf({ voice, documented }: Accent, set: EndpointSet): ProfileSource {
  const operations = Object.fromEntries(
    OPERATION_NAMES.flatMap((name) => {
      const spoken = documented[set][name];
      const marks = spoken === undefined ? {} : operationMarks(name, set, spoken);
      return Object.keys(marks).length === 0 ? [] : [[name, marks]];
    }),
  );
  const statuses = statusMarks(voice.states, set);
  const { header, prefix } = voice.auth;
  const paging = pagingMarks(voice);
  return {
    extends: set === "a" ? "set-a" : "set-b",
    ...(Object.keys(operations).length === 0 ? {} : { operations }),
    ...(Object.keys(statuses).length === 0 ? {} : { statuses }),
    ...(Object.keys(paging).length === 0 ? {} : { paging }),
    ...(header === "authorization" ? {} : { auth: { header, prefix } }),
  };
}

export function countMarks(source: ProfileSource): number {
  const { extends: _set, operations = {}, collections = {}, statuses = {}, auth = {}, paging = {} } = source;
  const perOperation = Object.values(operations).reduce((sum, marks) => sum + Object.keys(marks).length, 0);
  return (
    perOperation + Object.keys(collections).length + Object.keys(statuses).length + Object.keys(auth).length + Object.keys(paging).length
  );
}

/** Names of query parameters that no doctor would try. */
function pagingMarks({ paging }: Accent["voice"]): Record<string, string> {
  return {
    ...(paging.style === "cursor" && paging.parameter === "continuation" ? { parameter: paging.parameter } : {}),
    ...(paging.limit === "take" ? { limitParameter: paging.limit } : {}),
  };
}

function operationMarks(name: OperationName, set: EndpointSet, spoken: Spoken): OperationMarks {
  const published = OPERATIONS[name].endpoints[set];
  if (published === undefined) return {};
  const path = spoken.path.replace("{target}", `:${parameterOf(published.path) ?? "id"}`);
  const marks: OperationMarks = {};
  if (path !== published.path) marks["path"] = path;
  if (spoken.method !== published.method) marks["method"] = spoken.method;
  const template = templateOf(spoken);
  const isOurs = Object.entries(spoken.inputs).every(([input, at]) => at.length === 1 && at[0] === input);
  if (!isOurs || spoken.targetAt !== undefined) marks[published.method === "GET" ? "query" : "body"] = template;
  if (spoken.words !== undefined && JSON.stringify(spoken.words["direction"]) !== '{"up":"up","down":"down"}')
    marks["values"] = spoken.words as Json;
  if (spoken.acknowledged === true && name === "jobs.submit") marks["answer"] = "any";
  return marks;
}

function templateOf({ inputs, targetAt }: Spoken): Json {
  const template: Record<string, Json> = {};
  const put = (path: readonly string[], value: Json): void => {
    let at = template;
    for (const segment of path.slice(0, -1)) {
      const below = at[segment];
      at = at[segment] = isObject(below) ? (below as Record<string, Json>) : {};
    }
    at[path.at(-1) ?? ""] = value;
  };
  for (const [input, path] of Object.entries(inputs)) put(path, `{${input}}`);
  if (targetAt !== undefined) put(targetAt, "{target}");
  return template;
}

/** Words of the network that a set's own list does not hold; they show only once a job comes to that state. */
function statusMarks(states: Accent["voice"]["states"], set: EndpointSet): Record<string, string[]> {
  const shipped = shippedProfile(set).statuses;
  return Object.fromEntries(
    Object.entries(states).flatMap(([state, word]) => {
      const status = JOB_STATUSES.find((known) => known === state);
      const known = status === undefined ? [] : (shipped[status] ?? []);
      return known.some((other) => statusWord(other) === statusWord(word)) ? [] : [[state, [...known, word]]];
    }),
  );
}

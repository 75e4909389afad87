/** Guesses fields that no name tells, from what their values are and do: who comes back elsewhere, which words are few, what counts a list. */
import { fieldPath, valueAt } from "../contract/reading/field-path.ts";
import { readId, readNumber, readText, readTime, readVote, statusWord } from "../contract/reading/values.ts";
import { isObject, type Json, type JsonObject } from "../core/json.ts";
import { flatten, isWhen, unitIn } from "./guess-shapes.ts";
import { STATE_WORDS } from "./meanings.ts";
import { namesAt, peopleIn, roleOf, type Place, type Shown } from "./people-in.ts";

export interface ValueGuess {
  readonly record: Shown["record"];
  readonly field: string;
  readonly path: string;
  readonly because: string;
}

/** The network's names of our inputs, by record and field, from the bodies of its writes. */
export type BodyWords = ReadonlyMap<string, string>;

type Columns = ReadonlyMap<string, readonly Json[]>;

/** A record while its fields are found. */
interface Search {
  readonly shown: Shown;
  readonly columns: Columns;
  /** Places that have a meaning. */
  readonly taken: Set<string>;
  readonly guess: (field: string, path: string | undefined, because: string) => void;
  readonly isOpen: (field: string) => boolean;
}

/** Guesses for fields that are not known yet. Each is doubtful. */
export function guessByValues(all: readonly Shown[], words: BodyWords = new Map()): readonly ValueGuess[] {
  const guesses: ValueGuess[] = [];
  const { people, communities } = peopleIn(all);
  for (const shown of all.filter(({ items }) => items.length > 0)) {
    const search = searchOf(shown, guesses);
    const here = people.filter(({ record }) => record === shown.record);
    guessNamed(search, words);
    switch (shown.record) {
      case "agent":
        guessAccount(search, here, people);
        break;
      case "community":
        guessAccount(
          search,
          communities.filter(({ record }) => record === "community"),
          communities,
        );
        break;
      case "post":
      case "job":
        guessPeople(search, here, people);
        for (const { members } of here) for (const path of members.keys()) search.taken.add(path);
        if (shown.record === "job") guessJob(search);
        else guessPost(search, communities);
        break;
      default:
    }
  }
  return guesses;
}

function searchOf(shown: Shown, guesses: ValueGuess[]): Search {
  const { record, items, known } = shown;
  const taken = new Set(known.values());
  const found = new Set(known.keys());
  return {
    shown,
    columns: flatten(items),
    taken,
    isOpen: (field) => !found.has(field),
    guess(field, path, because) {
      if (path === undefined || found.has(field) || taken.has(path)) return;
      found.add(field);
      taken.add(path);
      guesses.push({ record, field, path, because });
    },
  };
}

/** Networks give a thing one name: the body of a write names its field in answers too. */
function guessNamed({ shown: { record }, columns, guess }: Search, words: BodyWords): void {
  for (const [field, word] of words)
    if (field.startsWith(`${record}.`)) {
      const paths = [...columns.keys()].filter((path) => path.split(".").at(-1) === word);
      guess(field.slice(record.length + 1), paths.toSorted((a, b) => a.length - b.length)[0], "named like the input of a write");
    }
}

/** An account, or a community: its names come back elsewhere, and the rest is the only one of its kind. */
function guessAccount(search: Search, [place]: readonly Place[], people: readonly Place[]): void {
  const { guess, shown, taken } = search;
  const isAgent = shown.record === "agent";
  if (place !== undefined) {
    const { id, handle } = namesAt(place, people);
    guess("id", id, "its values come back elsewhere");
    guess("handle", handle ?? (isAgent ? id : undefined), "its values come back elsewhere");
  }
  const texts = textColumns(search);
  const left = (): typeof texts => texts.filter(([path]) => !taken.has(path));
  const handle = shown.known.get("handle") ?? (place === undefined ? undefined : namesAt(place, people).handle);
  const name = left().find(([path]) => handle !== undefined && isSpelt(shown.items, path, handle));
  guess("name", name?.[0], "the handle in other letters");
  const prose = left().filter(([, values]) => values.some((text) => SEVERAL_WORDS.test(text)));
  guess(isAgent ? "bio" : "description", onlyPath(prose), "the only text");
  if (isAgent) {
    guess("tier", left().find(([, values]) => values.every((word) => TIERS.has(word.toLowerCase())))?.[0], "words for tiers");
    const words = left().filter(([, values]) => new Set(values).size <= MAX_STATES && values.every((word) => /^\S{2,}$/.test(word)));
    guess("trust", search.isOpen("tier") ? undefined : onlyPath(words), "the only other word");
  }
  const numbers = numbersIn(search);
  guess(isAgent ? "reputation" : "memberCount", onlyPath(numbers), "the only number");
  if (isAgent) guess("skills", onlyWords(search), "the only list of words");
  else guess("joined", onlyBoolean(search), "the only yes or no");
}

/** Common words for tiers. */
const TIERS: ReadonlySet<string> = new Set([
  "free",
  "basic",
  "starter",
  "growth",
  "plus",
  "pro",
  "team",
  "business",
  "scale",
  "enterprise",
]);

/** True if the handle of most objects is their name in small letters: `ada-vance` of `Ada Vance`. */
function isSpelt(items: readonly JsonObject[], path: string, handle: string): boolean {
  const textAt = (item: JsonObject, at: string): string => readText(valueAt(item, fieldPath(at)) ?? null) ?? "";
  const plain = (text: string): string =>
    text
      .normalize("NFD")
      .toLowerCase()
      .replaceAll(/[^a-z\d]/g, "");
  const alike = items.filter((item) => {
    const [name, own] = [textAt(item, path), textAt(item, handle)];
    return name !== own && own !== "" && plain(name).startsWith(plain(own).slice(0, SPELT_ALIKE));
  });
  return alike.length > items.length / 2;
}

const SPELT_ALIKE = 4;

function onlyWords(search: Search): string | undefined {
  const found = inEach(search, (value) => Array.isArray(value) && value.every((word: Json) => typeof word === "string"));
  return found[0]?.[1].some((value) => Array.isArray(value) && value.length > 0) === true ? onlyPath(found) : undefined;
}

function guessPeople(search: Search, here: readonly Place[], people: readonly Place[]): void {
  const { shown, guess } = search;
  const nameAll = (role: string, place: Place | undefined, because: string): void => {
    if (place === undefined) return;
    const [plainAt] = place.members.has(place.at) ? [place.at] : [];
    if (plainAt !== undefined) {
      const own = roleOf(place, people);
      const other = pairOf(search, plainAt);
      guess(own === "id" ? `${role}Id` : `${role}Handle`, plainAt, because);
      guess(own === "id" ? `${role}Handle` : `${role}Id`, other, "one for each of the other name");
      return;
    }
    const { id, handle } = namesAt(place, people);
    guess(`${role}Id`, id, because);
    guess(`${role}Handle`, handle, because);
  };
  const isJob = shown.record === "job";
  const plain = here.filter(({ isList }) => !isList);
  const author = authorOf(search, plain, people);
  nameAll("author", author, "each object has one, and its values come back elsewhere");
  const [assignee, ...others] = plain.filter((place) => !place.isEverywhere && !isTaken(place, search));
  if (isJob && others.length === 0) nameAll("assignee", assignee, "some objects have one, and its values are those of people");
  const lists = here.filter(({ isList, at }) => isList && at !== "");
  const [list] = lists;
  if (list === undefined || lists.length > 1) return;
  const { id, handle } = namesAt(list, people);
  const path = (id ?? handle ?? "").replace(/\[\]$/, "");
  guess(isJob ? "applicantIds" : "likedBy", path === "" ? undefined : path, "a list of people");
}

function isTaken({ members }: Place, { taken }: Search): boolean {
  return [...members.keys()].every((path) => taken.has(path));
}

/** The plain value beside another one that changes with it, and only with it: a handle beside an id. */
function pairOf({ shown: { items }, columns, taken }: Search, path: string): string | undefined {
  const at = (other: string): readonly (Json | undefined)[] => items.map((item) => valueAt(item, fieldPath(other)) ?? undefined);
  const known = at(path);
  const isPair = (other: string): boolean => {
    const values = at(other);
    const pairs = new Set(values.map((value, i) => JSON.stringify([known[i] ?? null, value ?? null])));
    return (
      new Set(known).size > 1 && pairs.size === new Set(known).size && pairs.size === new Set(values).size && pairs.size < items.length
    );
  };
  const isName = (values: readonly Json[]): boolean => values.every((value) => /^\S{1,64}$/.test(readId(value) ?? ""));
  const found = [...columns].filter(([other, values]) => other !== path && !taken.has(other) && isName(values) && isPair(other));
  return onlyPath(found);
}

/** In each object; where several are, the one that other records have under the same name. Two plain names of one person are one place. */
function authorOf(search: Search, plain: readonly Place[], people: readonly Place[]): Place | undefined {
  const all = plain.filter(({ isEverywhere }) => isEverywhere);
  const everywhere = all.filter((place, i) => !all.slice(0, i).some((other) => pairOf(search, other.at) === place.at));
  const shared = everywhere.filter(({ at, record }) => people.some((other) => other.record !== record && other.at === at));
  const [first, ...others] = shared.length > 0 ? shared : everywhere;
  return others.length === 0 ? first : undefined;
}

/** More words are no states. */
const MAX_STATES = 9;
const MAX_STATE_LENGTH = 40;

function guessJob(search: Search): void {
  const { guess, isOpen } = search;
  guess("status", statusIn(search), "few words, and each job has one");
  const texts = textsIn(search);
  if (isOpen("description")) guess("description", texts.at(-1)?.path, "the longest text");
  if (isOpen("title")) guess("title", texts.filter(({ path }) => !search.taken.has(path)).at(-1)?.path, "a text of its own in each job");
  guess("reward", amountIn(search), "the only amount");
  guess("applied", onlyBoolean(search), "the only yes or no");
  guess("skills", onlyWords(search), "the only list of words");
  guess("deadlineMs", onlyLater(search), "the only other time, and later");
}

/** The only time that is later than the making of each object. */
function onlyLater({ shown: { items, known }, columns, taken }: Search): string | undefined {
  const made = known.get("createdAtMs");
  const msAt = (item: JsonObject, path: string): number | undefined => readTime(valueAt(item, fieldPath(path)) ?? null, "auto");
  const isLater = (path: string): boolean =>
    made !== undefined && items.every((item) => (msAt(item, path) ?? Infinity) > (msAt(item, made) ?? 0));
  const found = [...columns].filter(([path, values]) => !taken.has(path) && isWhen(values) && isLater(path));
  return onlyPath(found);
}

/** The one amount with a unit, else the one text of a number, else the one number that counts nothing. */
function amountIn(search: Search): string | undefined {
  const { shown, taken } = search;
  const texts = textColumns(search).filter(([path, values]) => !taken.has(path) && values.length >= shown.items.length);
  const all = (holds: (text: string) => boolean) => texts.filter(([, values]) => values.every(holds));
  const numbers = numbersIn(search).filter(([, values]) => values.some((value) => value !== 0) && !isCount(values, shown.items));
  for (const found of [all((text) => unitIn(text) !== undefined), all((text) => /\.\d\d?$/.test(text) && isNumber(text)), numbers])
    if (found.length > 0) return onlyPath(found);
  return undefined;
}

function isNumber(value: Json): boolean {
  return readNumber(value) !== undefined;
}

/** The words of each job that are few: known ones first, then those that change as somebody gets the job. */
function statusIn({ shown: { items, known }, columns, taken }: Search): string | undefined {
  const assignee = known.get("assigneeId") ?? known.get("assigneeHandle");
  const ranked = [...columns].flatMap(([path, values]) => {
    const words = new Set(values);
    const isWord = (value: Json): boolean =>
      typeof value === "string" && value.length <= MAX_STATE_LENGTH && unitIn(value) === undefined && !isNumber(value);
    // A currency beside its amount.
    const above = path.includes(".") ? path.slice(0, path.lastIndexOf(".") + 1) : undefined;
    if (above !== undefined && [...columns].some(([other, found]) => other.startsWith(above) && found.every(isNumber))) return [];
    const isFew = words.size <= MAX_STATES && (words.size < items.length || items.length === 1);
    if (taken.has(path) || values.length < items.length || !isFew || !values.every(isWord) || isWhen(values)) return [];
    const isKnown = [...words].some((word) => typeof word === "string" && STATE_WORDS.has(statusWord(word)));
    const follows = assignee !== undefined && words.size > 1 && changesWith(items, path, assignee);
    return [{ path, rank: (isKnown ? 4 : 0) + (follows ? 2 : 0) + (words.size > 1 ? 1 : 0) }];
  });
  const [first, second] = ranked.toSorted((a, b) => b.rank - a.rank);
  return first === undefined || first.rank === second?.rank ? undefined : first.path;
}

/** True if no word stands in jobs with somebody and in jobs without. */
function changesWith(items: readonly JsonObject[], path: string, assignee: string): boolean {
  const [word, somebody] = [fieldPath(path), fieldPath(assignee)];
  const isGiven = (item: JsonObject): boolean => (valueAt(item, somebody) ?? null) !== null;
  const given = new Set(items.filter(isGiven).map((item) => valueAt(item, word)));
  return given.size > 0 && !items.some((item) => !isGiven(item) && given.has(valueAt(item, word)));
}

/** Texts of several words in each object, the shortest first. */
function textsIn(search: Search): readonly { readonly path: string; readonly length: number }[] {
  const { shown, taken } = search;
  return textColumns(search)
    .filter(
      ([path, values]) =>
        !taken.has(path) &&
        values.length >= shown.items.length &&
        new Set(values).size > values.length / 2 &&
        values.filter((text) => SEVERAL_WORDS.test(text)).length > values.length / 2 &&
        !values.every((text) => unitIn(text) !== undefined),
    )
    .map(([path, values]) => ({ path, length: values.join("").length }))
    .toSorted((a, b) => a.length - b.length);
}

const SEVERAL_WORDS = /\S\s+\S/;

/** Places of texts that are no times. */
function textColumns({ columns }: Search): readonly (readonly [path: string, texts: readonly string[]])[] {
  return [...columns].flatMap(([path, values]) => {
    const texts = values.filter((value) => typeof value === "string");
    return texts.length < values.length || isWhen(values) ? [] : [[path, texts] as const];
  });
}

function guessPost(search: Search, communities: readonly Place[]): void {
  const { shown, columns, guess } = search;
  const place = communities.find(({ record, isList }) => record === "post" && !isList);
  const { handle, id } = place === undefined ? {} : namesAt(place, communities);
  guess("community", place?.members.has(place.at) === true ? place.at : (handle ?? id), "its values are those of communities");
  const counts = numbersIn(search);
  const replies = shown.known.get("replies");
  const fans = shown.known.get("likedBy");
  const countOf = (list: string | undefined): string | undefined =>
    counts.find(([, values]) => list !== undefined && isLengthOf(values, shown.items, list))?.[0];
  guess("replyCount", countOf(replies), "it counts the replies");
  guess("votes", countOf(fans), "it counts those who voted");
  guess("votes", onlyPath(counts.filter(([path]) => !search.taken.has(path))), "the only number");
  const own = counts.filter(([path, values]) => !search.taken.has(path) && values.every((value) => Math.abs(Number(value)) <= 1));
  const more = counts.filter((one) => !search.taken.has(one[0]) && !own.includes(one));
  if (own.length === 1 && more.length === 1 && !search.isOpen("replyCount")) {
    guess("ownVote", own[0]?.[0], "never more than one, beside a number that is");
    guess("votes", more[0]?.[0], "the only other number");
  }
  guess("ownVote", onlyBoolean(search) ?? voteWord(search), "the only yes or no");
  guess("parentId", parentIn(shown, columns), "its values are ids of other posts");
}

/** Places without a meaning that hold such a value in each object, whole objects and items of a list mixed. */
function inEach(
  { shown: { items }, columns, taken }: Search,
  holds: (value: Json) => boolean,
): readonly (readonly [string, readonly Json[]])[] {
  return [...columns].filter(([path, values]) => !taken.has(path) && values.length >= items.length && values.every(holds));
}

/** A number in each, that is no time. */
function numbersIn(search: Search): readonly (readonly [string, readonly Json[]])[] {
  return inEach(search, (value) => typeof value === "number").filter(([, values]) => !isWhen(values));
}

function onlyBoolean(search: Search): string | undefined {
  return onlyPath(inEach(search, (value) => typeof value === "boolean"));
}

/** `none` in each post, or `up` in some. */
function voteWord(search: Search): string | undefined {
  return onlyPath(inEach(search, (value) => typeof value === "string" && readVote(value) !== undefined));
}

/** The place, if there is only one. */
function onlyPath(found: readonly (readonly [path: string, values: unknown])[]): string | undefined {
  return found.length === 1 ? found[0]?.[0] : undefined;
}

/** True for numbers that are the length of a list of their own object. */
function isCount(values: readonly Json[], items: readonly JsonObject[]): boolean {
  return [...flatten(items)].some(([path, found]) => found.some((value) => Array.isArray(value)) && isLengthOf(values, items, path));
}

function isLengthOf(values: readonly Json[], items: readonly JsonObject[], list: string): boolean {
  const lengths = items.map((item) => valueAt(item, fieldPath(list))).map((found) => (Array.isArray(found) ? found.length : undefined));
  return lengths.some((length) => (length ?? 0) > 0) && values.every((value, i) => value === (lengths[i] ?? value));
}

/** The member of replies, or of posts in the list, that is the id of another post. */
function parentIn({ items, known }: Shown, columns: Columns): string | undefined {
  const [id, replies] = [known.get("id"), known.get("replies")];
  if (id === undefined) return undefined;
  const ids = new Set(items.map((item) => valueAt(item, fieldPath(id))));
  const isOther = (values: readonly Json[]): boolean => values.length > 0 && values.every((value) => ids.has(value));
  const below = items.flatMap((item) => {
    const list = replies === undefined ? undefined : valueAt(item, fieldPath(replies));
    return Array.isArray(list) ? (list as readonly Json[]).filter((one): one is JsonObject => isObject(one)) : [];
  });
  const found = [...columns, ...flatten(below)].find(([path, values]) => path !== id && isOther(values));
  return found?.[0];
}

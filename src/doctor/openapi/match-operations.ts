/** Finds the operations of the interface in a document, by the nouns and verbs of its paths, and by what its answers hold. */
import { OPERATION_NAMES, type OperationName } from "../../contract/operations.ts";
import type { ApiOperation } from "./api-operations.ts";

export type Kind = "post" | "job" | "community" | "agent" | "webhook";
type Verb = "reply" | "vote" | "apply" | "submit" | "join" | "leave" | "stats" | "search" | "token" | "refresh";

/** Nouns of networks of this kind, in the singular. */
const NOUNS: { readonly [kind in Kind]: readonly string[] } = {
  post: words("post thread note update message entry story toot article feed timeline wall publication moment question thought stream"),
  job: words(
    "job gig task bounty order quest mission contract work ticket assignment project opening listing errand commission challenge chore",
  ),
  community: words("community submolt group space channel forum board room guild hub club circle tribe team topic realm den hall"),
  agent: words("agent bot specialist user account member profile persona actor citizen resident worker people person participant"),
  webhook: words("webhook hook subscription callback endpoint listener"),
};
/** Ends of paths that name an action on an object, in the singular. */
const VERBS: { readonly [verb in Verb]: readonly string[] } = {
  reply: words("reply comment answer respond response remark"),
  vote: words("vote like upvote reaction react boost favourite favorite kudo star clap endorsement endorse opinion thumb"),
  apply: words(
    "apply bid application proposal claim offer candidacy pitch tender interest applicant volunteer candidate request enlist signup",
  ),
  submit: words(
    "submit deliver complete delivery result submission completion finish deliverable output fulfil fulfill handin hand_in turn_in work",
  ),
  join: words("join subscribe member membership follow enter subscription subscriber enroll"),
  leave: words("leave unsubscribe unfollow quit exit"),
  stats: words("stat statistic metric reputation score karma"),
  search: words("search find lookup query"),
  token: words("token session login authenticate"),
  refresh: words("refresh renew"),
};
const VERSION = /^(?:v\d+(?:\.\d+)*|api|rest|public)$/;

function words(list: string): readonly string[] {
  return list.split(" ");
}

/** A path by its parts. */
interface Shape {
  /** Fixed segments, in the singular, without a version. */
  readonly fixed: readonly string[];
  /** Fixed segments before the last parameter, and after it. */
  readonly before: readonly string[];
  readonly after: readonly string[];
  readonly parameters: readonly string[];
  readonly endsInParameter: boolean;
}

export interface Match {
  readonly name: OperationName;
  readonly operation: ApiOperation;
  /** True where nothing but elimination speaks for it. */
  readonly isDoubtful: boolean;
}

export interface Matches {
  readonly found: readonly Match[];
  /** Operations of the document that are none of ours. */
  readonly others: readonly ApiOperation[];
  /** Actions of ours without an operation that one of the others may be: they act on the same kind of object. */
  readonly perhaps: ReadonlyMap<ApiOperation, readonly OperationName[]>;
}

/** `kindOf` says which kind of object an operation's answer holds, where its words do not. */
export function matchOperations(operations: readonly ApiOperation[], kindOf: (operation: ApiOperation) => Kind | undefined): Matches {
  const known = kindsByNoun(operations, kindOf);
  const scored = operations.flatMap((operation) => rolesOf(operation, known).map((role) => ({ ...role, operation })));
  const taken = new Set<ApiOperation>();
  const found: Match[] = [];
  const take = (match: Match): void => {
    taken.add(match.operation);
    found.push(match);
  };
  for (const name of OPERATION_NAMES) {
    const [best] = scored.filter((one) => one.name === name && !taken.has(one.operation)).toSorted((a, b) => a.cost - b.cost);
    if (best !== undefined) take({ name, operation: best.operation, isDoubtful: best.cost >= DOUBTFUL });
  }
  const reply = found.some(({ name }) => name === "posts.reply") ? undefined : onlyTextBelow(operations, known, taken);
  if (reply !== undefined) take({ name: "posts.reply", operation: reply, isDoubtful: true });
  const others = operations.filter((operation) => !taken.has(operation));
  const open = (operation: ApiOperation): readonly OperationName[] =>
    actionsLike(operation, known).filter((name) => !found.some((match) => match.name === name));
  return { found, others, perhaps: new Map(others.map((operation) => [operation, open(operation)])) };
}

const ACTIONS: { readonly [kind in Kind]?: readonly OperationName[] } = {
  post: ["posts.reply", "posts.vote"],
  job: ["jobs.apply", "jobs.submit"],
  community: ["communities.join", "communities.leave"],
};

function actionsLike({ method, path }: ApiOperation, known: ReadonlyMap<string, Kind>): readonly OperationName[] {
  const { before, after, parameters } = shapeOf(path);
  const kind = kindIn(before.at(-1), known);
  const isAction = (method === "POST" || method === "PUT") && parameters.length === 1 && after.length === 1;
  return isAction && kind !== undefined ? (ACTIONS[kind] ?? []) : [];
}

/** The one remaining action on a post that takes a body. */
function onlyTextBelow(
  operations: readonly ApiOperation[],
  known: ReadonlyMap<string, Kind>,
  taken: ReadonlySet<ApiOperation>,
): ApiOperation | undefined {
  const left = operations.filter((operation) => {
    const { before, after, parameters } = shapeOf(operation.path);
    const isPost = kindIn(before.at(-1), known) === "post" && after.length === 1 && parameters.length === 1;
    return isPost && operation.method === "POST" && operation.body !== undefined && !taken.has(operation);
  });
  return left.length === 1 ? left[0] : undefined;
}

interface Role {
  readonly name: OperationName;
  /** The least wins. */
  readonly cost: number;
}

/** From here on a role rests on words beside the path. */
const DOUBTFUL = 50;

function rolesOf(operation: ApiOperation, known: ReadonlyMap<string, Kind>): readonly Role[] {
  const shape = shapeOf(operation.path);
  const { fixed, before, after, endsInParameter, parameters } = shape;
  const cost = operation.path.length / 10 + 5 * Math.max(0, parameters.length - 1);
  const role = (name: OperationName, more = 0): readonly Role[] => [{ name, cost: cost + more }];
  const access = accessRole(operation, fixed);
  if (access !== undefined) return role(access);
  const search = searchRole(operation, fixed, known);
  if (search !== undefined) return role(search);
  if (parameters.length > 1) return []; // a path with two objects cannot be stated
  if (endsInParameter) return itemRole(operation, kindIn(before.at(-1), known)).flatMap((name) => role(name));
  if (parameters.length === 1) {
    const kind = kindIn(before.at(-1), known);
    const verb = verbIn(after.at(-1)) ?? verbIn(wordsOf(operation.named));
    const names = kind === undefined || verb === undefined ? [] : actionRole(operation, kind, verb);
    return names.flatMap((name) => role(name, verbIn(after.at(-1)) === undefined ? DOUBTFUL : 0));
  }
  const last = fixed.at(-1);
  const kind = kindIn(last, known);
  const whole = kind === undefined ? [] : collectionRole(operation, kind);
  // `/bids` with the job in the body.
  const verb = kind === undefined ? verbIn(last) : undefined;
  const action = verb === undefined || operation.body === undefined ? [] : actionRole(operation, KIND_OF_VERB[verb], verb);
  const nested = fixed.length > 1 ? fixed.length : 0;
  return [...whole.flatMap((name) => role(name, nested)), ...action.flatMap((name) => role(name, 1))];
}

const KIND_OF_VERB: { readonly [verb in Verb]: Kind | undefined } = {
  reply: "post",
  vote: "post",
  apply: "job",
  submit: "job",
  join: "community",
  leave: "community",
  stats: "agent",
  search: undefined,
  token: undefined,
  refresh: undefined,
};

function accessRole({ method, body, path }: ApiOperation, fixed: readonly string[]): OperationName | undefined {
  const isAccess = fixed.some((segment) => /^(?:auth|oauth2?|o_auth|token|session|login)$/.test(segment));
  if (!isAccess || method !== "POST" || path.includes("{")) return undefined;
  if (VERBS.refresh.includes(fixed.at(-1) ?? "")) return "auth.refresh";
  return VERBS.token.includes(fixed.at(-1) ?? "") || body !== undefined ? "auth.token" : undefined;
}

function searchRole(
  { method, named }: ApiOperation,
  fixed: readonly string[],
  known: ReadonlyMap<string, Kind>,
): OperationName | undefined {
  if (!fixed.some((segment) => VERBS.search.includes(segment)) || (method !== "POST" && method !== "GET")) return undefined;
  const kinds = fixed.flatMap((segment) => kindIn(segment, known) ?? []);
  if (kinds.includes("job")) return "search.jobs";
  if (kinds.includes("agent")) return "search.agents";
  return fixed.includes("web") || /\bweb\b/i.test(named) ? "search.web" : undefined;
}

function itemRole({ method }: ApiOperation, kind: Kind | undefined): readonly OperationName[] {
  const isChange = method === "PATCH" || method === "PUT";
  switch (kind) {
    case "post":
      return method === "GET" ? ["posts.get"] : method === "DELETE" ? ["posts.delete"] : [];
    case "job":
      return method === "GET" ? ["jobs.get"] : [];
    case "community":
      return method === "GET" ? ["communities.get"] : [];
    case "agent":
      return method === "GET" ? ["agents.get"] : method === "DELETE" ? ["agents.delete"] : isChange ? ["agents.update"] : [];
    case "webhook":
      return method === "DELETE" ? ["webhooks.delete"] : [];
    case undefined:
      return [];
  }
}

function collectionRole({ method }: ApiOperation, kind: Kind): readonly OperationName[] {
  const noun = ({ post: "posts", job: "jobs", community: "communities", agent: "agents", webhook: "webhooks" } as const)[kind];
  if (method === "GET") return [`${noun}.list`];
  return method === "POST" && noun !== "communities" ? [`${noun}.create`] : [];
}

function actionRole({ method }: ApiOperation, kind: Kind | undefined, verb: Verb): readonly OperationName[] {
  const isWrite = method === "POST" || method === "PUT";
  if (kind === "post") return isWrite && verb === "reply" ? ["posts.reply"] : isWrite && verb === "vote" ? ["posts.vote"] : [];
  if (kind === "job") return isWrite && verb === "apply" ? ["jobs.apply"] : isWrite && verb === "submit" ? ["jobs.submit"] : [];
  if (kind === "agent") return method === "GET" && verb === "stats" ? ["agents.stats"] : [];
  if (kind !== "community") return [];
  if (verb === "leave" || (verb === "join" && method === "DELETE")) return ["communities.leave"];
  return isWrite && verb === "join" ? ["communities.join"] : [];
}

/** Collections of which only the answers, or the operation's name, say what they hold. */
/** Nouns that mean this on one network and that on another: the answers decide. */
const AMBIGUOUS: ReadonlySet<string> = new Set(
  words("topic message update entry stream group member account subscription question listing project request"),
);

function kindsByNoun(
  operations: readonly ApiOperation[],
  kindOf: (operation: ApiOperation) => Kind | undefined,
): ReadonlyMap<string, Kind> {
  const known = new Map<string, Kind>();
  for (const operation of operations) {
    const { fixed, parameters } = shapeOf(operation.path);
    const last = fixed.at(-1);
    if (last === undefined || parameters.length > 0 || verbIn(last) !== undefined) continue;
    if (AMBIGUOUS.has(last) && operation.method === "GET") {
      const seen = kindOf(operation);
      if (seen !== undefined) known.set(last, seen);
      continue;
    }
    if (kindIn(last, known) !== undefined) continue;
    const kind =
      operation.method === "GET"
        ? (wordsOf(operation.named).flatMap((word) => kindIn(word, known) ?? [])[0] ?? kindOf(operation))
        : undefined;
    if (kind !== undefined) known.set(last, kind);
  }
  return known;
}

function kindIn(segment: string | undefined, known: ReadonlyMap<string, Kind>): Kind | undefined {
  if (segment === undefined) return undefined;
  const kinds = Object.entries(NOUNS) as [Kind, readonly string[]][];
  return known.get(segment) ?? kinds.find(([, nouns]) => nouns.includes(segment))?.[0];
}

function verbIn(words: string | readonly string[] | undefined): Verb | undefined {
  const list = words === undefined ? [] : [words].flat();
  const verbs = Object.entries(VERBS) as [Verb, readonly string[]][];
  return verbs.find(([, names]) => list.some((word) => names.includes(word)))?.[0];
}

function shapeOf(path: string): Shape {
  const segments = path.split("/").filter((segment) => segment !== "");
  const lastAt = segments.findLastIndex(isParameter);
  const fixedIn = (part: readonly string[]): readonly string[] =>
    part.filter((segment) => !isParameter(segment) && !VERSION.test(segment)).map((segment) => singular(segment));
  return {
    fixed: fixedIn(segments),
    before: fixedIn(segments.slice(0, Math.max(0, lastAt))),
    after: lastAt < 0 ? [] : fixedIn(segments.slice(lastAt + 1)),
    parameters: segments.filter(isParameter),
    endsInParameter: lastAt >= 0 && lastAt === segments.length - 1,
  };
}

function isParameter(segment: string): boolean {
  return segment.includes("{");
}

/** The words of a name or a sentence, in the singular. */
function wordsOf(text: string): readonly string[] {
  return text
    .replaceAll(/([a-z\d])([A-Z])/g, "$1 $2")
    .split(/[^A-Za-z]+/)
    .filter((word) => word !== "")
    .map((word) => singular(word));
}

/** `Communities` as `community`. */
export function singular(word: string): string {
  const plain = word
    .replaceAll(/([a-z\d])([A-Z])/g, "$1_$2")
    .replaceAll("-", "_")
    .toLowerCase();
  if (/[^aeiou]ies$/.test(plain)) return `${plain.slice(0, -3)}y`;
  if (/(?:ch|sh|ss|x)es$/.test(plain)) return plain.slice(0, -2);
  return /[^su]s$/.test(plain) ? plain.slice(0, -1) : plain;
}

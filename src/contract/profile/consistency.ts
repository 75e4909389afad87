/** Checks a profile beyond its schema: its parts must fit together. Each problem carries its path into the data. */
import { EVENT_KINDS, isEventKind } from "../event-kinds.ts";
import { FIELDS } from "../reading/fields.ts";
import type { Json } from "../../core/json.ts";
import { isOperationName, OPERATION_NAMES, OPERATIONS, type OperationName } from "../operations.ts";
import { checkContradictions } from "./contradictions.ts";
import type { ProfileProblem } from "./profile-problem.ts";
import type { ProfileOperation } from "./network-operations.ts";
import type { InputField, ProfileData } from "./source.ts";
import { OWN_ID, pathFields, templateFields } from "./template.ts";
import { isTrade } from "../secrets.ts";
import { isTier, TIERS } from "../tiers.ts";
import { statusWord } from "../reading/values.ts";

/** Lists everything that keeps a profile from working. */
export function checkProfile(data: ProfileData, operations: ReadonlyMap<string, ProfileOperation>): ProfileProblem[] {
  return [
    ...Object.keys(data.operations).flatMap((name) => {
      const operation = operations.get(name);
      if (!isOperationName(name) || operation === undefined)
        return [
          {
            ...problem(["operations", name], `there is no operation "${name}"; a new one goes under extra`),
            mistyped: { name, known: OPERATION_NAMES },
          },
        ];
      return [...checkOverride(name, data.operations[name] ?? {}), ...checkOperation(["operations", name], operation)];
    }),
    ...Object.keys(data.extra).flatMap((name) => {
      const operation = operations.get(name);
      if (isOperationName(name) || operation === undefined)
        return [problem(["extra", name], "expected a name of its own, got that of a known operation; override it under operations")];
      return checkOperation(["extra", name], operation);
    }),
    ...checkRecords(data),
    ...checkStatuses(data),
    ...checkTrust(data),
    ...checkNames(data, operations),
    ...checkHeaders(data),
    ...checkContradictions(data, operations),
    ...Object.entries(data.webhooks.kinds).flatMap(([word, kind]) =>
      isEventKind(kind) || kind.startsWith("x:")
        ? []
        : [
            {
              ...problem(["webhooks", "kinds", word], `expected one of our event kinds or "x:<name>", got "${kind}"`),
              mistyped: { name: kind, known: EVENT_KINDS },
            },
          ],
    ),
  ];
}

function problem(path: ProfileProblem["path"], message: string): ProfileProblem {
  return { path, message };
}

/** Checks the overrides a user may not make to a published operation. */
function checkOverride(name: OperationName, over: ProfileData["operations"][string]): ProfileProblem[] {
  const row = OPERATIONS[name];
  const at = ["operations", name];
  // Halts, dry runs and the allow-list let reads through.
  const unsafe = over.effect === "read" && row.effect !== "read";
  const { shape } = row.input;
  return [
    ...(unsafe
      ? [problem([...at, "effect"], `${name} changes something, so it is not a read; expected idempotent, reconciled or at-most-once`)]
      : []),
    ...Object.entries(over.input ?? {}).flatMap(([input, { type, oneOf = [] }]) => {
      const own = Object.hasOwn(shape, input) ? shape[input] : undefined;
      if (own === undefined || [...oneOf, ...SAMPLES[type]].some((sample) => own.safeParse(sample).success)) return [];
      return [problem([...at, "input", input, "type"], `"${input}" is an input of ${name} already, of another type than ${type}`)];
    }),
  ];
}

/** Sample values of each type: an input that accepts none of them has another type. */
const SAMPLES: { readonly [type in InputField["type"]]: readonly Json[] } = {
  text: ["a", "up", "https://a.example/x"],
  number: [1, 1.5],
  money: [1, 1.5],
  integer: [1],
  boolean: [true],
  words: [["a"], []],
  json: [{}, "a", [], 1],
};

/** Each header has one home: headers that carry the key or describe the body are not stated elsewhere. */
function checkHeaders({ headers, auth, idempotencyHeader }: ProfileData): ProfileProblem[] {
  const taken = new Map([
    ...(auth.header === null ? [] : [[auth.header, "auth.header, which carries the key"] as const]),
    ...(auth.sign === undefined ? [] : [[auth.sign.header, "auth.sign.header, which carries the signature"] as const]),
    ...(auth.trade?.header === undefined || auth.trade.header === null
      ? []
      : [[auth.trade.header, "auth.trade.header, which carries the key"] as const]),
    ...OUR_HEADERS.map((name) => [name, "a header that every request sets"] as const),
  ]);
  const both = (path: ProfileProblem["path"], name: string): ProfileProblem[] => {
    const home = taken.get(name);
    return home === undefined ? [] : [problem(path, `"${name}" is ${home}; expected another header`)];
  };
  return [
    ...Object.keys(headers).flatMap((name) => both(["headers", name], name)),
    ...(idempotencyHeader === null ? [] : both(["idempotencyHeader"], idempotencyHeader)),
  ];
}

const OUR_HEADERS: readonly string[] = ["content-type", "content-length", "transfer-encoding", "host", "connection"];

/** Placeholders of a reply: the post at the root of the thread, and the comment answered, if it is not that post. */
const THREAD_NAMES: readonly string[] = ["thread", "comment"];

/** True for operations that go before the account's own id is known: those that show it, and those that give out keys. */
function showsAccount(operation: string): boolean {
  return operation === "agents.get" || operation === "agents.list" || isTrade(operation);
}

function checkOperation(at: readonly string[], operation: ProfileOperation): ProfileProblem[] {
  if (operation.unsupported !== undefined) return [];
  const { shape } = operation.input;
  const isKey = (name: string): boolean => name === "key" && isTrade(operation.name);
  const isReply = operation.name === "posts.reply";
  const known = (name: string): boolean =>
    isKey(name) ||
    (isReply && THREAD_NAMES.includes(name)) ||
    (name === "target" ? operation.target !== undefined : Object.hasOwn(shape, name));
  const fills = (name: string): boolean => known(name) || (name === OWN_ID && !showsAccount(operation.name));
  const inPath = pathFields(operation.path);
  const inQuery = templateFields(operation.query ?? {});
  const inBody = operation.body === undefined ? [] : templateFields(operation.body);
  const inputs = Object.keys(shape);
  const notOneOf = `which is no input of ${operation.name}; ${inputs.length === 0 ? "it has none" : `it has ${inputs.join(", ")}`}`;
  const problems: ProfileProblem[] = [];
  const say = (key: string, message: string): void => void problems.push(problem([...at, key], message));

  for (const name of [...inPath, ...inQuery])
    if (isKey(name)) say("path", "expected the key in a header or the body, since addresses are logged");
  const unfilled = (name: string): string =>
    `asks for "{${name}}", ${name === OWN_ID ? `the account's own id, which is not known before ${operation.name}` : notOneOf}`;
  for (const name of inPath)
    if (!fills(name))
      say(
        "path",
        name === OWN_ID ? unfilled(name) : `expected a source for the path parameter "${name}": the object acted on, or an input`,
      );
  for (const name of inQuery) if (!fills(name)) say("query", unfilled(name));
  for (const name of inBody) if (!fills(name)) say("body", unfilled(name));
  for (const name of Object.keys(operation.values)) if (!Object.hasOwn(shape, name)) say("values", `names "${name}", ${notOneOf}`);
  if (operation.completes !== undefined && !known(operation.completes)) say("completes", `names "${operation.completes}", ${notOneOf}`);
  if (operation.keyLifetimeMs !== undefined && operation.effect !== "idempotent")
    say("keyLifetimeMs", `counts for idempotent operations; ${operation.name} is ${operation.effect}`);
  if (operation.paging !== undefined && !operation.list)
    say("paging", `expected a list; ${operation.name} answers with one ${operation.record}`);
  if (operation.method === "GET" && operation.body !== undefined && operation.body !== null) say("body", "expected no body with GET");
  if (typeof operation.price === "object" && "input" in operation.price && !Object.hasOwn(shape, operation.price.input))
    say("price", `names "${operation.price.input}", ${notOneOf}`);

  const used = new Set([...inPath, ...inQuery, ...inBody]);
  if (
    operation.target !== undefined &&
    !used.has("target") &&
    operation.name !== "webhooks.delete" &&
    !(isReply && THREAD_NAMES.every((name) => used.has(name)))
  )
    say("path", `expected the ${operation.target} acted on in the path, query or body, as ":id" or "{target}"`);
  // Inputs in our own names are sent whole; a template sends only its placeholders.
  const templated = operation.body !== undefined || (operation.method === "GET" && operation.query !== undefined);
  for (const [name, type] of Object.entries(shape))
    if (templated && !used.has(name) && !Object.hasOwn(operation.values, name) && !type.safeParse(undefined).success)
      say(operation.method === "GET" ? "query" : "body", `never sends "{${name}}", which ${operation.name} requires`);
  return problems;
}

/** Interchangeable names: `author.handle` may be read as an author's id if there is no other. */
function family(field: string): string {
  return field === "name" || field === "handle" ? "id" : field.replace(/(?:Id|Handle)$/, "");
}

function checkRecords(data: ProfileData): ProfileProblem[] {
  return Object.entries(data.records).flatMap(([record, fields]) => {
    const owner = new Map<string, string>();
    return Object.entries(fields ?? {}).flatMap(([field, candidates]) =>
      (candidates ?? []).flatMap((candidate) => {
        const other = owner.get(candidate);
        owner.set(candidate, field);
        if (other === undefined || family(other) === family(field)) return [];
        return [problem(["records", record, field], `"${candidate}" is also a candidate of ${record}.${other}; one value cannot be both`)];
      }),
    );
  });
}

function checkStatuses(data: ProfileData): ProfileProblem[] {
  const owner = new Map<string, string>();
  return Object.entries(data.statuses).flatMap(([status, words]) =>
    (words ?? []).flatMap((word) => {
      const key = statusWord(word);
      const other = owner.get(key);
      owner.set(key, status);
      return other === undefined || other === status ? [] : [problem(["statuses", status], `"${word}" is also the word for ${other}`)];
    }),
  );
}

/** Each word of the network must map to one trust tier; otherwise its permissions are ambiguous. */
function checkTrust({ trust }: ProfileData): ProfileProblem[] {
  const words = new Map<string, string>();
  const reputations = new Map<number, string>();
  return Object.entries(trust).flatMap(([name, { reputation }]) => {
    const word = statusWord(name);
    const same = words.get(word);
    const level = reputation === undefined ? undefined : reputations.get(reputation);
    words.set(word, name);
    if (reputation !== undefined) reputations.set(reputation, name);
    return [
      ...(same === undefined ? [] : [problem(["trust", name], `is the same word as "${same}", which is a trust tier already`)]),
      ...(level === undefined
        ? []
        : [problem(["trust", name, "reputation"], `begins where "${level}" begins; expected another reputation`)]),
    ];
  });
}

function within(name: string, path: string): boolean {
  return path === name || path.startsWith(`${name}.`);
}

function checkNames(data: ProfileData, operations: ReadonlyMap<string, ProfileOperation>): ProfileProblem[] {
  const unknown = (path: ProfileProblem["path"], names: readonly string[]): ProfileProblem[] =>
    names.flatMap((name, index) =>
      operations.has(name)
        ? []
        : [
            {
              ...problem([...path, path.at(-1) === "prices" ? name : index], `"${name}" is not an operation of this profile`),
              mistyped: { name, known: [...operations.keys()] },
            },
          ],
    );
  return [
    ...Object.keys(data.tiers).flatMap((name) =>
      isTier(name)
        ? []
        : [{ ...problem(["tiers", name], `there is no tier "${name}"; expected ${TIERS.join(", ")}`), mistyped: { name, known: TIERS } }],
    ),
    ...data.guesses.flatMap((guess, index) => {
      const [section = "", ...rest] = guess.split(".");
      const known = section === "records" ? Object.keys(FIELDS) : Object.keys(data);
      const name = section === "records" ? (rest[0] ?? known[0] ?? "") : section;
      const isOperation =
        section !== "operations" || rest.length === 0 || [...operations.keys()].some((one) => within(one, rest.join(".")));
      return known.includes(name) && isOperation
        ? []
        : [{ ...problem(["guesses", index], `"${guess}" is not a path in a profile`), mistyped: { name, known } }];
    }),
    ...data.limits.flatMap((limit, index) =>
      unknown(
        ["limits", index, "operations"],
        limit.operations.filter((name) => !/^(?:\w[\w-]*\.)?\*$/.test(name)),
      ),
    ),
    ...data.answers.flatMap((rule, index) => unknown(["answers", index, "operations"], rule.operations ?? [])),
    ...(["tiers", "trust"] as const).flatMap((section) =>
      Object.entries(data[section]).flatMap(([name, { lacks, prices }]) => [
        ...unknown([section, name, "lacks"], lacks ?? []),
        ...unknown([section, name, "prices"], Object.keys(prices ?? {})),
      ]),
    ),
    ...Object.keys(data.records).flatMap((record) =>
      Object.hasOwn(FIELDS, record) ? [] : [problem(["records", record], "is not one of our records")],
    ),
  ];
}

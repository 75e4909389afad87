/** Operations of one network: the table's row, the set's endpoint and the profile's overrides as one value. */
import { z } from "zod";
import { defined } from "../../core/defined.ts";
import type { Json } from "../../core/json.ts";
import {
  isOperationName,
  OPERATION_NAMES,
  OPERATIONS,
  page,
  SETS,
  type Effect,
  type Endpoint,
  type EndpointSet,
  type Lane,
  type Method,
  type Operation,
  type OperationName,
  type RecordName,
} from "../operations.ts";
import { COLLECTIONS, type InputField, type OperationOverride, type OperationSource, type Price, type ProfileData } from "./source.ts";
import { OWN_ID, pathFields, targetBy, templateFields } from "./template.ts";

export interface ProfileOperation {
  readonly name: string;
  readonly purpose: string;
  readonly method: Method;
  /** With `:id`, `:handle`, `:target` or `{target}` for the object acted on. Empty if `unsupported`. */
  readonly path: string;
  readonly target?: NonNullable<Operation["target"]>;
  /** Identifier of the object acted on. */
  readonly targetBy?: "id" | "handle";
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  /** Body template; undefined for the inputs in our own names, null for no body. */
  readonly body?: Json;
  readonly encoding: "json" | "form";
  readonly values: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  readonly input: z.ZodObject;
  /** Inputs that are amounts of money: given in whole units, sent as the network counts them. */
  readonly money: readonly string[];
  readonly effect: Effect;
  readonly lane: Lane;
  readonly price: Price;
  /** Place of the actual cost in an answer. */
  readonly charged?: readonly string[];
  /** Requests of quota that one call costs. */
  readonly weight: number;
  /** Operations on the same object that are sent before it, as a part of it. */
  readonly before?: readonly string[];
  /** The list that shows the replies of a post, which are not in it. */
  readonly replies?: string;
  /** Values of the answer that its receipt holds, by their places. */
  readonly receipt: Readonly<Record<string, readonly string[]>>;
  /** How long the network honours an idempotency key of it. */
  readonly keyLifetimeMs?: number;
  /** The input that names the pending action which this one completes. */
  readonly completes?: string;
  /** Inputs that the record acted on gives, by their places in it. */
  readonly from: Readonly<Record<string, readonly string[]>>;
  /** States of a job in which the price comes back; undefined if it is no stake. */
  readonly returned?: readonly string[];
  readonly record: RecordName;
  readonly list: boolean;
  readonly answer: "record" | "any";
  /** Differences from the profile's paging. */
  readonly paging?: Readonly<Partial<ProfileData["paging"]>>;
  /** Reason for which the network lacks it. */
  readonly unsupported?: string;
  /** Defined by the profile alone, not one of the 29. */
  readonly extra: boolean;
}

/** All operations that a profile can name, by name. */
export function profileOperations(data: ProfileData, set: EndpointSet): ReadonlyMap<string, ProfileOperation> {
  const known = OPERATION_NAMES.map((name): [string, ProfileOperation] => [
    name,
    merged(OPERATIONS[name], data.operations[name] ?? {}, endpointIn(name, set, data), missingIn(name, set)),
  ]);
  const extra = Object.entries(data.extra).map(([name, source]): [string, ProfileOperation] => [name, extraOperation(name, source)]);
  return new Map([...known, ...extra]);
}

/** The operations that names and patterns (`posts.*`, `*`) stand for. */
export function namedBy(patterns: readonly string[], operations: ReadonlyMap<string, ProfileOperation>): string[] {
  const known = [...operations.values()].filter(({ unsupported }) => unsupported === undefined).map(({ name }) => name);
  const named = patterns.flatMap((one) =>
    one === "*" ? known : one.endsWith(".*") ? known.filter((name) => name.startsWith(one.slice(0, -1))) : one,
  );
  return [...new Set(named)];
}

/** The published endpoint, in the network's own collection. */
function endpointIn(name: OperationName, set: EndpointSet, { collections = {} }: ProfileData): Endpoint | undefined {
  const endpoint: Endpoint | undefined = OPERATIONS[name].endpoints[set];
  const noun = COLLECTIONS.find((one) => name.startsWith(`${one}.`));
  const own = noun === undefined ? undefined : collections[noun];
  if (endpoint === undefined || own === undefined) return endpoint;
  return { ...endpoint, path: inCollection(endpoint.path, own) };
}

/** `/v1/posts/:id` as `/notes/:id`. */
export function inCollection(published: string, collection: string): string {
  return published.replace(/^\/v1\/[a-z]+/, () => collection);
}

function merged(row: Operation, over: OperationOverride, endpoint: Endpoint | undefined, missing: string | undefined): ProfileOperation {
  const method = over.method ?? endpoint?.method;
  const path = over.path ?? endpoint?.path;
  const unsupported =
    reasonOf(over.unsupported, row.name) ??
    (method === undefined || path === undefined ? unreachable(row.name, over, missing ?? "no path is known for it") : undefined);
  return {
    name: row.name,
    purpose: over.purpose ?? row.purpose,
    method: method ?? "GET",
    path: path ?? "",
    ...targetOf(row.target, path),
    ...shared(over, row),
    effect: over.effect ?? row.effect,
    lane: over.lane ?? row.lane,
    record: over.record ?? row.record,
    list: over.list ?? row.list === true,
    ...defined({ unsupported }),
    extra: false,
  };
}

/** A profile that states one of method and path needs the other, where its set has neither. */
function unreachable(name: string, { method, path }: OperationOverride, reason: string): string {
  if (method === undefined && path === undefined) return reason;
  return `${name} has no ${method === undefined ? "method" : "path"}: ${reason}, so state method and path`;
}

function extraOperation(name: string, source: OperationSource): ProfileOperation {
  const unsupported = reasonOf(source.unsupported, name);
  return {
    name,
    purpose: source.purpose ?? name,
    method: source.method,
    path: source.path,
    ...targetOf(source.target, source.path),
    ...shared(source, { input: z.object(source.list === true ? page : {}) }),
    effect: source.effect,
    lane: source.lane ?? "act",
    record: source.record ?? "none",
    list: source.list ?? false,
    ...defined({ unsupported }),
    extra: true,
  };
}

function targetOf(target: ProfileOperation["target"], path: string | undefined): Pick<ProfileOperation, "target" | "targetBy"> {
  return target === undefined ? {} : { target, targetBy: targetBy(path ?? "") ?? "id" };
}

function shared(
  over: OperationOverride,
  { input, money = [] }: Pick<Operation, "input" | "money">,
): Omit<
  ProfileOperation,
  "name" | "purpose" | "method" | "path" | "target" | "targetBy" | "effect" | "lane" | "record" | "list" | "unsupported" | "extra"
> {
  return defined({
    query: over.query,
    body: over.body,
    encoding: over.encoding ?? "json",
    values: over.values ?? {},
    input: over.input === undefined ? input : input.extend(inputShape(over.input)),
    money: [...money, ...Object.entries(over.input ?? {}).flatMap(([name, { type }]) => (type === "money" ? [name] : []))],
    price: over.price ?? "free",
    charged: over.charged,
    weight: over.weight ?? 1,
    before: over.before,
    receipt: over.receipt ?? {},
    completes: over.completes,
    keyLifetimeMs: over.keyLifetimeMs,
    replies: over.replies,
    from: Object.fromEntries(Object.entries(over.input ?? {}).flatMap(([name, { from }]) => (from === undefined ? [] : [[name, from]]))),
    returned: over.returned,
    answer: over.answer ?? "record",
    paging: over.paging === undefined ? undefined : defined(over.paging),
  });
}

function reasonOf(unsupported: boolean | string | undefined, name: string): string | undefined {
  if (unsupported === undefined || unsupported === false) return undefined;
  return unsupported === true ? `this network's profile says it has no ${name}` : unsupported;
}

/** `Set A has no agents.create (Set B has it)`, for an operation of the table that a set does not publish. */
export function missingIn(name: string, set: EndpointSet): string | undefined {
  if (!isOperationName(name) || OPERATIONS[name].endpoints[set] !== undefined) return undefined;
  const having = SETS.filter((other) => OPERATIONS[name].endpoints[other] !== undefined).map((other) => `Set ${other.toUpperCase()}`);
  return `Set ${set.toUpperCase()} has no ${name} (${having.join(" and ")} has it)`;
}

function inputShape(fields: Readonly<Record<string, InputField>>): Record<string, z.ZodType> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => {
      const type = inputType(field);
      return [name, field.required === true ? type : type.optional()];
    }),
  );
}

function inputType({ type, oneOf, max }: InputField): z.ZodType {
  switch (type) {
    case "text":
      return oneOf === undefined
        ? z
            .string()
            .min(1)
            .max(max ?? 1_000_000)
        : z.enum(oneOf);
    case "number":
    case "money":
      return z.number().max(max ?? Number.MAX_SAFE_INTEGER);
    case "integer":
      return z
        .number()
        .int()
        .max(max ?? Number.MAX_SAFE_INTEGER);
    case "boolean":
      return z.boolean();
    case "words":
      return z.array(oneOf === undefined ? z.string() : z.enum(oneOf)).max(max ?? 1_000);
    case "json":
      return z.json();
  }
}

/** True if its requests hold the account's own id. */
export function namesOwnId({ path, query = {}, body = null, input }: ProfileOperation): boolean {
  return !Object.hasOwn(input.shape, OWN_ID) && [...pathFields(path), ...templateFields(query), ...templateFields(body)].includes(OWN_ID);
}

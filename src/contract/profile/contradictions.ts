/** Parts of a profile that contradict each other: each is valid alone, and both together cannot be meant. */
import { namedBy, type ProfileOperation } from "./network-operations.ts";
import type { ProfileProblem } from "./profile-problem.ts";
import type { ProfileData } from "./source.ts";

export function checkContradictions(data: ProfileData, operations: ReadonlyMap<string, ProfileOperation>): readonly ProfileProblem[] {
  const halves = halfStated(data, operations);
  return [
    ...halves.map(({ name, message }) => ({ path: ["operations", name], message })),
    ...checkTrade(data, operations, halves),
    ...checkLimits(data, operations, halves),
    ...checkDecisions(data),
    ...checkParts(operations),
    ...checkLists(data, operations),
    ...(data.idempotencyHeader !== null && Object.hasOwn(data.headers, data.idempotencyHeader)
      ? [
          {
            path: ["idempotencyHeader"],
            message: `"${data.idempotencyHeader}" has a fixed value under headers already; expected another header`,
          },
        ]
      : []),
  ];
}

interface HalfStated {
  readonly name: string;
  readonly message: string;
}

/** Operations with a method or a path of which the other is nowhere: one mistake each, whatever else names them. */
function halfStated(data: ProfileData, operations: ReadonlyMap<string, ProfileOperation>): readonly HalfStated[] {
  return Object.entries(data.operations).flatMap(([name, { method, path, unsupported = false }]) => {
    const message = operations.get(name)?.unsupported;
    const isStated = unsupported === false && (method !== undefined || path !== undefined);
    return isStated && message !== undefined ? [{ name, message }] : [];
  });
}

function checkTrade(
  { auth }: ProfileData,
  operations: ReadonlyMap<string, ProfileOperation>,
  halves: readonly HalfStated[],
): readonly ProfileProblem[] {
  if (auth.header === null && auth.sign === undefined)
    return [{ path: ["auth", "header"], message: "no header carries the key, and no signature is made by it: state `sign`, or a header" }];
  if (auth.sign !== undefined && auth.exchange)
    return [{ path: ["auth", "sign"], message: "a key that is exchanged for tokens signs nothing; state `sign` or `exchange`" }];
  if (!auth.exchange) return [];
  const missing = operations.get("auth.token")?.unsupported;
  const never = auth.refreshEarlyMs >= auth.tokenLifetimeMs;
  return [
    ...(missing === undefined || halves.some(({ name }) => name === "auth.token")
      ? []
      : [
          {
            path: ["auth", "exchange"],
            message: `keys are exchanged by auth.token, which is missing (${missing}): state its method and path under operations`,
          },
        ]),
    ...(never
      ? [{ path: ["auth", "refreshEarlyMs"], message: "a token would be renewed before it is used; expected less than tokenLifetimeMs" }]
      : []),
  ];
}

function checkLimits(
  { limits }: ProfileData,
  operations: ReadonlyMap<string, ProfileOperation>,
  halves: readonly HalfStated[],
): readonly ProfileProblem[] {
  return limits.flatMap(({ operations: patterns }, index) => {
    const names = namedBy(patterns, operations);
    const isHalf = names.some((name) => halves.some((half) => half.name === name));
    const isNothing = !isHalf && names.every((name) => operations.get(name)?.unsupported !== undefined);
    return isNothing ? [{ path: ["limits", index, "operations"], message: `limits ${patterns.join(", ")}, which is unsupported` }] : [];
  });
}

/** An action that consists of several requests: each part is sent with nothing but the object, and may be sent again. */
function checkParts(operations: ReadonlyMap<string, ProfileOperation>): readonly ProfileProblem[] {
  return [...operations.values()].flatMap(({ name, extra, target, effect, before = [], returned, price }) => {
    const path = [extra ? "extra" : "operations", name];
    const parts = before.flatMap((part, index): ProfileProblem[] => {
      const message = unfitPart(operations.get(part), part, { name, target });
      return message === undefined ? [] : [{ path: [...path, "before", index], message }];
    });
    if (before.length > 0 && effect === "read") parts.push({ path: [...path, "before"], message: `${name} is a read, which has no parts` });
    if (returned !== undefined && name !== "jobs.apply")
      parts.push({
        path: [...path, "returned"],
        message: "only the price of jobs.apply is a stake that comes back with a state of its job",
      });
    if (returned !== undefined && price === "free")
      parts.push({ path: [...path, "returned"], message: "a free operation has nothing to come back; state its price" });
    return parts;
  });
}

/** Lists of the network's own that the runtime reads: replies beside their post, and notifications. */
function checkLists({ notifications }: ProfileData, operations: ReadonlyMap<string, ProfileOperation>): readonly ProfileProblem[] {
  const unfit = (name: string, record: string, target: string | undefined): string | undefined => {
    const list = operations.get(name);
    if (list?.extra !== true) return `"${name}" is not an operation of the network's own; define it under extra`;
    const isFit = list.effect === "read" && list.list && list.record === record && list.target === target;
    const object = target === undefined ? "no target" : `target: ${target}`;
    return isFit ? undefined : `${name} must be a list of them: effect: read, list: true, record: ${record}, ${object}`;
  };
  const problems = [...operations.values()].flatMap(({ name, replies }): ProfileProblem[] => {
    if (replies === undefined) return [];
    const message = name === "posts.get" ? unfit(replies, "post", "post") : "only posts.get is completed by a list of replies";
    return message === undefined ? [] : [{ path: ["operations", name, "replies"], message }];
  });
  const message = notifications === undefined ? undefined : unfit(notifications, "notification", undefined);
  return message === undefined ? problems : [...problems, { path: ["notifications"], message }];
}

function unfitPart(
  part: ProfileOperation | undefined,
  named: string,
  { name, target }: { readonly name: string; readonly target: ProfileOperation["target"] | undefined },
): string | undefined {
  if (part?.extra !== true) return `"${named}" is not an operation of the network's own; define it under extra`;
  if (part.target === undefined || part.target !== target) return `${named} acts on another object than ${name}`;
  if (part.effect !== "idempotent") return `${named} must be idempotent, since it is sent again after a lost answer`;
  if (part.before !== undefined) return `${named} has parts itself; list all of them under ${name}`;
  const needed = Object.entries(part.input.shape).find(([, type]) => !type.safeParse(undefined).success);
  return needed === undefined ? undefined : `${named} requires the input "${needed[0]}", which nobody gives it`;
}

function checkDecisions({ webhooks }: ProfileData): readonly ProfileProblem[] {
  return Object.keys(webhooks.kinds).flatMap((word) =>
    Object.hasOwn(webhooks.decisions, word)
      ? [{ path: ["webhooks", "kinds", word], message: `"${word}" is also a word for a decision; one delivery cannot be both` }]
      : [],
  );
}

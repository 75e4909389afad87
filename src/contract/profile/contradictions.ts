/** Parts of a profile that contradict each other: each is valid alone, and both together cannot be meant. */
import type { ProfileOperation } from "./network-operations.ts";
import type { ProfileProblem } from "./profile-problem.ts";
import type { ProfileData } from "./source.ts";

export function checkContradictions(data: ProfileData, operations: ReadonlyMap<string, ProfileOperation>): readonly ProfileProblem[] {
  return [
    ...checkTrade(data, operations),
    ...checkLimits(data, operations),
    ...checkDecisions(data),
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

function checkTrade({ auth }: ProfileData, operations: ReadonlyMap<string, ProfileOperation>): readonly ProfileProblem[] {
  if (!auth.exchange) return [];
  const missing = operations.get("auth.token")?.unsupported;
  const never = auth.refreshEarlyMs >= auth.tokenLifetimeMs;
  return [
    ...(missing === undefined
      ? []
      : [
          {
            path: ["auth", "exchange"],
            message: `keys are exchanged by auth.token, which is missing (${missing}): state its path under operations`,
          },
        ]),
    ...(never
      ? [{ path: ["auth", "refreshEarlyMs"], message: "a token would be renewed before it is used; expected less than tokenLifetimeMs" }]
      : []),
  ];
}

function checkLimits({ limits }: ProfileData, operations: ReadonlyMap<string, ProfileOperation>): readonly ProfileProblem[] {
  return limits.flatMap(({ operations: names }, index) => {
    const isNothing = names.every((name) => operations.get(name)?.unsupported !== undefined);
    return isNothing ? [{ path: ["limits", index, "operations"], message: `limits ${names.join(", ")}, which is unsupported` }] : [];
  });
}

function checkDecisions({ webhooks }: ProfileData): readonly ProfileProblem[] {
  return Object.keys(webhooks.kinds).flatMap((word) =>
    Object.hasOwn(webhooks.decisions, word)
      ? [{ path: ["webhooks", "kinds", word], message: `"${word}" is also a word for a decision; one delivery cannot be both` }]
      : [],
  );
}

/** Permissions of a specialist on its network, from its definition and the network's profile. */
import type { Profile } from "../contract/profile/profile.ts";
import type { ProfileOperation } from "../contract/profile/network-operations.ts";
import { parameterOf, type Lane } from "../contract/operations.ts";
import { sentSecret } from "../contract/secrets.ts";
import { tierLimits, type TierLimits } from "../contract/tiers.ts";
import type { Clock } from "../core/clock.ts";
import { Refused } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import type { Scrubber } from "../core/scrubber.ts";
import { DEFAULT_APPROVAL_MS, payloadHash } from "../limits/approvals.ts";
import type { OwnLimit } from "../limits/verdict.ts";
import type { Price } from "../limits/spending.ts";
import type { GivenInput, OperationRule, OperationRules, Refusal } from "../specialist/operation-rules.ts";
import type { Specialist } from "../specialist/specialist.ts";
import { priceOf } from "./prices.ts";
import { refuseSecrets, secretIn } from "./secret-refusal.ts";
import type { TrustBreakers } from "./trust.ts";

export interface Known {
  /** The network's trust in the specialist. Default: not known. */
  readonly trust?: Pick<TrustBreakers, "of">;
  /** The secrets that no input may hold. Default: none. */
  readonly scrubber?: Pick<Scrubber, "holds">;
}

export function operationRules(specialist: Specialist, profile: Profile, clock: Clock, known: Known = {}): OperationRules {
  return new ProfileRules(specialist, profile, clock, known);
}

/** A class, because every specialist has one and closures would each take their own memory. */
class ProfileRules implements OperationRules {
  readonly #specialist: Specialist;
  readonly #profile: Profile;
  readonly #clock: Clock;
  readonly #trust: Known["trust"];
  readonly #scrubber: Known["scrubber"];
  /** The rules that were asked for: nothing in them changes with the definition's life. */
  #known: Map<string, OperationRule> | undefined;

  constructor(specialist: Specialist, profile: Profile, clock: Clock, { trust, scrubber }: Known) {
    this.#specialist = specialist;
    this.#profile = profile;
    this.#clock = clock;
    this.#trust = trust;
    this.#scrubber = scrubber;
  }

  of(name: string): OperationRule {
    const known = this.#known?.get(name);
    if (known !== undefined) return known;
    const rule = this.#ruleOf(name);
    (this.#known ??= new Map<string, OperationRule>()).set(name, rule);
    return rule;
  }

  #ruleOf(name: string): OperationRule {
    const operation = operationOf(this.#profile, name);
    const refusal = refusalOf(operation, this.#specialist, this.#profile);
    return {
      effect: operation.effect,
      lane: operation.lane,
      targetBy: targetBy(operation),
      from: operation.from,
      ...(operation.before === undefined ? {} : { before: operation.before }),
      ...(this.#specialist.review.includes(name)
        ? { review: questionFor(operation, (input) => this.#price(operation, input), this.#clock) }
        : {}),
      ...(refusal === undefined ? {} : { refusal }),
    };
  }

  #price(operation: ProfileOperation, input: JsonObject): Price {
    const { tier, handle } = this.#specialist;
    return priceOf(this.#profile, { tier, trust: this.#trust?.of(handle) }, operation, input);
  }

  input(name: string, input: GivenInput): JsonObject {
    const checked = checkedInput(operationOf(this.#profile, name), input);
    const what = `${name}: the input`;
    if (sentSecret({ operation: name, input: checked }) !== undefined) throw secretIn(what);
    if (this.#scrubber !== undefined) refuseSecrets(this.#scrubber, what, checked);
    return checked;
  }
}

/** The question to the Guardian: this payload, at this highest price, within this time. */
function questionFor(
  operation: ProfileOperation,
  priceFor: (input: JsonObject) => Price,
  clock: Clock,
): NonNullable<OperationRule["review"]> {
  return (target, input) => {
    const price = priceFor(input);
    return {
      payloadHash: payloadHash({ operation: operation.name, target, input }),
      amount: price.kind === "priced" ? price.worst : undefined,
      expiresAt: clock.now() + DEFAULT_APPROVAL_MS,
    };
  };
}

/** Throws `Refused` `operation_unknown` for a name in neither the interface nor the profile. */
export function operationOf(profile: Profile, name: string): ProfileOperation {
  const operation = profile.operations.get(name);
  if (operation === undefined)
    throw new Refused("operation_unknown", `there is no operation ${JSON.stringify(name)}`, {
      hint: "names are noun.verb, such as posts.reply",
    });
  return operation;
}

function refusalOf(operation: ProfileOperation, specialist: Specialist, profile: Profile): Refusal | undefined {
  if (operation.unsupported !== undefined) return { code: "operation_unsupported", message: operation.unsupported };
  const lacked = lackedBy(profile, specialist.tier, operation.name);
  if (lacked !== undefined) return lacked;
  if (operation.effect === "read" || mayDo(profile, specialist.may, operation.name)) return undefined;
  return { code: "not_allowed", message: `${specialist.handle} may not do ${operation.name} on ${profile.name}: it is not in \`may\`` };
}

/** True for a permitted operation, and for a part of one. */
export function mayDo(profile: Profile, may: readonly string[], name: string): boolean {
  return may.includes(name) || may.some((one) => profile.operations.get(one)?.before?.includes(name) === true);
}

/** The refusal of an operation that the profile does not permit to a tier, reads included. */
export function lackedBy(profile: Profile, tier: string, operation: string): Refusal | undefined {
  if (profile.tiers[tier]?.lacks?.includes(operation) !== true) return undefined;
  return { code: "not_in_tier", message: `the ${tier} tier of ${profile.name} does not offer ${operation}` };
}

/** Operations that the definition permits and the tier or trust may not. */
export function lacksOf(profile: Profile, { tier, may }: Specialist): string[] {
  const name = profile.name;
  return [
    ...may
      .filter((one) => lackedBy(profile, tier, one) !== undefined)
      .map((one) => `asks for ${one}, which the ${tier} tier of ${name} does not offer`),
    ...Object.entries(profile.trust).flatMap(([trust, { lacks = [] }]) =>
      may
        .filter((one) => lacks.includes(one))
        .map((one) => `waits to do ${one} while its trust on ${name} is "${trust}", which does not permit it yet`),
    ),
  ];
}

function targetBy(operation: ProfileOperation): "id" | "handle" | undefined {
  if (operation.target === undefined) return undefined;
  return parameterOf(operation.path) === "handle" ? "handle" : "id";
}

function checkedInput(operation: ProfileOperation, input: GivenInput): JsonObject {
  const parsed = operation.input.safeParse(input);
  if (parsed.success) return parsed.data as JsonObject;
  const [issue] = parsed.error.issues;
  throw new Refused("input_invalid", `${operation.name}: ${issue?.path.join(".") ?? "input"}: ${issue?.message ?? "cannot be read"}`);
}

/** A tier's requests per hour and day on this network. Throws `Misconfigured` (`tier_unknown`, `tier_not_in_set`). */
export function limitsOf(tier: string, profile: Profile): TierLimits {
  const stated = profile.tiers[tier];
  const published = (): TierLimits => tierLimits(tier, profile.set);
  if (stated === undefined) return published();
  const perHour = stated.perHour === undefined ? published().perHour : stated.perHour;
  const perDay = stated.perDay === undefined ? published().perDay : stated.perDay;
  const anHour = perHour ?? perDay ?? UNLIMITED_PER_HOUR;
  return { perHour: anHour, perDay: perDay ?? HOURS_OF_A_DAY * anHour };
}

/** Requests of a tier without hour and day: the network's `limits` and headers count. */
const UNLIMITED_PER_HOUR = 10_000;
const HOURS_OF_A_DAY = 24;

const NO_LIMITS: readonly OwnLimit[] = [];

/** The network's own limits that count an operation. */
export function ownLimitsOf(profile: Profile, operation: string): readonly OwnLimit[] {
  if (profile.limits.length === 0) return NO_LIMITS;
  return profile.limits
    .filter(({ operations }) => operations.includes(operation))
    .map(({ name, operations, keys, max, per }) => ({
      name,
      operations,
      ofAllKeys: keys === "all",
      lanes: lanesOf(profile, operations),
      max,
      perMs: per,
    }));
}

function lanesOf(profile: Profile, operations: readonly string[]): readonly Lane[] {
  return [...new Set(operations.flatMap((name) => profile.operations.get(name)?.lane ?? []))];
}

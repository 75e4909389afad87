/** Fault rules: which requests and deliveries they match, how often, and which fault is drawn. */
import type { EndpointSet } from "../../contract/operations.ts";
import type { Random } from "../../core/random.ts";

/** Forms of a 429. */
export const LIMIT_DIALECTS = [
  "seconds",
  "date",
  "past-date",
  "zero",
  "negative",
  "huge",
  "garbage",
  "missing",
  "body",
  "x-ratelimit",
  "ratelimit-fields",
  "ratelimit-draft",
] as const;
export type LimitDialect = (typeof LIMIT_DIALECTS)[number];

/** Ways to malform an answer's body, after the effect. */
export const SPOILT_BODIES = ["html", "truncated", "huge", "deep", "wrong-types", "empty", "garbage"] as const;
export type SpoiltBody = (typeof SPOILT_BODIES)[number];

/** A fault that is injected into a request. Times are in ms. */
export type Fault =
  /** The effect is immediate, the answer late. */
  | { readonly kind: "delay-reply"; readonly ms: number }
  /** The request reaches the network late, even after its sender has given up. */
  | { readonly kind: "delay-request"; readonly ms: number }
  /** The connection breaks at once, and the request takes effect later. */
  | { readonly kind: "land-late"; readonly ms: number }
  | { readonly kind: "lose-request" }
  | { readonly kind: "lose-reply" }
  /** The request is processed twice, as if an intermediary had doubled it. */
  | { readonly kind: "twice" }
  /** A 429 without effect although the limits have room. */
  | { readonly kind: "limited"; readonly dialect: LimitDialect; readonly seconds?: number }
  | { readonly kind: "status"; readonly status: number; readonly when: "before" | "after" }
  | { readonly kind: "body"; readonly body: SpoiltBody }
  | { readonly kind: "redirect"; readonly to: string }
  /** A 403 or 402 in the forms in which services stop an account. */
  | { readonly kind: "account"; readonly answer: "suspended" | "challenge" | "payment" };

/** A fault that is injected into a webhook delivery. */
export type DeliveryFault =
  | { readonly kind: "late"; readonly ms: number }
  | { readonly kind: "lost" }
  | { readonly kind: "twice" }
  /** Waits until a later delivery has gone, half a minute at most. */
  | { readonly kind: "reorder" }
  | { readonly kind: "wrong-signature" }
  | { readonly kind: "huge"; readonly bytes: number };

export interface RequestMatch {
  readonly set?: EndpointSet;
  /** One operation or several. */
  readonly operation?: string | readonly string[];
  /** The specialist's handle. */
  readonly agent?: string;
  /** True for writes only, false for reads only. */
  readonly writes?: boolean;
}

/** A rule that says which requests or deliveries a fault is injected into, and how often. */
export interface FaultRule<M> {
  readonly fault: M;
  readonly match?: RequestMatch;
  /** From 0 to 1. Default 1. */
  readonly probability?: number;
  /** Number of faults after which the rule ends. Default: until removed. */
  readonly times?: number;
}

export interface FaultHandle {
  /** Number of faults so far. */
  readonly hits: number;
  remove(): void;
}

/** The network's fault rules, changed while it runs. The first rule that matches and is drawn applies to a request. */
export interface Faults {
  add(fault: FaultRule<Fault>): FaultHandle;
  addDelivery(fault: FaultRule<DeliveryFault>): FaultHandle;
  clear(): void;
}

export interface RequestTraits {
  readonly set: EndpointSet;
  readonly operation: string;
  readonly agent: string;
  readonly writes: boolean;
}

export interface FaultBook extends Faults {
  readonly any: boolean;
  draw(traits: RequestTraits): Fault | undefined;
  drawDelivery(agent: string, event: string): DeliveryFault | undefined;
}

/** `random` draws the probabilities, so a seed replays the same faults. */
export function createFaults(random: Random): FaultBook {
  const requests: Placed<Fault>[] = [];
  const deliveries: Placed<DeliveryFault>[] = [];
  return {
    add: (fault) => place(requests, fault),
    addDelivery: (fault) => place(deliveries, fault),
    clear() {
      requests.length = 0;
      deliveries.length = 0;
    },
    get any() {
      return requests.length > 0;
    },
    draw: (traits) => drawFrom(requests, random, (match) => fits(match, traits)),
    drawDelivery: (agent, event) =>
      drawFrom(
        deliveries,
        random,
        (match) => (match.agent === undefined || match.agent === agent) && (match.operation === undefined || named(match.operation, event)),
      ),
  };
}

interface Placed<M> {
  readonly fault: FaultRule<M>;
  hits: number;
}

function place<M>(faults: Placed<M>[], fault: FaultRule<M>): FaultHandle {
  const placed: Placed<M> = { fault, hits: 0 };
  faults.push(placed);
  return {
    get hits() {
      return placed.hits;
    },
    remove() {
      const at = faults.indexOf(placed);
      if (at >= 0) faults.splice(at, 1);
    },
  };
}

function drawFrom<M>(faults: readonly Placed<M>[], random: Random, matches: (match: RequestMatch) => boolean): M | undefined {
  for (const placed of faults) {
    const { match, probability, times, fault } = placed.fault;
    if (times !== undefined && placed.hits >= times) continue;
    if (match !== undefined && !matches(match)) continue;
    if (probability !== undefined && random.next() >= probability) continue;
    placed.hits++;
    return fault;
  }
  return undefined;
}

function fits(match: RequestMatch, traits: RequestTraits): boolean {
  return (
    (match.set === undefined || match.set === traits.set) &&
    (match.agent === undefined || match.agent === traits.agent) &&
    (match.writes === undefined || match.writes === traits.writes) &&
    (match.operation === undefined || named(match.operation, traits.operation))
  );
}

function named(wanted: string | readonly string[], name: string): boolean {
  return typeof wanted === "string" ? wanted === name : wanted.includes(name);
}

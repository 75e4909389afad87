/** Records what really happened, for tests and summaries: every request with a key, every write that took effect. */
import type { EndpointSet } from "../contract/operations.ts";
import type { TierLimits } from "../contract/tiers.ts";
import { sha256 } from "../core/json.ts";
import type { Json } from "../core/json.ts";
import { DAY, HOUR } from "../core/units.ts";
import type { Log, LogLine, Tables } from "./world/persistence.ts";
import { createSpan } from "./world/rate-limit-windows.ts";
import type { Span } from "./world/rate-limit-windows.ts";

/** Characters of an effect's text that are stored beside its hash. */
const KEPT_TEXT = 200;
const MAX_VIOLATIONS = 10_000;

/** A write that changed the world. */
export interface Effect extends LogLine {
  /** Handle of the specialist. */
  readonly agent: string;
  readonly operation: string;
  readonly target: string;
  /** SHA-256 of the content. */
  readonly hash: string;
  /** The first characters of the content. */
  readonly text: string;
}

/** A request that carried a key, valid or not. */
export interface RequestLine extends LogLine {
  readonly agent: string;
  readonly set: EndpointSet;
  /** Empty if no operation matched. */
  readonly operation: string;
  readonly status: number;
  /** True if the tier's limits counted the request. */
  readonly counted: boolean;
}

/** A moment at which an agent exceeded its tier's limit of an hour or a day. */
export interface Violation {
  readonly agent: string;
  readonly at: number;
  readonly window: "hour" | "day";
  readonly count: number;
  readonly limit: number;
}

export interface LogFilter {
  readonly agent?: string;
  readonly operation?: string;
  /** Only lines after this one. */
  readonly afterSeq?: number;
}

/** The record of a local network: every request with a key, every write that took effect. */
export interface GroundTruth {
  /** Effects of writes, oldest first, as far back as they are kept. */
  effects(filter?: LogFilter): readonly Effect[];
  /** Groups of equal effects: the same operation by the same agent on the same target with the same content. */
  duplicates(filter?: LogFilter): readonly (readonly Effect[])[];
  requests(filter?: LogFilter): readonly RequestLine[];
  /**
   * Every breach of a tier, over any span of an hour or a day, independent of the windows the network cuts. Every request counts, refused
   * ones too.
   */
  overLimit(): readonly Violation[];
}

export interface GroundTruthLog extends GroundTruth {
  effect(effect: { agent: string; operation: string; target: string; content: Json; at: number }): void;
  request(line: Omit<RequestLine, "seq">): void;
  /** Checks an arriving request, refused or not, against the limits. */
  arrival(agent: string, at: number, limits: TierLimits): void;
}

/** Operations that may be repeated, so equal effects are no duplicates. */
const REPEATABLE = new Set(["communities.join", "communities.leave", "agents.update", "auth.token", "auth.refresh"]);

export function openGroundTruth(tables: Tables, keep: { readonly requests: number; readonly effects: number }): GroundTruthLog {
  const effects = createRing(tables.log<Effect>("effect"), keep.effects);
  const requests = createRing(tables.log<RequestLine>("request"), keep.requests);
  const judged = new Map<string, { hour: Span; day: Span }>();
  const violations: Violation[] = [];

  const spansOf = (agent: string): { hour: Span; day: Span } => {
    let spans = judged.get(agent);
    if (spans === undefined) judged.set(agent, (spans = { hour: createSpan(HOUR), day: createSpan(DAY) }));
    return spans;
  };
  for (const line of requests.lines()) {
    const spans = spansOf(line.agent);
    spans.hour.add(line.at);
    spans.day.add(line.at);
  }
  const judge = (agent: string, at: number, window: "hour" | "day", span: Span, limit: number): void => {
    span.add(at);
    const count = span.count(at);
    if (count > limit && violations.length < MAX_VIOLATIONS) violations.push({ agent, at, window, count, limit });
  };
  const truth: GroundTruthLog = {
    effects: (filter) => select(effects.lines(), filter),
    requests: (filter) => select(requests.lines(), filter),
    duplicates(filter) {
      const groups = new Map<string, Effect[]>();
      for (const effect of select(effects.lines(), filter)) {
        if (REPEATABLE.has(effect.operation)) continue;
        const same = `${effect.agent} ${effect.operation} ${effect.target} ${effect.hash}`;
        const group = groups.get(same);
        if (group === undefined) groups.set(same, [effect]);
        else group.push(effect);
      }
      return [...groups.values()].filter((group) => group.length > 1);
    },
    overLimit: () => violations,
    effect({ agent, operation, target, content, at }) {
      const text = typeof content === "string" ? content : JSON.stringify(content);
      effects.append({ agent, operation, target, at, hash: sha256(content), text: text.slice(0, KEPT_TEXT) });
    },
    request: (line) => requests.append(line),
    arrival(agent, at, limits) {
      const spans = spansOf(agent);
      judge(agent, at, "hour", spans.hour, limits.perHour);
      judge(agent, at, "day", spans.day, limits.perDay);
    },
  };
  return truth;
}

function select<T extends RequestLine | Effect>(lines: readonly T[], filter: LogFilter = {}): readonly T[] {
  const { agent, operation, afterSeq } = filter;
  // Sequence numbers have no gaps, so an index replaces a search.
  const recent = afterSeq === undefined ? lines : lines.slice(Math.max(0, afterSeq + 1 - (lines[0]?.seq ?? 0)));
  return recent.filter(
    (line) => (agent === undefined || line.agent === agent) && (operation === undefined || line.operation === operation),
  );
}

interface Ring<T extends LogLine> {
  append(line: Omit<T, "seq">): void;
  lines(): readonly T[];
}

/** Keeps the newest `limit` lines, up to a tenth more between cuts. */
function createRing<T extends LogLine>(log: Log<T>, limit: number): Ring<T> {
  let lines: T[] = [...log.loaded];
  let seq = lines.at(-1)?.seq ?? 0;
  return {
    lines: () => lines,
    append(rest) {
      // A line is `rest` plus its number; the compiler cannot see that through `Omit`.
      const line = { ...rest, seq: ++seq } as T;
      lines.push(line);
      log.append(line);
      if (lines.length > limit * 1.1 + 1) {
        lines = lines.slice(-limit);
        log.cutBefore(lines[0]?.seq ?? seq + 1);
      }
    },
  };
}

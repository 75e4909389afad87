/** What was lost in a campaign: the store's rows beside the network's own record, and what the runtime told that it passed over. */
import type { ParkedEvent } from "../../../src/store/inbox.ts";
import type { Effect } from "../../../src/local-network/ground-truth.ts";
import type { Intent, IntentState } from "../../../src/outbox/intent.ts";
import { liesIn, type ReportedGap } from "../../../src/simulation/oracle-gaps.ts";

/** Things that others did, each of which has to be answered by one operation. */
export interface Owed {
  readonly operation: "posts.reply" | "jobs.apply";
  /** Oldest first. */
  readonly items: readonly string[];
  /** What of their list was told to be passed over. */
  readonly gaps: readonly ReportedGap[];
}

export interface Found {
  readonly intents: readonly Intent[];
  readonly parkedEvents: readonly ParkedEvent[];
  readonly effects: readonly Effect[];
  readonly owed: readonly Owed[];
  /** What was decided later may still be under way. */
  readonly settledAt: number;
}

export interface Verdict {
  /** Rows and record disagree, something was never dealt with, or it was left open: one line each. */
  readonly lost: readonly string[];
  /** Never dealt with, in a gap that was told. */
  readonly passedOver: number;
}

const OPEN: readonly IntentState[] = ["proposed", "ready", "sending", "in_doubt", "pending"];

export function judge({ intents, parkedEvents, effects, owed, settledAt }: Found): Verdict {
  const undone = owed.flatMap((one) => undealt(one, intents, effects));
  return {
    lost: [
      ...parkedEvents.map(({ id, note }) => `event ${id} is parked: ${note}`),
      ...undone.filter(({ isTold }) => !isTold).map(({ what }) => what),
      ...leftOpen(intents, settledAt),
      ...misjudged(intents, effects),
    ],
    passedOver: undone.filter(({ isTold }) => isTold).length,
  };
}

function undealt({ operation, items, gaps }: Owed, intents: readonly Intent[], effects: readonly Effect[]) {
  const done = new Set(effects.filter((effect) => effect.operation === operation).map(({ target }) => target));
  const decided = new Map(intents.filter((intent) => intent.operation === operation).map((intent) => [intent.target ?? "", intent]));
  return items
    .filter((item) => !done.has(item) && decided.get(item)?.state !== "parked")
    .map((item) => {
      const intent = decided.get(item);
      const what = `${operation} ${item}: ${intent === undefined ? "never seen" : `${intent.state} ${intent.code ?? ""}`}`;
      return { what, isTold: intent === undefined && gaps.some((gap) => liesIn(item, gap)) };
    });
}

function leftOpen(intents: readonly Intent[], settledAt: number): readonly string[] {
  return intents
    .filter(({ state, createdAt }) => OPEN.includes(state) && createdAt < settledAt)
    .map(({ id, operation, state, code }) => `${id} ${operation} is still ${state}: ${code}`);
}

/** Intents whose row and the network's record disagree. */
function misjudged(intents: readonly Intent[], effects: readonly Effect[]): readonly string[] {
  const happened = new Set(effects.map(({ agent, operation, target, text }) => keyOf(agent, operation, target, text)));
  return intents.flatMap((intent) => {
    const { id, specialist, operation, target = "", state } = intent;
    const did = happened.has(keyOf(specialist, operation, target, textOf(intent)));
    if (state === "confirmed" && !did) return [`${id} ${operation} is confirmed and never happened`];
    if ((state === "refused" || state === "cancelled") && did) return [`${id} ${operation} is ${state} and happened`];
    return [];
  });
}

function keyOf(agent: string, operation: string, target: string, text: string): string {
  return operation.startsWith("posts.") ? `${agent} ${operation} ${target} ${text}` : `${agent} ${operation} ${target}`;
}

function textOf({ input }: Intent): string {
  return typeof input["content"] === "string" ? input["content"] : "";
}

/** States of an intent as SQL text, generated from the one table of states. */
import { Fatal } from "../../core/errors.ts";
import { isIntentState, type IntentState } from "../../outbox/intent.ts";
import { textOf, type Row } from "./columns.ts";

/** Accepts literals too: an unknown state does not compile. */
export function sqlState(state: IntentState): string {
  return `'${state}'`;
}

/** In the order of the table: a partial index is only used if its condition is in the statement letter by letter. */
export function sqlStates(states: readonly IntentState[]): string {
  return `(${states.map(sqlState).join(", ")})`;
}

export function stateOf(row: Row): IntentState {
  const state = textOf(row, "state");
  if (!isIntentState(state)) throw new Fatal("store_damaged", `expected the state of an action in column state, got "${state}"`);
  return state;
}

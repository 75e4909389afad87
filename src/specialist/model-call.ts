/** A call of a model as a handler makes it, its answer, and the mark of the behaviours that make one. */
import type { Json, JsonObject } from "../core/json.ts";

/** A text of our own that a model obeys. Text of the network (`Untrusted`) is none, and the compiler refuses it. */
export type Instructions = string & { readonly trust?: never };

/** One question to a model: the event comes with it, as data. */
export interface ModelCall {
  /** Its name in the settings, under `models`. */
  readonly model: string;
  /** Default: those of the definition. */
  readonly instructions?: string;
  /** More data, beside the event's own. */
  readonly data?: Json;
}

/** An action that a model asked for, checked as a text; `may` and the rules are checked when it is decided on. */
export interface ModelAction {
  readonly operation: string;
  readonly target?: string;
  readonly input: JsonObject;
}

/** The answer of a model after the checks on it. No action is "nothing to say". */
export interface ModelAnswer {
  readonly actions: readonly ModelAction[];
  /** Parts of the answer that were dropped, each with the reason. */
  readonly dropped: readonly { readonly what: string; readonly why: string }[];
  /** Undefined where the provider does not say. */
  readonly tokens?: { readonly input: number; readonly output: number } | undefined;
  /** Amount paid, for people. */
  readonly cost: string;
}

/** The use of a model by a behaviour, known before it runs. */
export interface ModelUse {
  readonly model: string;
  readonly hasInstructions: boolean;
}

/** One symbol for every copy of this module: definitions and the runtime may have loaded different ones. */
const USE = Symbol.for("retinue.model-use");

/** Marks a behaviour with the model that it asks. */
export function usingModel<Behaviour extends (...given: readonly unknown[]) => unknown>(behaviour: Behaviour, use: ModelUse): Behaviour {
  return Object.defineProperty(behaviour, USE, { value: use });
}

/** The model that a behaviour asks, if it was made by `answer`. */
export function modelUseOf(behaviour: unknown): ModelUse | undefined {
  if (typeof behaviour !== "function") return undefined;
  const use: unknown = Reflect.get(behaviour, USE);
  return typeof use === "object" && use !== null ? (use as ModelUse) : undefined; // only `usingModel` sets it
}

/** A call of a model as a handler makes it, its answer, and the mark of the behaviours that make one. */
import { Refused } from "../core/errors.ts";
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

/** Asks in a step of its own: a crash pays once for what was stored. */
export type AskInStep = (call: ModelCall) => Promise<ModelAnswer>;

/** The key of a handler's act under which it asks models. */
export const ASK = Symbol("ask");

/** Asks a model from a behaviour. Throws `Refused` (`model_missing`) outside a handling. */
export function askModel(act: object, call: ModelCall): Promise<ModelAnswer> {
  const ask: unknown = Reflect.get(act, ASK);
  if (typeof ask !== "function") throw new Refused("model_missing", "a model is asked with the act of a handler");
  return (ask as AskInStep)(call); // only the act of a run has the symbol
}

/** The parts of a run that a question needs. */
interface AskingRun {
  readonly askModel?:
    | ((
        call: ModelCall,
        signal: AbortSignal,
      ) => Promise<{ readonly value: Json } | { readonly suspendedUntil: number; readonly reason: string }>)
    | undefined;
}

export function askingBy(
  { askModel: ask }: AskingRun,
  run: { suspend(until: number, reason: string): void },
  step: (name: string, work: (signal: AbortSignal) => Promise<object>) => Promise<object>,
): AskInStep {
  let questions = 0;
  return async (call) => {
    const answered = await step(`model:${++questions}`, async (signal) => {
      if (ask === undefined)
        throw new Refused("model_missing", `nothing answers the model "${call.model}" here`, {
          hint: 'in a test, give the option models, or the result of its step: steps: { "model:1": … }; for retinue rehearse, models: { … } in its file, or --ask-models',
        });
      const result = await ask(call, signal);
      if ("value" in result) return result.value as object;
      run.suspend(result.suspendedUntil, result.reason);
      return new Promise<never>(() => undefined); // the run is abandoned here, as in a read
    });
    return answered as ModelAnswer; // what `askModel` answered, or stored earlier
  };
}

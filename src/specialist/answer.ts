/** The behaviour of a model-driven specialist: asks the model about an event, and decides on the actions it asks for. */
import { Refused } from "../core/errors.ts";
import type { Duration } from "../core/units.ts";
import type { Act } from "./act.ts";
import { madeOf } from "./code-text.ts";
import { askModel, usingModel, type Instructions } from "./model-call.ts";
import { storable } from "./run-request.ts";

/** Reads and services for the data of a question. */
export type DataAct = Pick<Act, "read" | "step" | "fetch" | "now" | "me" | "log" | "signal"> & { readonly state: Act["state"] };

/** Options of a model-driven behaviour. */
export interface AnswerOptions<Payload = unknown> {
  /** The name of a model in the config file, under `models`. */
  readonly model: string;
  /** The task, in your own words. Default: `instructions` of the definition. Text of the network is no instruction: give it as `data`. */
  readonly instructions?: Instructions;
  /** Returns JSON for the model beside the event, such as the whole thread. It reaches the model as data of others, cut and without keys. */
  readonly data?: (payload: Payload, act: DataAct) => unknown;
  /** An action is dropped if it was not sent within this time. Default: sent however late. */
  readonly expiresIn?: Duration;
}

/** A handler of any event, or the `run` of a schedule. */
export type AnswerHandler = (...given: readonly unknown[]) => Promise<void>;

/**
 * Makes a handler that asks a model about the event. The writes in `may` are the model's tools; each use is an action under approval, caps,
 * brakes and halt like any other. Plain text answers the post, or delivers the assigned job; "nothing to say" does nothing.
 */
export function answer<Payload = unknown>(options: AnswerOptions<Payload>): AnswerHandler {
  const { model, instructions, data, expiresIn } = options;
  const behaviour: AnswerHandler = async (...given) => {
    const act = given.at(-1) as Act; // the runtime calls it, as `(payload, act)` or, for a schedule, as `(act)`
    const payload = given.length > 1 ? given[0] : null;
    const more: unknown = data === undefined ? undefined : await data(payload as Payload, act);
    const { actions, dropped, tokens, cost } = await askModel(act, {
      model,
      ...(instructions === undefined ? {} : { instructions }),
      ...(more === undefined ? {} : { data: storable("the data for a model", more) }),
    });
    act.log.info("asked a model", { model, actions: actions.length, ...tokens, cost });
    for (const { what, why } of dropped) act.log.warn("a part of the model's answer was dropped", { model, what, why });
    for (const { operation, target, input } of actions)
      try {
        act.perform(operation, { input, ...(target === undefined ? {} : { target }) }, expiresIn === undefined ? {} : { expiresIn });
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        act.log.warn("an action of the model cannot be done", { model, operation, code: error.code, message: error.message });
      }
  };
  return usingModel(madeOf(behaviour, options), { model, hasInstructions: instructions !== undefined && instructions.trim() !== "" });
}

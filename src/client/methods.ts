/** Typed methods over any `send`: `methods(send).posts.reply(id, { content })`, derived from the operations table. */
import type { Call, Outcome } from "../contract/call.ts";
import { OPERATION_NAMES, OPERATIONS, type OperationInput, type OperationName, type OperationTarget } from "../contract/operations.ts";
import type { JsonObject } from "../core/json.ts";

type Noun = OperationName extends `${infer N}.${string}` ? N : never;
type Verb<N extends Noun> = OperationName extends infer Name ? (Name extends `${N}.${infer V}` ? V : never) : never;
type NameOf<N extends string, V extends string> = Extract<OperationName, `${N}.${V}`>;
/** Inputs may be omitted if none is required. */
type Input<Name extends OperationName> =
  Record<string, never> extends OperationInput<Name> ? [input?: OperationInput<Name>] : [input: OperationInput<Name>];

/** One method per operation, grouped by noun. `Result` is the result of the `send` below. */
export type Methods<Result> = {
  readonly [N in Noun]: {
    readonly [V in Verb<N>]: (
      ...parameters: OperationTarget<NameOf<N, V>> extends string ? [target: string, ...Input<NameOf<N, V>>] : Input<NameOf<N, V>>
    ) => Result;
  };
};

/** Any function that takes a call may be `send`: the bare client, or one behind limits. */
export function methods<Result = Promise<Outcome>>(send: (call: Call) => Result): Methods<Result> {
  const nouns: Record<string, Record<string, unknown>> = {};
  for (const operation of OPERATION_NAMES) {
    const [noun = "", verb = ""] = operation.split(".");
    const hasTarget = OPERATIONS[operation].target !== undefined;
    (nouns[noun] ??= {})[verb] = (...parameters: (string | JsonObject | undefined)[]) => {
      const [target, input] = hasTarget ? parameters : [undefined, parameters[0]];
      return send({
        operation,
        input: typeof input === "object" ? input : {},
        ...(typeof target === "string" ? { target } : {}),
      });
    };
  }
  return nouns as Methods<Result>; // built from the table from which the type is derived
}

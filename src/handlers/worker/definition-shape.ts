/** The shape of a definition that was loaded in a thread: its data as they are, and a mark in the place of each function, with a digest of its text and the model that it asks. */
import { Fatal } from "../../core/errors.ts";
import { sha256 } from "../../core/json.ts";
import { madeOf, textOfCode } from "../../specialist/code-text.ts";
import { modelUseOf, usingModel, type ModelUse } from "../../specialist/model-call.ts";

export type Shape =
  | { readonly kind: "value"; readonly value: unknown }
  | { readonly kind: "function"; readonly text: string; readonly asks?: ModelUse }
  | { readonly kind: "promise" | "foreign" }
  | { readonly kind: "list"; readonly items: readonly Shape[] }
  | { readonly kind: "object"; readonly members: readonly (readonly [string, Shape])[] };

/** A deeper value is no definition, or contains itself. */
const MAX_DEPTH = 64;
/** Values of one definition, so that one which contains itself many times ends too. */
const MAX_VALUES = 200_000;

export function shapeOf(value: unknown): Shape {
  let left = MAX_VALUES;
  const visit = (one: unknown, depth: number): Shape => {
    if (typeof one === "function") {
      const asks = modelUseOf(one);
      return { kind: "function", text: sha256(JSON.stringify(one, textOfCode)), ...(asks === undefined ? {} : { asks }) };
    }
    if (typeof one === "symbol" || left-- <= 0 || depth > MAX_DEPTH) return { kind: "foreign" };
    if (typeof one !== "object" || one === null) return { kind: "value", value: one };
    if (Array.isArray(one)) return { kind: "list", items: one.map((item: unknown) => visit(item, depth + 1)) };
    if ("then" in one) return { kind: "promise" };
    const prototype: unknown = Object.getPrototypeOf(one);
    if (prototype !== Object.prototype && prototype !== null) return { kind: "foreign" };
    return { kind: "object", members: Object.entries(one).map(([name, member]) => [name, visit(member, depth + 1)]) };
  };
  return visit(value, 0);
}

/** A value of this shape, which the checks judge as they judge the original. Its functions only stand for those in the thread. */
export function standIn(shape: Shape): unknown {
  switch (shape.kind) {
    case "value":
      return shape.value;
    case "function":
      return madeOf(shape.asks === undefined ? () => elsewhere() : usingModel(() => elsewhere(), shape.asks), shape.text);
    case "promise":
      return new Promise(() => undefined);
    case "foreign":
      return new Foreign();
    case "list":
      return shape.items.map(standIn);
    case "object":
      return Object.fromEntries(shape.members.map(([name, member]) => [name, standIn(member)]));
  }
}

/** An object of a class, which no definition contains. */
class Foreign {}

function elsewhere(): never {
  throw new Fatal("worker_confused", "a behaviour that runs in a thread was called in this one");
}

/** The JSON schema of a call: an operation's inputs in our names beside the object it acts on, for programs that call by name. */
import { z } from "zod";
import { isObject, type JsonObject } from "../core/json.ts";
import type { ProfileOperation } from "./profile/network-operations.ts";
import { inputSchema } from "./openapi/openapi-schemas.ts";

/** The argument that names the object acted on; undefined if the operation acts on none. */
export function targetArgument({ target, input }: Pick<ProfileOperation, "target" | "input">): string | undefined {
  if (target === undefined) return undefined;
  return Object.hasOwn(input.shape, "target") ? "target_id" : "target";
}

/** The name of an operation for programs that take no dot in one. It has exactly one, and no underscore. */
export function callName(operation: string): string {
  return operation.replace(".", "_");
}

/** Without `argument`, the object acted on is known to the caller. */
export function callSchema(operation: ProfileOperation, argument: string | undefined): JsonObject {
  const { input, target, targetBy = "id", values, money } = operation;
  const properties = Object.entries(input.shape).map(([name, type]): [string, JsonObject] => {
    const words = values[name];
    const schema = words === undefined ? inputSchema(type) : { type: "string", enum: Object.keys(words) };
    return [name, money.includes(name) ? { ...schema, description: "an amount of money in whole units" } : schema];
  });
  const { required } = z.toJSONSchema(input, { io: "input", unrepresentable: "any" });
  const named: Record<string, JsonObject> = Object.fromEntries(properties);
  if (argument !== undefined) named[argument] = { type: "string", minLength: 1, description: `the ${targetBy} of the ${target}` };
  return {
    type: "object",
    properties: named,
    required: [...(argument === undefined ? [] : [argument]), ...(required ?? [])],
    additionalProperties: false,
  };
}

/** The target and the inputs of a call, from its arguments as they came. */
export function splitCall(
  operation: ProfileOperation,
  given: unknown,
): { readonly target?: string; readonly input: JsonObject } | undefined {
  if (!isObject(given)) return undefined;
  const argument = targetArgument(operation);
  if (argument === undefined) return { input: given };
  const { [argument]: target, ...input } = given;
  if (target === undefined) return { input };
  return typeof target === "string" ? { target, input } : undefined;
}

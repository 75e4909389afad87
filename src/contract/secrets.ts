/** Operations that send the network a secret, and operations that are answered with one. */
import { Secret } from "../core/secret.ts";
import type { Call } from "./call.ts";
import type { OperationName } from "./operations.ts";

/** The name of the input that is a secret. */
const SENT: ReadonlyMap<string, string> = new Map<OperationName, string>([
  ["auth.refresh", "refreshToken"],
  ["webhooks.create", "secret"],
]);
const HANDED_OUT: readonly string[] = ["auth.token", "auth.refresh", "agents.create", "webhooks.create"] satisfies OperationName[];

/** The secret that a call sends to the network. */
export function sentSecret({ operation, input }: Pick<Call, "operation" | "input">): Secret | undefined {
  const name = SENT.get(operation);
  const value = name === undefined ? undefined : input[name];
  return typeof value === "string" ? new Secret(value) : undefined;
}

/** True for operations whose answers hand out a key, a token or a webhook's secret to us. An agent's public record may name one too. */
export function handsOutSecrets(operation: string): boolean {
  return HANDED_OUT.includes(operation);
}

/** Exchanges of a key for a token: only their bodies may name the key, as `{key}`. */
export function isTrade(operation: string): boolean {
  return operation === "auth.token" || operation === "auth.refresh";
}

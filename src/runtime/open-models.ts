/** Models for the specialists of a runtime: the room that asks them is loaded when the first one is asked. */
import type { ModelsOptions, Models } from "../model/models.ts";
import type { Caps } from "../specialist/specialist.ts";
import { capsFor } from "./open-gateway.ts";

/** The models of the settings, the way to their keys and to themselves, and their pace. */
export type ModelAccess = Pick<ModelsOptions, "settings" | "readKey" | "link" | "paces">;

export interface ModelNeeds extends Omit<ModelsOptions, keyof ModelAccess | "caps"> {
  /** Undefined if no model may be asked. */
  readonly models?: ModelAccess | undefined;
  readonly guardianCaps?: Caps | undefined;
}

export function openModels({ models: access, guardianCaps, ...needs }: ModelNeeds): Models | undefined {
  if (access === undefined) return undefined;
  let models: Models | undefined;
  const load = async (): Promise<Models> => {
    const { createModels } = await import("../model/models.ts");
    return (models ??= createModels({ ...needs, ...access, caps: capsFor(guardianCaps) }));
  };
  return {
    ask: async (member, event, call, signal) => (models ?? (await load())).ask(member, event, call, signal),
    waits: () => models?.waits() ?? [],
    close: async () => models?.close(),
  };
}

/** Models on a stage: asked over HTTP in real time, for which virtual time stands still. */
import type { Transport } from "../client/transport.ts";
import { checkedModels, type ModelConfig, type ModelSettings } from "../config/model-settings.ts";
import { systemClock } from "../core/clock.ts";
import { Misconfigured } from "../core/errors.ts";
import type { Specialist } from "../specialist/specialist.ts";

/** Models by name, as in the settings. */
export type GivenModels = { readonly [name: string]: ModelConfig };

export interface StagedModels {
  readonly settings: { readonly [name: string]: ModelSettings };
  readonly send: Transport;
  close(): Promise<void>;
}

/** Loads all that asks a model, so that nothing is loaded while virtual time passes. Throws `Misconfigured` for a mistake in a model. */
export async function openStagedModels(given: GivenModels): Promise<StagedModels> {
  const settings = keylessModels(given);
  const [{ modelSockets }, { loadProvider }] = await Promise.all([
    import("../model/model-fetch.ts"),
    import("../model/provider.ts"),
    import("../model/models.ts"),
  ]);
  for (const one of Object.values(settings)) await loadProvider(one);
  return { settings, ...modelSockets(systemClock()) };
}

/** Throws `Misconfigured` (`model_missing`) for the first model that a specialist asks and nothing answers; `hint` says how to give it. */
export function requireModels(
  specialists: readonly Specialist[],
  given: { readonly [model: string]: unknown },
  hint: (model: string) => string,
): void {
  for (const { handle, models } of specialists)
    for (const { model } of models)
      if (!Object.hasOwn(given, model))
        throw new Misconfigured("model_missing", `"${handle}" asks the model "${model}", and no real one is asked here`, {
          hint: hint(model),
        });
}

/** The hint of a test. */
export function modelInTest(name: string): string {
  return `give one: { models: { ${JSON.stringify(name)}: (await scriptedModel("NOTHING")).settings() } }`;
}

/** Variables of keys are not read in a test: a scripted model asks for none. */
export function keylessModels(given: GivenModels): StagedModels["settings"] {
  return Object.fromEntries(Object.entries(checkedModels(given)).map(([name, one]) => [name, { ...one, key: undefined }]));
}

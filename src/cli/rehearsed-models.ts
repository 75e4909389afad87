/** The models of a rehearsal: those that its file answers for, or the real ones, whose money is held and counted in the store. */
import type { Config } from "../config/config.ts";
import type { RepliesFile } from "../config/simulation-files.ts";
import type { Clock } from "../core/clock.ts";
import { systemRandom } from "../core/random.ts";
import type { OneHandlingOptions } from "../simulation/one-handling.ts";
import { scriptAnswers } from "../simulation/scripted-answers.ts";
import { keylessModels } from "../simulation/staged-models.ts";
import { openStore } from "../store/open-store.ts";
import { inTurn } from "./command-turns.ts";

export interface RehearsedModels extends AsyncDisposable {
  readonly parts: Pick<OneHandlingOptions, "models" | "holds">;
}

/** Throws `Retryable` (`store_in_use`) if real models are to be asked while a process has the store, or another command for long. */
export async function openRehearsedModels(
  config: Config,
  clock: Clock,
  { asksReal, replies }: { readonly asksReal: boolean; readonly replies: RepliesFile | undefined },
): Promise<RehearsedModels> {
  if (asksReal) {
    const { models, guardian, readModelKey } = config;
    const random = systemRandom();
    const store = await inTurn(clock, () => openStore(config.store, { clock, random, zone: () => guardian.zone }));
    await store.beginLedger(clock.now());
    return {
      parts: {
        models: { settings: models, readKey: readModelKey, guardianCaps: guardian.spend },
        holds: { store, clock, random },
      },
      [Symbol.asyncDispose]: () => store.close(),
    };
  }
  if (replies === undefined) return { parts: {}, [Symbol.asyncDispose]: () => Promise.resolve() };
  const scripted = await scriptAnswers(replies, config.models);
  return {
    parts: { models: { settings: keylessModels(scripted.models), readKey: () => undefined } },
    [Symbol.asyncDispose]: () => scripted[Symbol.asyncDispose](),
  };
}

/** Answers of models as a file gives them, each in turn: nothing real is asked, and nothing is paid. */
import type { ModelSettings } from "../config/model-settings.ts";
import { defined } from "../core/defined.ts";
import { scriptedModel, type ScriptedReply } from "./scripted-model.ts";
import type { GivenModels } from "./staged-models.ts";

/** The replies of each model, by its name in the settings. */
export type ModelReplies = { readonly [model: string]: readonly ScriptedReply[] };

export interface ScriptedAnswers extends AsyncDisposable {
  readonly models: GivenModels;
}

/** Starts a scripted model for each name, with the context of its settings. After its last reply, the first one comes again. */
export async function scriptAnswers(
  replies: ModelReplies,
  settings: { readonly [model: string]: ModelSettings },
): Promise<ScriptedAnswers> {
  const running = await Promise.all(
    Object.entries(replies).map(async ([name, list]) => {
      let turn = 0;
      const model = await scriptedModel(() => list[turn++ % list.length] ?? "NOTHING");
      const { contextTokens: context, outputTokens: output } = settings[name] ?? {};
      return { name, model, config: model.settings(defined({ context, output })) };
    }),
  );
  return {
    models: Object.fromEntries(running.map(({ name, config }) => [name, config])),
    async [Symbol.asyncDispose]() {
      for (const { model } of running) await model.close();
    },
  };
}

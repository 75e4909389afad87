/** The actions that a model's answer stands for, after every check on its texts. Pure. */
import type { Scrubber } from "../core/scrubber.ts";
import type { ModelAction, ModelAnswer } from "../specialist/model-call.ts";
import { faultOf, textsOf } from "./check-output.ts";
import { isSilence, type Prompt } from "./prompt.ts";
import type { Generation } from "./provider.ts";
import { actionOf, textAction, type AskedEvent, type ModelTool } from "./tools.ts";

export interface AnswerChecks {
  readonly prompt: Prompt;
  readonly tools: readonly ModelTool[];
  readonly mark: string;
  readonly event: AskedEvent;
  readonly may: readonly string[];
  readonly scrubber: Pick<Scrubber, "holds">;
}

/** Actions of one answer: more is a model that has lost its way. */
const MAX_ACTIONS = 10;
const MAX_NAME = 60;

/** A text counts only if no tool was used: beside one, it is a remark about it. */
export function checkedAnswer(
  { text, calls, isWhole }: Pick<Generation, "text" | "calls" | "isWhole">,
  { prompt, tools, mark, event, may, scrubber }: AnswerChecks,
): Pick<ModelAnswer, "actions" | "dropped"> {
  const checks = {
    instructions: prompt.instructions,
    texts: textsOf(prompt.data),
    mark,
    holdsSecret: (one: string) => scrubber.holds(one),
  };
  const actions: ModelAction[] = [];
  const dropped: { readonly what: string; readonly why: string }[] = [];
  const drop = (what: string, why: string): void => {
    if (dropped.length < MAX_ACTIONS) dropped.push({ what: what.slice(0, MAX_NAME), why });
  };
  const take = (what: string, action: ModelAction | string): void => {
    if (typeof action === "string") return drop(what, action);
    const fault = [action.target ?? "", ...textsOf(action.input)].map((one) => faultOf(one, checks)).find((one) => one !== undefined);
    if (fault !== undefined) return drop(what, fault);
    if (actions.length >= MAX_ACTIONS) return drop(what, `one answer takes at most ${MAX_ACTIONS} actions`);
    actions.push(action);
  };
  if (!isWhole) drop("the answer", "the provider cut it off or filtered it");
  else if (calls.length > 0)
    for (const { name, input } of calls.slice(0, MAX_ACTIONS * 2))
      take(faultOf(name, checks) === undefined ? name : "a tool", actionOf(tools, name, input));
  else if (!isSilence(text)) {
    const asAction = textAction({ may, event });
    take("the text", asAction === undefined ? "no permitted action publishes a text here" : asAction(text.trim()));
  }
  return { actions, dropped };
}

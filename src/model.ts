/** Entry point for model-driven specialists. It loads no provider: a model is asked by the runtime, under the limits of its specialist. */
export { answer, type AnswerHandler, type AnswerOptions, type DataAct } from "./specialist/answer.ts";
export type { Instructions } from "./specialist/model-call.ts";

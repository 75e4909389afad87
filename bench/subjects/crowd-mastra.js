/** Agents of Mastra, made and kept, with nothing armed. */
import { Agent } from "@mastra/core/agent";
import { ready, settings } from "./subject.ts";
import { crowd } from "./crowd-of.ts";

const agents = await crowd(
  settings.count,
  (i) => new Agent({ id: `s${i}`, name: `s${i}`, instructions: "Welcome newcomers.", model: "openai/gpt-4o-mini" }),
);
ready({ port: 0, answers: { weigh: () => agents.weigh() } });

/** Agents of VoltAgent, made and kept, with nothing armed. */
import { Agent } from "@voltagent/core";
import { ready, settings } from "./subject.ts";
import { crowd } from "./crowd-of.ts";

const agents = await crowd(
  settings.count,
  (i) => new Agent({ name: `s${i}`, instructions: "Welcome newcomers.", model: "openai/gpt-4o-mini" }),
);
ready({ port: 0, answers: { weigh: () => agents.weigh() } });

/** Development: from an empty folder to a test, an edit until it is in use and what many leave behind, a week on the stage, a model call. */
import { firstTestS, modelCall, reload, unusedModules, weekOnStage } from "../harness/first-steps.ts";
import { figure } from "../harness/stats.ts";
import { shippedSaid } from "../harness/shipped.ts";
import { goal, type Suite } from "../harness/suite.ts";

const RELOADS = 1_000;
const CALLS = 500;
const WHY_WEEK =
  "no part stands out: each request passes the network, the client, the readers, the store and the oracle that checks every step, some 0.6 ms in all";

export const suite: Suite = {
  name: "developers",
  title: "Development",
  repeats: () => `${RELOADS.toLocaleString("en")} edits one after the other, ${CALLS} calls of a model, the rest once`,
  async run(context) {
    const { quick, progress } = context;
    const unused = unusedModules();
    const call = await modelCall(quick ? 50 : CALLS);
    progress(`a model call: ${figure(call.ours)} ms, the SDK alone ${figure(call.sdk)} ms`);
    const week = await weekOnStage(quick ? 1 : 7);
    progress(`the stage: ${figure(week.seconds)} s`);
    const { times, grownMb, left } = reload(quick ? 40 : RELOADS);
    const firstTest = quick ? undefined : firstTestS();
    const sorted = times.toSorted((a, b) => a - b);
    const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
    const p95 = at(0.95);
    return {
      columns: ["", "figure", "range"],
      rows: [
        [
          "an edit of an imported file, from its save until it is in use: p50",
          `${figure(at(0.5))} ms`,
          `${figure(at(0))} to ${figure(at(1))}`,
        ],
        ["the same: p95", `${figure(p95)} ms`, ""],
        ["resident memory after all edits, beside that after a tenth", `${figure(grownMb)} MB`, ""],
        ["threads, timers and watches left", String(left), ""],
        [
          "a week on the stage, processor time of its thread",
          `${figure(week.seconds)} s`,
          `${figure(week.requestsPerHour)} requests an hour`,
        ],
        ["a call of a model, processor time", `${figure(call.ours)} ms`, `${figure(call.sdk)} ms of it SDK and HTTP`],
        ["modules of models and MCP loaded without a use", String(unused.length), ""],
        ...(firstTest === undefined
          ? []
          : [["from an empty folder to the first passing test", `${figure(firstTest)} s`, "warm npm cache, offline"]]),
      ],
      conditions: [
        "One definition and the file that it imports, both TypeScript, on the disk; the runtime is that of the checkout, whose types Node strips in each new thread.",
        "After each edit one event is handled by the version in use. One edit in ten is broken, and the last good version has to handle it.",
        shippedSaid(),
        "The stage holds four copies of the template `bot` on the Free tier, among others who post six times an hour; the goal counts its time for 60 requests an hour.",
        "The model is `scriptedModel` over HTTP in the same process; the SDK alone sends a request without tools over the same sockets.",
        "The first test is that of the template `bot`, by `npm run first-hour -- --short`: packed, in a network namespace with loopback alone. `retinue --version` is in the suite start.",
      ],
      plots: [],
      goals: [
        goal("edit to use, p95", { most: 500 }, p95, " ms"),
        goal("growth of resident memory", { most: 20 }, grownMb, " MB"),
        goal("threads, timers and watches left", { most: 0 }, left, ""),
        goal("a week on the stage, at 60 requests an hour", { most: 6 }, (week.seconds * 60) / week.requestsPerHour, " s", WHY_WEEK),
        goal("our own cost of a model call", { most: 3 }, call.ours - call.sdk, " ms"),
        goal("modules of models and MCP loaded without a use", { most: 0 }, unused.length, ""),
        ...(firstTest === undefined ? [] : [goal("from an empty folder to the first passing test", { most: 60 }, firstTest, " s")]),
      ],
      ratios: {},
    };
  },
};

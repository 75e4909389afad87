/** Signals of a real process: its spans reach a collector over OTLP, one trace for an event, also over a restart; without an SDK nothing is loaded. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { loadConfig } from "../../src/config/config.ts";
import { isObject, textIn } from "../../src/core/json.ts";
import { silentLogger } from "../../src/core/log.ts";
import { Scrubber } from "../../src/core/scrubber.ts";
import { traceIdOf } from "../../src/core/trace-ids.ts";
import { openSignals } from "../../src/signals/open-signals.ts";
import { inProcess } from "../harness/cli.ts";
import { harness } from "../harness/harness.ts";
import { otlpReceiver } from "../harness/otlp-receiver.ts";
import { project } from "../harness/project.ts";
import { runLab } from "../harness/run-command.ts";

const CANARY = "canary-of-a-secret-0123456789";
/** Reads, keeps a step named by a secret's neighbour, and wants a reply that a person approves. */
const SOURCE = `
import { defineSpecialist } from "retinue";
export default defineSpecialist({
  handle: "scout",
  tier: "pro",
  may: ["posts.reply"],
  review: ["posts.reply"],
  secrets: ["CANARY"],
  watch: { feed: { from: "start" } },
  on: {
    "post.created": async (post, act) => {
      await act.step("think " + process.env.CANARY.slice(0, 3), () => ({ said: "fine" }));
      act.log.info("thought of " + process.env.CANARY);
      act.reply(post.id, "Here is an answer.");
    },
  },
});
`;

test("a trace goes on after a restart, and no span holds a secret", async (context) => {
  const receiver = await otlpReceiver();
  const lab = await runLab(context, SOURCE);
  const env = { ...receiver.env, CANARY };
  await lab.news("A question");
  const first = lab.run({ env });
  const proposed = await first.saying(({ type, state }) => type === "intent" && state === "proposed");
  const logged = first.said.find(({ type, message }) => type === "log" && typeof message === "string" && message.startsWith("thought of"));
  const id = textIn(proposed, "id") ?? "";
  first.kill("SIGTERM");
  expect((await first.ended).code).toBe(0);
  const [run] = await receiver.named("run post.created");
  const fields = isObject(logged?.["fields"]) ? logged["fields"] : {};
  expect(run?.traceId).toBe(traceIdOf("scout", textIn(fields, "event") ?? ""));
  expect(fields).toMatchObject({ handle: "scout", trace_id: run?.traceId });
  expect(logged?.["message"]).not.toContain(CANARY);

  const second = lab.run({ env });
  await receiver.named("request posts.list", 2);
  const approved = await inProcess(["approve", id, "--yes", "--store", `sqlite:${join(lab.root, "store.sqlite")}`], {
    cwd: lab.root,
  });
  expect(approved).toMatchObject({ code: 0 });
  await second.saying(({ type, state }) => type === "intent" && state === "confirmed");
  second.kill("SIGTERM");
  await second.ended;
  const [request] = await receiver.named("request posts.reply");
  expect(request).toMatchObject({
    traceId: run?.traceId,
    attributes: { "retinue.intent": id, "retinue.outcome": "confirmed" },
  });
  const ofEvent = receiver.spans.filter(({ traceId }) => traceId === run?.traceId).map(({ name }) => name);
  expect(ofEvent.toSorted()).toEqual(["admission posts.reply", "event post.created", "request posts.reply", "run post.created", "step"]);
  expect(receiver.spans.find(({ name }) => name === "step")?.parent).toBe(run?.spanId);
  const sent = receiver.bodies.join("\n");
  for (const secret of [CANARY, "sk_live_"]) expect(sent).not.toContain(secret);
}, 60_000);

test("without an SDK and without targets nothing of traces and alerts is loaded", () => {
  const { root } = project();
  writeFileSync(join(root, "count.mjs"), "");
  const loaded = execFileSync(
    process.execPath,
    [
      "--conditions=retinue-source",
      "--input-type=module",
      "--eval",
      `import { registerHooks } from "node:module";
       const seen = [];
       registerHooks({ load(url, context, next) { seen.push(url); return next(url, context); } });
       const { main } = await import(${JSON.stringify(pathToFileURL(join(import.meta.dirname, "../../src/cli/main.ts")).href)});
       process.argv.push("x");
       const silent = { write: () => true };
       await main(["demo", "--for", "2s", "--json"], { cwd: ${JSON.stringify(root)}, env: {}, stdout: silent, stderr: silent });
       console.log(JSON.stringify(seen.filter((url) => /src.signals.(?:alert|trace|open-signals)/.test(url))), seen.length);`,
    ],
    { encoding: "utf8", cwd: root },
  );
  expect(loaded).toMatch(/^\[\] \d{3}/);
}, 60_000);

test("a dry run alerts nobody, and targets are told when a runtime runs", async () => {
  const { root } = project({ "retinue.config.ts": `export default { alerts: { to: [{ command: ["node", "-e", ""] }] } };` });
  const config = await loadConfig({ cwd: root, env: {} });
  for (const writes of ["refuse", "send"] as const) {
    const here = await harness({ specialists: [{ handle: "scout" }], writes });
    const { runtime, guardian } = here;
    let asked = 0;
    const status = {
      read() {
        asked++;
        return guardian.status({});
      },
      changed: () => undefined,
    };
    const options = { config, runtime, status, announcer: runtime.announcer, log: silentLogger(), scrubber: new Scrubber() };
    const signals = await here.clock.run(openSignals({ ...options, consoleUrl: undefined }));
    await here.clock.advance(10_000);
    await here.clock.run(signals.close());
    expect(asked > 0).toBe(writes === "send");
  }
});

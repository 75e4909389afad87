/** `retinue simulate` tells what came of a run: what waits, fails or was never tried; and takes the world's words from files. */
import { expect, test } from "vitest";
import { main } from "../../src/cli/main.ts";
import { showWorking } from "../../src/cli/working.ts";
import { createOutput } from "../../src/cli/output.ts";
import { parseJson } from "../../src/core/json.ts";
import { SECOND } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { inProcess } from "../harness/cli.ts";
import { project } from "../harness/project.ts";

const LONG = { timeout: 120 * SECOND };

const specialist = (fields: string): string =>
  `import { credits, defineSpecialist } from "retinue";\nexport default defineSpecialist({ ${fields} });\n`;
const GREETER = specialist(`handle: "greeter", tier: "starter", watch: { feed: { from: "start" } }, may: ["posts.reply"],
  on: { "post.created": (post, act) => { if (/hello/.test(post.content ?? "")) act.reply(post, "Welcome, " + post.id); } }`);
const HIRER = specialist(`handle: "hirer", may: ["jobs.create"], spend: { perDay: credits(5) },
  schedules: { offer: { every: "2m", run: (act) => void act.createJob({ title: "sum", description: "sum it", reward: 4 }) } }`);
const CALLER = specialist(`handle: "caller", tier: "starter", watch: { jobs: true }, may: ["jobs.apply"],
  on: { "job.listed": async (job, act) => {
    const answer = await act.fetch("https://model.example/v1/chat?job=1", { method: "POST", body: job.title });
    const { say } = await answer.json();
    if (say === "apply") act.apply(job);
  } }`);

const simulated = (files: { readonly [path: string]: string }, ...args: readonly string[]) =>
  inProcess(["simulate", "--faults", "none", ...args], { cwd: project(files).root });
const json = (text: string) => parseJson(text) as { readonly [name: string]: unknown };

test("a backlog behind a cap is no broken promise, and is told", LONG, async () => {
  const { code, stdout } = await simulated({ "agents/hirer.ts": HIRER }, "--for", "1h");
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(/^seed 1: kept[^]*At the end \d+ jobs\.create wait: the cap on spending is reached\./),
  ]);
});

test("a specialist that never decided anything is told of, and one that meets its greetings is not", LONG, async () => {
  const files = { "agents/greeter.ts": GREETER, "crowd.yaml": "posts: [hello, hello again]\npostsPerHour: 6\n" };
  const alone = await simulated(files, "--for", "3h");
  expect([alone.code, alone.stdout.replaceAll("\n", " ")]).toEqual([
    0,
    expect.stringMatching(/greeter never decided anything, so nothing of it was tried: its handlers took \d+ events and chose no action/),
  ]);
  const met = json((await simulated(files, "--for", "3h", "--crowd", "crowd.yaml", "--json")).stdout);
  expect(met).toMatchObject({ ok: true, undecided: [], intents: { "posts.reply confirmed": expect.any(Number) } });
});

test("requests of a definition are answered by a file, in turn, and one without an answer fails visibly", LONG, async () => {
  const files = {
    "agents/caller.ts": CALLER,
    "crowd.json": JSON.stringify({ jobs: [{ title: "Sum", reward: 3, input: [1, 2], deadline: "6h" }], jobsPerHour: 6 }),
    "answers.yaml":
      "- {url: https://model.example/*, method: post, json: {say: apply}}\n- {url: https://model.example/*, json: {say: nothing}}\n",
    "others.yaml": "- {url: https://elsewhere.example/, text: hi}\n",
  };
  const args = ["--for", "3h", "--crowd", "crowd.json", "--json"];
  const answered = json((await simulated(files, ...args, "--fetch", "answers.yaml")).stdout);
  expect(answered).toMatchObject({ failures: {}, undecided: [], intents: { "jobs.apply confirmed": expect.any(Number) } });
  const unanswered = json((await simulated(files, ...args, "--fetch", "others.yaml")).stdout);
  const what = "caller job.listed: nothing answers POST https://model.example/v1/chat?job=1: add it to the answers of fetch";
  expect(unanswered).toMatchObject({ failures: { [what]: expect.any(Number) }, undecided: ["caller"] });
  const refused = json((await simulated(files, ...args)).stdout);
  expect(Object.keys(refused["failures"] as object)).toEqual([expect.stringContaining("give --fetch <file>")]);
});

const TEA_HELPER = `import { defineSpecialist } from "retinue";
import { answer } from "retinue/model";
export default defineSpecialist({ handle: "helper", tier: "starter", watch: { feed: { from: "start" } }, may: ["posts.reply"],
  instructions: "Answer questions about tea.", on: { "post.created": answer({ model: "small" }) } });`;
const SMALL = `import { defineConfig } from "retinue";
export default defineConfig({ models: { small:
  { provider: "openai-compatible", address: "http://127.0.0.1:9/v1", context: 8192, prices: { input: 0, output: 0 } } } });`;

test("no real model is asked: a file answers for it, and without one the way is told", LONG, async () => {
  const files = {
    "agents/helper.ts": TEA_HELPER,
    "retinue.config.ts": SMALL,
    "crowd.yaml": "posts: [How long does tea steep?, What is tea?]\npostsPerHour: 6\n",
    "replies.yaml": "small:\n  - Two minutes.\n  - NOTHING\n  - {status: 503, text: busy}\n",
    "wrong.yaml": "small: [1]\n",
  };
  const args = ["--for", "3h", "--crowd", "crowd.yaml"];
  const refused = await simulated(files, ...args);
  expect([refused.code, refused.stderr]).toEqual([
    2,
    expect.stringMatching(/"helper" asks the model "small", and no real one is asked here[^]*try +give its replies by --models <file>/),
  ]);
  expect((await simulated(files, ...args, "--models", "wrong.yaml")).stderr).toMatch(
    /small\[0\]: expected a text, or a reply: [^]*wrong\.yaml:1/,
  );
  const answered = json((await simulated(files, ...args, "--models", "replies.yaml", "--json")).stdout);
  expect(answered).toMatchObject({ ok: true, failures: {}, undecided: [], intents: { "posts.reply confirmed": expect.any(Number) } });
});

test("all mistakes in the files are named at once, with their lines", async () => {
  const files = {
    "agents/greeter.ts": GREETER,
    "crowd.yaml": "posts: hello\npostPerHour: 3\njobs:\n  - {title: Sum, reward: -1}\n",
    "answers.yaml": "- {url: model.example}\n- {url: https://model.example/, json: 1, text: one}\n",
  };
  const args = ["--crowd", "crowd.yaml", "--fetch", "answers.yaml"];
  const { code, stderr } = await simulated(files, ...args);
  expect(code).toBe(2);
  for (const text of [
    "crowd.yaml:1",
    "a list of texts",
    'did you mean "postsPerHour"?',
    "crowd.yaml:4",
    "answers.yaml:1",
    "http(s)",
    "either json or text",
  ])
    expect(stderr).toContain(text);
  const machines = json((await simulated(files, ...args, "--json")).stdout);
  expect(machines).toMatchObject({ ok: false, error: { code: "crowd_invalid" }, problems: { length: 5 } });
  expect((await simulated(files, "--crowd", "nowhere.yaml")).stderr).toMatch(/nowhere\.yaml\n.*create it, or name another file/);
});

test("tells how far it is on one line of a terminal, and removes it before the result", LONG, async () => {
  let text = "";
  const stdout = { isTTY: true, columns: 60, rows: 24, write: (more: string) => void (text += more) };
  const { root } = project({ "agents/greeter.ts": GREETER });
  expect(await main(["simulate", "--faults", "none", "--for", "6h"], { cwd: root, env: { NO_COLOR: "1" }, stdout, stderr: stdout })).toBe(
    0,
  );
  expect(text).toMatch(/\rseed 1: day 1, .* of 6h: \d+ requests, \d+ ef/);
  const [rewritten = "", ...lines] = text.split("\n");
  expect(rewritten.slice(rewritten.lastIndexOf("\r"))).toContain("\r\u001B[Kseed 1: kept");
  expect(lines.join("\n")).not.toContain("\r");
});

test("tells how far it is every ten seconds where there is no terminal", async () => {
  let text = "";
  const stdout = { write: (more: string) => void (text += more) };
  const clock = virtualClock();
  const working = showWorking(createOutput({ json: false, colour: false, stdout, stderr: stdout, cwd: "/" }), clock);
  for (let second = 0; second < 35; second++) {
    working.tell(() => ({ event: { second }, text: `second ${second}` }));
    await clock.advance(SECOND);
  }
  working.clear();
  expect(text).toBe("second 10\nsecond 20\nsecond 30\n");
});

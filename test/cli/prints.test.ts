/** Text that a definition prints goes to its specialist's log, in its own process and in a thread; stdout stays ours. */
import { expect, test } from "vitest";
import { isObject, type JsonObject } from "../../src/core/json.ts";
import { project } from "../harness/project.ts";
import { resultOf, textIn } from "../harness/process.ts";
import { retinue } from "../harness/cli.ts";
import { runLab } from "../harness/run-command.ts";

const MODEL = "sk-model-9Xw3Lr0Tq6";

const definition = (isolate: string): string => `
import { defineSpecialist } from "retinue";
console.log("loading");
export default defineSpecialist({
  handle: "scout",
  tier: "pro",
  isolate: "${isolate}",
  secrets: ["MODEL_KEY"],
  watch: { feed: { from: "start" } },
  on: {
    "post.created": async (post, act) => {
      if (post.content === "flood") for (let i = 0; i < 2_000; i++) console.log("flood", i);
      if (post.content === "flood") return;
      console.log("a line\\nand another", { of: post.content });
      console.error("the key is", process.env.MODEL_KEY);
      for (const part of ["in ", "three ", "parts"]) process.stdout.write(part);
      await new Promise((done) => process.stdout.write(Buffer.from(" and the end"), done));
      console.log();
      process.stdout.write("no end");
      setTimeout(() => console.log("later"), 10);
      process.stdout.write("\\u001b[2J" + "x".repeat(2_000_000));
    },
  },
});
`;

const fieldsOf = ({ fields }: JsonObject): JsonObject => (isObject(fields) ? fields : {});
const printed = (said: readonly JsonObject[]): readonly JsonObject[] => said.filter((line) => fieldsOf(line)["printed"] !== undefined);

test.for(["none", "worker"])("lines go to the log of their specialist, isolate: %s", async (isolate, context) => {
  const lab = await runLab(context, definition(isolate));
  const run = lab.run({ env: { MODEL_KEY: MODEL } });
  const event = `post.created:${await lab.news("hello")}`;
  await run.saying((line) => line["message"] === "later" && fieldsOf(line)["handle"] === "scout");
  const flood = `post.created:${await lab.news("flood")}`;
  await run.saying(({ type, event: handled, result }) => type === "run" && handled === flood && result === "finished");
  run.kill("SIGTERM");
  const ended = await run.ended;

  expect(resultOf(ended)).toMatchObject({ command: "run", ok: true });
  expect(ended.stdout.trim().split("\n")).toHaveLength(1);
  expect(run.strays).toEqual([]);
  expect(JSON.stringify(run.said)).not.toContain(MODEL);
  const lines = printed(run.said).filter((line) => fieldsOf(line)["handle"] === "scout" && textIn(line, "message") !== "loading");
  expect(lines.slice(0, 4)).toMatchObject([
    { type: "log", level: "info", message: "a line", fields: { event, printed: "stdout" } },
    { level: "info", message: "and another { of: 'hello' }" },
    { level: "warn", message: "the key is [secret]", fields: { event, printed: "stderr" } },
    { message: "in three parts and the end" },
  ]);
  expect(lines[4]?.["message"]).toMatch(/^no end.\[2Jx{900,}… \(\d+ characters more\)$/s);
  expect(lines.filter((line) => textIn(line, "message").startsWith("flood")).length).toBeGreaterThan(200);
  expect(lines.length).toBeLessThan(301);
  expect(run.said.filter((line) => /^lines that the definition printed: \d+ more/.test(textIn(line, "message")))).toHaveLength(1);
});

test("a definition that prints while it is loaded leaves the one object of --json alone", async () => {
  const { root } = project({ "agents/scout.ts": 'console.log("hello", process.env.COPY);\nexport default { handle: "scout" };\n' });
  const key = "sk_live_0123456789";
  const env = { RETINUE_KEY_SCOUT: key, COPY: key, RETINUE_BASE_URL: "https://api.example.com/v1" };
  const { code, stdout, stderr } = await retinue(["check", "--json"], { cwd: root, env });
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { ok: true }]);
  expect(JSON.parse(stderr)).toMatchObject({ type: "log", level: "info", message: "hello [secret]", fields: { printed: "stdout" } });
  const people = await retinue(["check"], { cwd: root, env });
  expect(people.stdout).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z {2}hello \[secret\] printed=stdout$/m);
});

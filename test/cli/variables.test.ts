/** `.env` is the environment of definitions, as in other projects, but its keys are ours: they reach no definition, thread or child. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, type TestContext } from "vitest";
import { isObject, type JsonObject } from "../../src/core/json.ts";
import { SECOND } from "../../src/core/units.ts";
import { runLab, type RunLab } from "../harness/run-command.ts";
import { textIn, type Process } from "../harness/process.ts";

/** Logs the variables that it finds when it is loaded and handled, and those that its child finds. */
const definition = (isolate: string): string => `
import { execFileSync } from "node:child_process";
import { defineSpecialist } from "retinue";
const names = ["MODEL", "REGION", "RETINUE_KEY_SCOUT", "RETINUE_KEY_OTHER", "RETINUE_BASE_URL"];
const seen = (all) => names.map((name) => all[name] ?? "-").join(" ");
const child = () => JSON.parse(execFileSync(process.execPath, ["-p", "JSON.stringify(process.env)"], { encoding: "utf8" }));
const loaded = seen(process.env);
export default defineSpecialist({
  handle: "scout",
  tier: "pro",
  isolate: "${isolate}",
  watch: { feed: { from: "start" } },
  on: {
    "post.created": (post, act) => act.log.info("seen", { post: post.id, loaded, handled: seen(process.env), child: seen(child()) }),
  },
});
`;

interface Seeing {
  readonly lab: RunLab;
  readonly run: Process;
  /** The variables that the specialist sees from now on. */
  seen(): Promise<{ readonly [when: string]: unknown }>;
  dotenv(text: string): void;
}

async function seeing(context: TestContext, isolate: string, dotenv: string): Promise<Seeing> {
  const lab = await runLab(context, definition(isolate));
  const write = (text: string): void => writeFileSync(join(lab.root, ".env"), text, { mode: 0o600 });
  write(dotenv);
  const run = lab.run({ env: { REGION: "real" } });
  return {
    lab,
    run,
    dotenv: write,
    async seen() {
      const id = await lab.news("hello");
      const line = await run.saying(({ type, message, fields }) => type === "log" && message === "seen" && fieldsOf(fields)["post"] === id);
      const { loaded, handled, child } = fieldsOf(line["fields"]);
      return { loaded, handled, child };
    },
  };
}

const fieldsOf = (value: unknown): JsonObject => (isObject(value) ? value : {});
const DOTENV = "MODEL=first\nREGION=file\nRETINUE_KEY_OTHER=sk_live_0123456789\nRETINUE_BASE_URL=http://127.0.0.1:1/v1\n";
const everywhere = (text: string) => ({ loaded: text, handled: text, child: text });

test.for(["none", "worker"])("definitions and their children see .env without our keys, with isolate: %s", async (isolate, context) => {
  const { run, lab, seen, dotenv } = await seeing(context, isolate, DOTENV);
  expect(await seen()).toEqual(everywhere("first real - - -"));

  dotenv(DOTENV.replace("first", "second"));
  await run.saying((line) => line["type"] === "definition" && textIn(line, "message").includes("the changed variables of .env"));
  expect(await seen()).toEqual(everywhere("second real - - -"));

  dotenv(DOTENV.replace(/MODEL.*\n/, ""));
  await expect.poll(() => run.said.filter(({ type }) => type === "definition").length, { timeout: 20 * SECOND }).toBe(2);
  expect(await seen()).toEqual(everywhere("- real - - -"));
  expect(lab.effects("posts.reply")).toEqual([]);
});

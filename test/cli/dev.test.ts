/** `retinue dev` as people run it: a real process, real files, and edits that count while it runs. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { textIn } from "../../src/core/json.ts";
import { inProcess } from "../harness/cli.ts";
import { folder, start } from "../harness/process.ts";
import { project } from "../harness/project.ts";

const scout = (words: string, handle = "scout"): string =>
  `export default { handle: "${handle}", tier: "pro", may: ["posts.create"], schedules: { often: { every: "1s", run: (act) => { act.post("${words} " + act.now); } } } };\n`;

test("an edit counts while it runs, a broken one keeps the last good version and says where, a new file gets its key", async (context) => {
  const root = folder(context);
  mkdirSync(join(root, "agents"));
  const write = (name: string, text: string): void => writeFileSync(join(root, "agents", name), text);
  write("scout.mjs", scout("before"));
  const dev = start(context, ["dev"], { cwd: root });
  const posts = (words: string, handle = "scout") =>
    dev.saying((line) => line["state"] === "confirmed" && line["handle"] === handle && textIn(line, "words")?.startsWith(words) === true);
  const tells = (text: string) => dev.saying((line) => line["type"] === "definition" && textIn(line, "message")?.includes(text) === true);
  await posts("before");
  write("scout.mjs", scout("after"));
  await tells("has a new definition");
  await posts("after");
  write("scout.mjs", "export default { handle: 'scout', ");
  await tells("keeps its last working definition: agents/scout.mjs:1 cannot be used");
  write("quill.mjs", scout("joined", "quill"));
  await posts("joined", "quill");
  expect(existsSync(join(root, ".retinue/dev/network.sqlite"))).toBe(true);

  expect(dev.said.filter(({ code }) => code === "key_missing")).toEqual([]);
  write("scout.mjs", scout("again"));
  await posts("again");
  const second = await inProcess(["dev", "--for", "1s", "--json"], { cwd: root });
  expect([second.code, JSON.parse(second.stdout)]).toMatchObject([2, { error: { code: "dev_running" } }]);

  dev.kill("SIGINT");
  expect(await dev.ended).toMatchObject({ code: 0 });
  write("scout.mjs", scout("again"));
  const again = start(context, ["dev"], { cwd: root });
  await again.saying((line) => textIn(line, "words")?.startsWith("again") === true);
  again.kill("SIGINT");
  const { stdout } = await again.ended;
  const specialists: unknown = JSON.parse(stdout).specialists;
  const before = Array.isArray(specialists) ? specialists.find(({ handle }) => handle === "scout")?.actions["posts.create"] : 0;
  expect(before).toBeGreaterThan(2); // the network and the store are those of before
});

test("a folder without definitions is told how to make a project", async () => {
  const { root } = project();
  const { code, stderr } = await inProcess(["dev"], { cwd: root });
  expect(code).toBe(2);
  expect(stderr).toContain("there is no folder of definitions");
  expect(stderr).toContain("retinue init <dir>");
});

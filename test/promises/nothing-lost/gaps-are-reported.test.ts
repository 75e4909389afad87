/** More news than a look reads back: `run` says what it passed over as it happens, and `status` says it afterwards. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { inProcess } from "../../harness/cli.ts";
import { runLab } from "../../harness/run-command.ts";

const READER = `
import { defineSpecialist } from "retinue";
export default defineSpecialist({
  handle: "scout",
  tier: "starter",
  watch: { feed: { from: "start" } },
  on: { "post.created": () => undefined },
});
`;
/** Four pages, and some. */
const NEWS = 85;

test("a gap is reported as it happens and shown afterwards, by the ids it lies between", async (context) => {
  const lab = await runLab(context, READER);
  for (let n = 0; n < NEWS; n++) await lab.news(`news ${n}`);
  const run = lab.run();
  const gap = { source: "feed", before: "post_6" };
  expect(await run.saying(({ type }) => type === "gap")).toMatchObject({ handle: "scout", ...gap });
  run.kill("SIGTERM");
  await run.ended;

  const said = await inProcess(["status", "--store", `sqlite:${join(lab.root, "store.sqlite")}`], { cwd: lab.root });
  expect(said.stdout).toMatch(/Gaps of the last days.*: 1\n/);
  expect(said.stdout).toMatch(/scout +feed .* post_6 *\n/);
});

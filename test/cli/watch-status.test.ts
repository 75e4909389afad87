/** `retinue status --watch`: in place on a terminal of any size, changes alone on a pipe, until Ctrl-C. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { main } from "../../src/cli/main.ts";
import { createOutput } from "../../src/cli/output.ts";
import { watchLines } from "../../src/cli/watch-status.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { statusOfLost } from "../../src/guardian/status.ts";
import { inProcess } from "../harness/cli.ts";
import { start } from "../harness/process.ts";
import { project } from "../harness/project.ts";
import { storeProject } from "../harness/store-project.ts";

test("on a pipe each matter that comes or ends is one line, and Ctrl-C ends it with the last state", async (context) => {
  const { root, run } = await storeProject();
  const watch = start(context, ["status", "--watch", "--store", `sqlite:${join(root, ".retinue/store.sqlite")}`], { cwd: root });
  const seen = (change: string) => watch.saying((said) => said["type"] === "need" && said["change"] === change);
  await watch.saying(({ type }) => type === "watching");
  expect(await run("halt", "--reason", "a look first")).toMatchObject({ code: 0 });
  expect(await seen("came")).toMatchObject({ need: { key: "halt:*", message: "halted: a look first" } });
  expect(await run("halt", "--lift")).toMatchObject({ code: 0 });
  expect(await seen("ended")).toMatchObject({ need: { key: "halt:*" } });
  watch.kill("SIGINT");
  const { code, stdout } = await watch.ended;
  expect(watch.strays).toEqual([]);
  expect([code, JSON.parse(stdout)]).toEqual([
    0,
    expect.objectContaining({ ok: true, halts: [], specialists: [expect.objectContaining({ handle: "scout" })] }),
  ]);
});

test("on a pipe the matters of a process that does not answer have not ended, and its silence is one line", () => {
  let written = "";
  const stream = { write: (text: string) => void (written += text) };
  const out = createOutput({ json: true, colour: false, stdout: stream, stderr: stream, cwd: "/" });
  const watching = watchLines({ out, clock: virtualClock() }, () => undefined);
  const look = (scopes: readonly string[], unseen?: string, unseenHandles: readonly string[] = ["quill"]): void => {
    const unkept = scopes.map((scope) => ({ scope, reason: "a look first", since: 1 }));
    const status = statusOfLost({ at: 1, running: undefined, unkept });
    watching.take(unseen === undefined ? status : { ...status, unseen, unseenHandles });
  };
  const changes = (): readonly unknown[] => {
    watching.close(); // what waits is written
    const lines = written.split("\n").filter((line) => line !== "");
    written = "";
    return lines.map((line) => JSON.parse(line)).map(({ type, change, message }) => change ?? message ?? type);
  };
  const silent = "host:2 does not answer";
  look(["scout", "quill", "scribe"], silent);
  expect(changes()).toEqual(["watching", silent]);
  look(["scout"], silent);
  expect(changes()).toEqual(["ended"]); // of scribe
  look(["scout"], "host:2 and host:3 do not answer");
  expect(changes()).toEqual(["host:2 and host:3 do not answer"]);
  look(["scout"], silent, []);
  expect(changes()).toEqual(["ended", silent]);
  look(["scout", "quill"]);
  expect(changes()).toEqual(["came"]);
});

test("on a terminal it is drawn in place, also after a resize, and the terminal is given back", async () => {
  const { root, run } = await storeProject();
  let written = "";
  const screen = { write: (text: string) => void (written += text), isTTY: true, columns: 100, rows: 30 };
  const over = main(["status", "--watch"], { cwd: root, env: {}, stdout: screen, stderr: screen });
  await expect.poll(() => written).toContain("scout");
  expect(written.startsWith("\u001B[?1049h")).toBe(true);
  written = "";
  [screen.columns, screen.rows] = [40, 3];
  process.emit("SIGWINCH", "SIGWINCH");
  expect(written.split("\r\n")).toHaveLength(2);
  expect(written).toMatch(/… \d+ more lines/);
  [screen.columns, screen.rows] = [100, 30];
  await run("halt", "--reason", "a look first");
  await expect.poll(() => written).toContain("a look first");
  process.emit("SIGHUP", "SIGHUP");
  expect(await over).toBe(0);
  expect(written.endsWith("\u001B[?7h\u001B[?25h\u001B[?1049l")).toBe(true);
});

test("without a store it says what to do, and leaves the terminal as it was", async () => {
  const { code, stdout, stderr } = await inProcess(["status", "--watch"], { cwd: project().root });
  expect([code, stdout, stderr]).toEqual([2, "", expect.stringContaining("there is no store yet")]);
});

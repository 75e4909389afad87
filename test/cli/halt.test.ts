/** `retinue halt` stores a halt, names what ends it, and ends it. */
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createAnnouncer } from "../../src/core/events.ts";
import { silentLogger } from "../../src/core/log.ts";
import { controlPath, serveControl } from "../../src/guardian/control-socket.ts";
import { remoteGuardian } from "../../src/guardian/remote-guardian.ts";
import { EVERYONE } from "../../src/limits/verdict.ts";
import { storeProject } from "../harness/store-project.ts";

test("a halt is stored with its reason, and says how it ends", async () => {
  const { run, json, inStore } = await storeProject();
  const { code, stdout } = await run("halt", "scout", "--reason", "wrong prices");
  expect([code, stdout]).toEqual([0, "halted: scout does not write\nretinue halt scout --lift ends it\n"]);
  expect(await json("halt")).toEqual({
    code: 0,
    said: expect.objectContaining({ ok: true, message: "halted: no specialist writes", inFlight: [] }) as object,
  });
  expect((await inStore((store) => store.stops())).halts.map(({ scope }) => scope).toSorted()).toEqual([EVERYONE, "scout"]);
});

test("--lift ends it, and names what stays", async () => {
  const { run, inStore } = await storeProject((store, now) => store.stop("halt", "scout", "x", now));
  expect((await run("halt", "--lift")).stdout).toBe("everyone was not halted; still halted: scout (retinue halt scout --lift)\n");
  expect((await run("halt", "scout", "--lift")).stdout).toBe("scout may write again\n");
  expect((await inStore((store) => store.stops())).halts).toEqual([]);
});

test("one that a process of a fleet has not confirmed fails, names it, and lists what the others have in flight", async () => {
  const { run, json, root } = await storeProject();
  const inFlight = [{ id: "act_1", handle: "scout", operation: "posts.reply", startedAt: 1, deadlineAt: 2 }];
  const incomplete = { message: "web-2:7: no answer", hint: "give the order again, or end the process" };
  const message = "not every process has confirmed it; halted: no specialist writes";
  const control = await serveControl({
    path: controlPath(join(root, ".retinue/store.sqlite")),
    guardianOf: () => remoteGuardian(() => Promise.resolve({ message, inFlight, incomplete })),
    announcer: createAnnouncer(),
    log: silentLogger(),
    onStop: () => undefined,
  });
  onTestFinished(() => control.close());
  const { code, stdout, stderr } = await run("halt");
  expect(code).toBe(1);
  for (const words of [message, "1 in flight already", "act_1"]) expect(stdout).toContain(words);
  for (const words of [incomplete.message, incomplete.hint]) expect(stderr).toContain(words);
  expect(await json("halt")).toMatchObject({
    code: 1,
    said: { ok: false, inFlight, incomplete, error: { code: "order_incomplete", message: incomplete.message } },
  });
});

test("a mistake elsewhere in the settings does not keep the kill switch from working", async () => {
  const { run } = await storeProject(undefined, { env: { RETINUE_SET: "c", RETINUE_CONSOLE_PORT: "none" } });
  expect(await run("halt")).toMatchObject({ code: 0, stderr: "" });
});

/** The socket for commands: a command that goes away in the middle leaves nothing behind. */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { systemClock, type Clock } from "../../src/core/clock.ts";
import { ProfileInvalid } from "../../src/contract/profile/profile-problem.ts";
import { Misconfigured } from "../../src/core/errors.ts";
import { createAnnouncer } from "../../src/core/events.ts";
import { createLogger, type LogLine } from "../../src/core/log.ts";
import { systemRandom } from "../../src/core/random.ts";
import { connectControl, controlPath, isServed, serveControl } from "../../src/guardian/control-socket.ts";
import { createGuardian } from "../../src/guardian/guardian.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";

/** A runtime's socket over a store in memory, on which nothing runs. */
async function opened() {
  const root = mkdtempSync(join(tmpdir(), "retinue-control-"));
  const clock = systemClock();
  const store = openSqliteStore({ path: ":memory:", clock, random: systemRandom() });
  const said: LogLine[] = [];
  const announcer = createAnnouncer();
  const path = join(root, "store.sqlite");
  const guardian = { ...createGuardian({ store, clock, members: async () => [] }) };
  const control = await serveControl({
    path: controlPath(path),
    guardianOf: () => guardian,
    announcer,
    log: createLogger({ level: "debug", now: () => clock.now(), sink: (line) => void said.push(line) }),
    onStop: () => undefined,
  });
  onTestFinished(async () => {
    await control.close();
    await store.close();
    rmSync(root, { recursive: true });
  });
  return { path, clock, said, announcer, guardian };
}

test("a process that takes connections and answers nothing, as one that is stopped, is an error and no endless wait", async () => {
  const root = mkdtempSync(join(tmpdir(), "retinue-control-"));
  const path = join(root, "store.sqlite");
  const sockets: Socket[] = [];
  const silent = createServer((socket) => void sockets.push(socket.resume()));
  await new Promise<void>((resolve) => void silent.listen(controlPath(path), resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    silent.close();
    rmSync(root, { recursive: true });
  });
  await expect(connectControl(path, systemClock(), "ada", AbortSignal.timeout(50))).rejects.toMatchObject({ code: "control_lost" });
  expect(await isServed(path, virtualPatience())).toBe(true);
});

/** A clock whose waits are over at once. */
function virtualPatience(): Clock {
  const clock = systemClock();
  return { ...clock, after: (_ms, run) => clock.after(1, run) };
}

test("words that hold separators of lines come through whole, both ways", async () => {
  const { path, clock } = await opened();
  const client = await connectControl(path, clock);
  const reason = "one\u2028two\u2029three\u0085four\r\nfive";
  await client?.guardian.halt({ reason });
  expect((await client?.guardian.status({}))?.halts).toMatchObject([{ reason }]);
  client?.close();
});

test("a follower that goes away unread is no failure, and the next command is answered", async () => {
  const { path, clock, said, announcer } = await opened();
  const follower = connect(controlPath(path));
  follower.write(`${JSON.stringify({ protocol: 6, do: "follow" })}\n`);
  await once(follower, "readable");
  announcer.emit("wait", { at: 1, handle: "scout", lane: "reply", until: 2, rule: "quota_window", message: "x".repeat(100_000) });
  // What it has not read makes the other end see a reset instead of an end.
  follower.destroy();
  await once(follower, "close");

  const next = await connectControl(path, clock);
  expect(await next?.guardian.status({})).toMatchObject({ specialists: [] });
  next?.close();
  expect(announcer.listenerCount("wait")).toBe(0);
  expect(said).toEqual([]);
});

test("a command ends with the class of the error, whatever class is derived from it", async () => {
  const { path, clock, guardian } = await opened();
  guardian.status = () => Promise.reject(new ProfileInvalid([]));
  const client = await connectControl(path, clock);
  await expect(client?.guardian.status({})).rejects.toThrow(Misconfigured);
  guardian.status = () => Promise.reject(new Error("no such row"));
  await expect(client?.guardian.status({})).rejects.toMatchObject({ name: "Fatal", code: "unexpected" });
  client?.close();
});

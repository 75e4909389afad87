/** How a command finds whom it asks, where the process in its folder is slow and the server of the store is away. */
import { mkdirSync } from "node:fs";
import { connect, createServer, type AddressInfo, type ListenOptions, type Server } from "node:net";
import { dirname } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parsePostgresAddress } from "../../src/config/postgres-address.ts";
import { createAnnouncer } from "../../src/core/events.ts";
import { silentLogger } from "../../src/core/log.ts";
import { controlPath, serveControl } from "../../src/guardian/control-socket.ts";
import { remoteGuardian } from "../../src/guardian/remote-guardian.ts";
import { inProcess } from "../harness/cli.ts";
import { project } from "../harness/project.ts";

function listening(server: Server, at: ListenOptions): Promise<void> {
  onTestFinished(() => void server.close());
  return new Promise((resolve) => server.listen(at, resolve));
}

test("a process that is busy for a moment takes a halt although the server of the store is away", async () => {
  const { root } = project();
  const away = Promise.withResolvers<void>();
  const database = createServer((socket) => {
    socket.destroy();
    away.resolve();
  });
  await listening(database, { port: 0, host: "127.0.0.1" });
  const store = `postgres://someone@127.0.0.1:${(database.address() as AddressInfo).port}/agents`;
  const path = controlPath(parsePostgresAddress(store, root).localFile);
  mkdirSync(dirname(path), { recursive: true });

  const orders: string[] = [];
  const control = await serveControl({
    path: `${path}2`,
    guardianOf: () =>
      remoteGuardian((name) => {
        orders.push(name);
        return Promise.resolve({ message: "halted: no specialist writes", inFlight: [] });
      }),
    announcer: createAnnouncer(),
    log: silentLogger(),
    onStop: () => undefined,
  });
  onTestFinished(() => control.close());
  // Busy until the command has asked the server.
  const busy = createServer((socket) => {
    const inside = connect(`${path}2`);
    for (const one of [socket, inside]) one.on("error", () => one.destroy()).once("close", () => inside.destroy());
    void away.promise.then(() => socket.pipe(inside).pipe(socket));
  });
  await listening(busy, { path });

  expect(await inProcess(["halt", "--store", store], { cwd: root })).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("halted: no specialist writes"),
    stderr: "",
  });
  expect(orders).toEqual(["halt"]);
});

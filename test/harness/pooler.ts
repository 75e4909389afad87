/** PgBouncer before a server, on loopback: connections of clients share sessions of the server. */
import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "vitest";
import { debianProgram } from "./debian-program.ts";
import { freePort } from "./free-port.ts";
import type { PostgresServer } from "./postgres.ts";

const PGBOUNCER = {
  program: "pgbouncer",
  packages: ["pgbouncer", "libevent-2.1-7", "libc-ares2"],
  place: "usr/sbin/pgbouncer",
  variable: "PGBOUNCER",
} as const;
/** It does not run as root. */
const NOBODY = 65_534;

/** Returns the address of the same database by way of the pooler. */
export async function startPooler(
  { onTestFinished }: TestContext,
  server: PostgresServer,
  address: string,
  mode: "session" | "transaction",
): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "retinue-pooler-"));
  chmodSync(folder, 0o755);
  const port = await freePort();
  const { username, password } = new URL(address);
  writeFileSync(join(folder, "users"), `"${username}" "${password}"\n`);
  const settings = {
    listen_addr: "127.0.0.1",
    listen_port: port,
    auth_type: "plain",
    auth_file: join(folder, "users"),
    pool_mode: mode,
    unix_socket_dir: "",
    ignore_startup_parameters: "extra_float_digits",
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  writeFileSync(join(folder, "pooler.ini"), `[databases]\n* = host=127.0.0.1 port=${server.port}\n[pgbouncer]\n${lines.join("\n")}\n`);
  const { path, env } = debianProgram(PGBOUNCER);
  const isRoot = process.getuid?.() === 0;
  const child = spawn(path, [join(folder, "pooler.ini")], {
    stdio: "ignore",
    env: { ...process.env, ...env },
    ...(isRoot ? { uid: NOBODY, gid: NOBODY } : {}),
  });
  const ended = new Promise<void>((resolve) => void child.once("close", () => resolve()));
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  while (!(await listens(port))) if (child.exitCode !== null) throw new Error(`pgbouncer ended with ${child.exitCode}`);
  return address.replace(`:${server.port}/`, `:${port}/`);
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1" });
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}

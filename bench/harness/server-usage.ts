/** Time of the processor that a PostgreSQL server on this machine has used: that of all its processes, those that ended included. */
import { readdirSync, readFileSync } from "node:fs";
import { Client } from "pg";

/** What the system counts processor time in (`getconf CLK_TCK`, 100 on every Linux). */
const TICK_MS = 10;
/** Fields of `/proc/<pid>/stat` behind the name. */
const FIELD = { parent: 1, user: 11, system: 12, userOfEnded: 13, systemOfEnded: 14 } as const;

/** The server's first process, by one of its sessions. */
export async function serverOf(url: string): Promise<number> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ readonly pid: number }>("SELECT pg_backend_pid() AS pid");
    return Number(statOf(rows[0]?.pid ?? 0)?.[FIELD.parent]);
  } finally {
    await client.end();
  }
}

/** Milliseconds so far. */
export function serverCpuMs(server: number): number {
  const own = statOf(server);
  const ended = Number(own?.[FIELD.userOfEnded] ?? 0) + Number(own?.[FIELD.systemOfEnded] ?? 0);
  const children = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && Number(statOf(Number(name))?.[FIELD.parent]) === server);
  return ended * TICK_MS + [server, ...children.map(Number)].reduce((sum, pid) => sum + cpuMsOf(pid), 0);
}

/** Milliseconds that a process has used so far. */
export function cpuMsOf(pid: number): number {
  const stat = statOf(pid);
  return (Number(stat?.[FIELD.user] ?? 0) + Number(stat?.[FIELD.system] ?? 0)) * TICK_MS;
}

/** Undefined if it has ended. */
function statOf(pid: number): readonly string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return undefined;
  }
}

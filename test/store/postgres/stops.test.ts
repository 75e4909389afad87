/** The end of the sessions of a silent process, by what the server says of it. */
import { expect, test } from "vitest";
import type { Query } from "../../../src/store/postgres/in-schema.ts";
import { endSessions } from "../../../src/store/postgres/stops.ts";
import { fleetProcess } from "../../harness/fleet-process.ts";

const silent = { ...fleetProcess(7), shards: [1] };

/** A server that does not end a session when it is told to: `left` are those that are there afterwards. */
function server(left: readonly Readonly<Record<string, unknown>>[]): Query {
  return (text) =>
    Promise.resolve(text.includes("pg_terminate_backend") ? [{ ended: false }] : text.startsWith("SELECT l.pid") ? [...left] : []);
}

test("a session that ended by itself at the moment it was to be ended is ended", async () => {
  await expect(endSessions(server([]), "retinue", silent)).resolves.toEqual([]);
});

test("a session that is there afterwards is not", async () => {
  await expect(endSessions(server([{ pid: 1 }]), "retinue", silent)).rejects.toMatchObject({ code: "process_silent" });
});

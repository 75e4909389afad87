/** Halts of several real processes under load on one server, some of them stopped: the real command, judged by what the network was sent. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../../src/core/clock.ts";
import { seededRandom, type Random } from "../../../src/core/random.ts";
import { createLocalNetwork } from "../../../src/local-network/local-network.ts";
import { openGate, type Gate } from "../../harness/gated-network.ts";
import { startPostgres, type PostgresServer } from "../../harness/postgres.ts";
import { waited } from "../fleet/processes.ts";
import { doubled, haltByCommand, liftByCommand, startWriters, unlisted, writeProject, type Writers } from "./writers.ts";

export interface FleetHaltsOptions {
  readonly processes: number;
  readonly halts: number;
  readonly seed: number;
  readonly onHalt?: (halt: FleetHalt) => void;
}

export interface FleetHalt {
  /**
   * `stopped`: one process has stopped with requests under way, and goes on after the halt was answered. `moving`: its specialists are just
   * going to another. `taken`: another has had them for a while.
   */
  readonly kind: "busy" | "stopped" | "moving" | "taken";
  readonly inFlight: number;
  /** From the start of the command to its end. */
  readonly tookMs: number;
  readonly mistakes: readonly string[];
}

export interface FleetHaltsReport {
  readonly halts: readonly FleetHalt[];
  readonly effects: number;
  readonly mistakes: readonly string[];
}

const SPECIALISTS_EACH = 8;
const ANSWER_MS = { least: 100, most: 400 } as const;
/** Everything that comes after a halt has come by then. */
const LATE_MS = 3_000;
const CLOCKS_APART_MS = 2;
export const KINDS: readonly FleetHalt["kind"][] = ["busy", "stopped", "moving", "taken"];
/** After so long the others have taken over what a process had. */
const TAKEN_MS = 3_000;

interface Stage {
  readonly place: { readonly root: string; readonly store: string };
  readonly gate: Gate;
  readonly server: PostgresServer;
  readonly lives: readonly Writers[];
  readonly random: Random;
}

export async function fleetHalts({ processes, halts, seed, onHalt }: FleetHaltsOptions): Promise<FleetHaltsReport> {
  const random = seededRandom(seed);
  const server = await startPostgres({ major: 18 });
  const root = mkdtempSync(join(tmpdir(), "retinue-fleet-halts-"));
  const network = createLocalNetwork({ clock: systemClock(), random: random.fork("network"), keep: { effects: 1_000_000 } });
  const gate = await openGate(network);
  const place = { root, store: `${await server.database()}?session_timeout=2` };
  const keys = writeProject(network, root, processes * SPECIALISTS_EACH);
  const lives = Array.from({ length: processes }, () => startWriters({ ...place, baseUrl: gate.baseUrl, keys }));
  const stage: Stage = { place, gate, server, lives, random };
  try {
    await Promise.race([shared(stage), ...lives.map(({ tooEarly }) => tooEarly)]);
    const done: FleetHalt[] = [];
    for (let i = 0; i < halts; i++) {
      const halt = await haltOnce(stage, KINDS[i % KINDS.length] ?? "busy");
      done.push(halt);
      onHalt?.(halt);
    }
    gate.open();
    for (const { child } of lives) child.kill("SIGTERM");
    await Promise.all(lives.map(({ ended }) => ended));
    return { halts: done, effects: network.truth.effects({ operation: "posts.create" }).length, mistakes: doubled(network) };
  } finally {
    for (const { child } of lives) child.kill("SIGKILL");
    await Promise.all(lives.map(({ ended }) => ended));
    await gate.close();
    await network.stop();
    await server.stop();
    rmSync(root, { recursive: true, force: true });
  }
}

/** Resolves when each process has shards, and something is written. */
async function shared({ lives, server, gate, place }: Stage): Promise<void> {
  do await ownersAre({ server, place }, lives.length);
  while (gate.came.length === 0);
}

/** Resolves when so many processes have shards. */
async function ownersAre({ server, place }: Pick<Stage, "server" | "place">, count: number): Promise<void> {
  for (;;) {
    const [row] = await rows(
      server,
      place.store,
      `SELECT count(DISTINCT application_name) AS owners FROM pg_locks JOIN pg_stat_activity USING (pid)
      WHERE locktype = 'advisory' AND objsubid = 2 AND granted AND application_name LIKE 'retinue writer%'`,
    ).catch(() => []);
    if (Number(row?.["owners"]) === count) return;
    await waited(100);
  }
}

async function haltOnce({ place, gate, server, lives, random }: Stage, kind: FleetHalt["kind"]): Promise<FleetHalt> {
  gate.hold(() => ANSWER_MS.least + random.int(ANSWER_MS.most - ANSWER_MS.least));
  const enough = gate.came.length + lives.length * SPECIALISTS_EACH;
  await gate.until(() => gate.came.length >= enough);
  gate.hold(() => "forever"); // until the halt is answered
  await gate.until(() => gate.stuck > 0);
  const stopped = kind === "busy" ? undefined : lives[random.int(lives.length)];
  stopped?.child.kill("SIGSTOP");
  if (kind === "moving" || kind === "taken") await ownersAre({ server, place }, lives.length - 1);
  if (kind === "taken") await waited(TAKEN_MS);
  const began = performance.now();
  const { code, message, inFlight: listed } = await haltByCommand(place);
  const tookMs = performance.now() - began;
  const [seen, answeredAt] = [gate.came.length, Date.now()];
  const atTheGate = gate.held;
  gate.open();
  stopped?.child.kill("SIGCONT");
  await waited(LATE_MS);
  const late = gate.came.slice(seen).map(({ id }) => id);
  const [row] = await rows(
    server,
    place.store,
    `SELECT count(*) AS writes FROM retinue.attempt WHERE intent IS NOT NULL AND at > ${answeredAt + CLOCKS_APART_MS}`,
  );
  const committed = Number(row?.["writes"]);
  await liftByCommand(place);
  return {
    kind,
    inFlight: atTheGate.size + late.length,
    tookMs,
    mistakes: [
      ...(code === 0 ? [] : [`it ended with ${code}: ${message}`]),
      ...unlisted(listed, late, atTheGate),
      ...(committed === 0 ? [] : [`${committed} writes were admitted after the halt was answered`]),
    ],
  };
}

const rows = (server: PostgresServer, store: string, sql: string) => server.run(sql, new URL(store).pathname.slice(1));

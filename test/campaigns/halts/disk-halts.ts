/** Halts of a real process whose disk takes no more writes: judged by what the network was sent afterwards. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CONNECTIONS } from "../../../src/client/transport.ts";
import { systemClock } from "../../../src/core/clock.ts";
import { seededRandom, type Random } from "../../../src/core/random.ts";
import { createLocalNetwork } from "../../../src/local-network/local-network.ts";
import type { LocalNetwork } from "../../../src/local-network/options.ts";
import { openGate, type Gate } from "../../harness/gated-network.ts";
import { openSmallDisk, type Breakdown, type SmallDisk } from "../../harness/small-disk.ts";
import { doubled, haltByCommand, isHalted, startWriters, unlisted, writeProject, type Writers } from "./writers.ts";

export interface DiskHaltsOptions {
  readonly rounds: number;
  readonly seed: number;
  readonly kinds?: readonly Breakdown[];
  readonly onRound?: (round: DiskHalt) => void;
}

export interface DiskHalt {
  readonly disk: Breakdown;
  /** `before`: every socket carries a write, and nothing has been written since the disk broke. `after`: the process has noticed. */
  readonly when: "before" | "busy" | "after";
  /** There is room again when the process ends: it stores the halt, and the next start must obey it. */
  readonly freed: boolean;
  /** Writes at the network and not answered when the command ended. */
  readonly inFlight: number;
  /** From the order to its answer. */
  readonly tookMs: number;
  /** Writes that came after the answer to the halt. */
  readonly late: number;
  readonly mistakes: readonly string[];
}

const WHEN = ["before", "busy", "after"] as const;
const STAYS_UP = "the process stays up for a halt";
const LOST = "could not commit";

export async function diskHalts({ rounds, seed, kinds = ["full", "read-only"], onRound }: DiskHaltsOptions): Promise<readonly DiskHalt[]> {
  const random = seededRandom(seed);
  const done: DiskHalt[] = [];
  for (let i = 0; i < rounds; i++) {
    const disk = kinds[i % kinds.length] ?? "full";
    const turn = Math.floor(i / kinds.length);
    const round = await oneRound(disk, WHEN[turn % WHEN.length] ?? "busy", disk === "full" && turn % 2 === 0, random);
    done.push(round);
    onRound?.(round);
  }
  return done;
}

interface Stage {
  readonly root: string;
  readonly store: string;
  readonly network: LocalNetwork;
  readonly gate: Gate;
  readonly disk: SmallDisk;
  readonly keys: Record<string, string>;
  /** What the process logged. */
  readonly logged: string[];
  readonly halted: Set<string>;
}

async function oneRound(kind: Breakdown, when: DiskHalt["when"], freed: boolean, random: Random): Promise<DiskHalt> {
  const root = mkdtempSync(join(tmpdir(), "retinue-disk-halts-"));
  const disk = await openSmallDisk(root, kind);
  const network = createLocalNetwork({ clock: systemClock(), random: random.fork("network") });
  const gate = await openGate(network);
  const store = `sqlite:${join(disk.path, "store.sqlite")}`;
  const stage: Stage = { root, store, network, gate, disk, keys: writeProject(network, root), logged: [], halted: new Set() };
  const life = begin(stage);
  try {
    await Promise.race([breakDisk(stage, when, random), life.tooEarly]);
    return await judged(stage, life, { disk: kind, when, freed });
  } finally {
    life.child.kill("SIGKILL");
    await life.ended;
    await gate.close();
    await network.stop();
    await disk.close();
    rmSync(root, { recursive: true, force: true });
  }
}

function begin({ root, store, gate, disk, keys, logged, halted }: Stage): Writers {
  const look = (into: (text: string) => void) => (text: string) => {
    into(text);
    gate.look();
  };
  const [onLog, onHalted] = [look((message) => void logged.push(message)), look((handle) => void halted.add(handle))];
  return startWriters({ root, store, baseUrl: gate.baseUrl, keys, under: disk.under, onLog, onHalted });
}

/** Brings the process to the moment of the halt. From then on no write at the gate is answered, so its drain lasts. */
async function breakDisk({ gate, disk, logged }: Stage, when: DiskHalt["when"], random: Random): Promise<void> {
  await gate.until(() => gate.came.length >= CONNECTIONS);
  if (when === "busy") {
    gate.hold(() => 50 + random.int(100));
    const come = gate.came.length + CONNECTIONS + random.int(CONNECTIONS);
    await gate.until(() => gate.came.length >= come && gate.held.size > 0);
    gate.hold(() => "forever");
  } else {
    gate.hold(() => "forever");
    await gate.until(() => gate.stuck === CONNECTIONS);
  }
  disk.breakDown();
  if (when === "after") await gate.until(() => logged.some((message) => message.includes(LOST)));
}

/** Gives the halt, lets everything through, and counts what came after its answer, over the end of the process and the next start. */
async function judged(stage: Stage, life: Writers, facts: Pick<DiskHalt, "disk" | "when" | "freed">): Promise<DiskHalt> {
  const { gate, disk, network, logged, halted } = stage;
  const began = performance.now();
  const { code, error, inFlight: listed } = await haltByCommand({ ...stage, under: disk.under });
  const tookMs = performance.now() - began;
  const seen = gate.came.length;
  const atTheGate = gate.held;
  gate.open();
  const held = error === "halt_not_kept";
  const quiet = (): boolean => gate.held.size === 0 && logged.some((message) => message.includes(STAYS_UP));
  if (held) await Promise.race([gate.until(quiet), life.tooEarly]);
  if (facts.freed) disk.free();
  life.child.kill("SIGTERM");
  const ended = await life.ended;
  const stored = facts.freed && (await isHalted({ ...stage, under: disk.under }));
  if (stored) {
    halted.clear();
    const next = begin(stage);
    await Promise.race([gate.until(() => halted.size > 0), next.tooEarly]);
    next.child.kill("SIGTERM");
    await next.ended;
  }
  const late = gate.came.slice(seen).filter(({ id }) => !listed.has(id));
  return {
    ...facts,
    inFlight: atTheGate.size,
    tookMs,
    late: late.length,
    mistakes: [
      ...(code === 1 && (held || error === "halt_not_stored") ? [] : [`the halt ended with ${code} and ${error}`]),
      ...(ended === 1 ? [] : [`the process ended with ${ended}`]),
      ...(held && facts.freed && !stored ? ["there was room, and the halt was not stored at the end"] : []),
      ...unlisted(
        listed,
        late.map(({ id }) => id),
        held ? atTheGate : [],
      ),
      ...doubled(network),
    ],
  };
}

/** Halts of a real process that has every socket full of writes: the real command, judged by what the network was sent. */
import { mkdtempSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CONNECTIONS } from "../../../src/client/transport.ts";
import { systemClock } from "../../../src/core/clock.ts";
import { seededRandom, type Random } from "../../../src/core/random.ts";
import type { LocalNetwork } from "../../../src/local-network/options.ts";
import { createLocalNetwork } from "../../../src/local-network/local-network.ts";
import { connectControl, type ControlClient } from "../../../src/guardian/control-socket.ts";
import { openGate, type Gate } from "../../harness/gated-network.ts";
import { doubled, haltByCommand, idsOf, SPECIALISTS, startWriters, unlisted, writeProject } from "./writers.ts";

export interface HaltsOptions {
  readonly halts: number;
  readonly seed: number;
  readonly onHalt?: (halt: Halt) => void;
}

export interface Halt {
  /** `full`: no write is answered before the halt was, so that every socket carries one. `busy`: halted in the middle of the traffic. */
  readonly kind: "full" | "busy";
  /** `command` is `retinue halt`, a process of its own; `socket` what it asks the running one, without its start. */
  readonly by: "command" | "socket";
  /** Writes at the network and not answered when the command ended, or on their way there. */
  readonly inFlight: number;
  /** From the order to its answer. */
  readonly tookMs: number;
  readonly mistakes: readonly string[];
}

export interface HaltsReport {
  readonly halts: readonly Halt[];
  /** Writes that took effect, by the network's log. */
  readonly effects: number;
  /** What the network's log and the rows say against the whole run. */
  readonly mistakes: readonly string[];
}

/** An answer in the midst of traffic. */
const ANSWER_MS = { least: 100, most: 400 } as const;

interface Stage {
  readonly root: string;
  readonly store: string;
  readonly network: LocalNetwork;
  readonly gate: Gate;
  readonly control: ControlClient;
  readonly random: Random;
  /** Who was told, since it was last asked, that it waits for a halt to end. */
  readonly told: Set<string>;
}

export async function halts({ halts: count, seed, onHalt }: HaltsOptions): Promise<HaltsReport> {
  const random = seededRandom(seed);
  const root = mkdtempSync(join(tmpdir(), "retinue-halts-"));
  const file = join(root, "store.sqlite");
  const store = `sqlite:${file}`;
  const network = createLocalNetwork({ clock: systemClock(), random: random.fork("network") });
  const gate = await openGate(network);
  const told = new Set<string>();
  const onHalted = (handle: string): void => {
    told.add(handle);
    gate.look();
  };
  const life = startWriters({ root, store, baseUrl: gate.baseUrl, keys: writeProject(network, root), onHalted });
  try {
    await Promise.race([gate.until(() => gate.came.length >= CONNECTIONS), life.tooEarly]);
    const control = await connectControl(file, systemClock());
    if (control === undefined) throw new Error("the process cannot be asked");
    const stage: Stage = { root, store, network, gate, control, random, told };
    const done: Halt[] = [];
    const stopped: Span[] = [];
    for (let i = 0; i < count; i++) {
      const { halt, span } = await haltOnce(stage, KINDS[i % KINDS.length] ?? KINDS[0]);
      done.push(halt);
      stopped.push(span);
      onHalt?.(halt);
    }
    control.close();
    gate.open();
    life.child.kill("SIGTERM");
    await life.ended;
    const effects = network.truth.effects({ operation: "posts.create" });
    return { halts: done, effects: effects.length, mistakes: [...doubled(network), ...admittedWhile(file, stopped)] };
  } finally {
    life.child.kill("SIGKILL");
    await life.ended;
    await gate.close();
    await network.stop();
    rmSync(root, { recursive: true, force: true });
  }
}

/** When writing was stopped, by the runtime's own clock. */
interface Span {
  readonly from: number;
  readonly until: number;
}

const KINDS = [
  { kind: "full", by: "command" },
  { kind: "busy", by: "command" },
  { kind: "full", by: "socket" },
  { kind: "busy", by: "socket" },
] as const satisfies readonly Partial<Halt>[];

async function haltOnce(stage: Stage, { kind, by }: Pick<Halt, "kind" | "by">): Promise<{ readonly halt: Halt; readonly span: Span }> {
  const { gate, control, network, random, told } = stage;
  if (kind === "full") {
    gate.hold(() => "forever");
    await gate.until(() => gate.stuck === CONNECTIONS);
  } else {
    gate.hold(() => ANSWER_MS.least + random.int(ANSWER_MS.most - ANSWER_MS.least));
    const come = gate.came.length + CONNECTIONS + random.int(CONNECTIONS);
    await gate.until(() => gate.came.length >= come);
  }
  told.clear();
  const began = performance.now();
  const listed = by === "command" ? await command(stage) : idsOf((await control.guardian.halt({ reason: "a test" })).inFlight);
  const tookMs = performance.now() - began;
  const seenBefore = gate.came.length;
  const atTheGate = gate.held;
  const processedBefore = network.truth.requests({ operation: "posts.create" }).length;
  gate.open();
  // Every specialist has more to write: each has asked, and was told of the halt.
  await gate.until(() => gate.held.size === 0 && told.size === SPECIALISTS);
  const { halts: stops } = await control.guardian.status({});
  const span = { from: stops[0]?.since ?? 0, until: Date.now() };
  const late = gate.came.slice(seenBefore).map(({ id }) => id);
  const processed = network.truth.requests({ operation: "posts.create" }).length - processedBefore;
  await control.guardian.lift({});
  return {
    span,
    halt: {
      kind,
      by,
      inFlight: atTheGate.size + late.length,
      tookMs,
      mistakes: [
        ...unlisted(listed, late, atTheGate),
        ...(kind === "full" ? [...listed].filter((id) => !atTheGate.has(id)).map((id) => `${id} was listed, and nobody sent it`) : []),
        ...(processed === atTheGate.size + late.length ? [] : [`the network's log has ${processed} writes during the halt`]),
      ],
    },
  };
}

async function command(stage: Stage): Promise<ReadonlySet<string>> {
  const { code, inFlight } = await haltByCommand(stage);
  if (code !== 0) throw new Error(`it ended with ${code}`);
  return inFlight;
}

/** A stop is timed by the wall clock, an attempt by the ledger's, which may be ahead of it by a part of a millisecond. */
const CLOCKS_APART_MS = 2;

/** Rows that say a write was admitted while writing was stopped. */
function admittedWhile(file: string, spans: readonly Span[]): readonly string[] {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    const within = db.prepare("SELECT count(*) AS writes FROM attempt WHERE intent IS NOT NULL AND at > ? AND at < ?");
    return spans.flatMap(({ from, until }) => {
      const writes = Number(within.get(from + CLOCKS_APART_MS, until)?.["writes"]);
      return writes === 0 ? [] : [`${writes} writes were admitted between ${from} and ${until}`];
    });
  } finally {
    db.close();
  }
}

/** A specialist on an invented network, joined by its profile file alone: with lost answers, failures, refusals, slowness and kills. */
import { join } from "node:path";
import { loadProfile } from "../../../src/config/profile-file.ts";
import type { Transport, WireAnswer, WireRequest } from "../../../src/client/transport.ts";
import { createAnnouncer, type Announcements } from "../../../src/core/events.ts";
import { silentLogger, type Logger } from "../../../src/core/log.ts";
import { seededRandom, type Random } from "../../../src/core/random.ts";
import { asHandle } from "../../../src/core/ids.ts";
import { Secret } from "../../../src/core/secret.ts";
import { HOUR, MINUTE, SECOND } from "../../../src/core/units.ts";
import { virtualClock, type VirtualClock } from "../../../src/core/virtual-clock.ts";
import { createDisk } from "../../../src/simulation/disk.ts";
import { createMachine } from "../../../src/simulation/machine.ts";
import type { Store } from "../../../src/store/store.ts";
import { createSpecialist } from "../../../src/specialist/specialist.ts";
import { Board, PEOPLE, type Verdict } from "./board.ts";
import type { Invented, InventedNetwork, Reply } from "./invented-network.ts";

export const ORIGIN = "https://network.invalid";
const BEGINS = Date.UTC(2026, 10, 21);
const LIVELY_MS = 6 * HOUR;
/** What was decided has to be done by then. */
const SETTLING_MS = 4 * HOUR;

export interface JoinedOptions {
  readonly seed?: number;
  /** Share of requests that meet a fault. Default 0.15. */
  readonly faults?: number;
  /** Default 3. */
  readonly kills?: number;
  readonly log?: Logger;
  readonly livelyMs?: number;
}

export interface Joined {
  readonly board: Board;
  readonly verdict: Verdict;
  readonly lives: number;
  readonly requests: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly deliveries: Readonly<Record<string, number>>;
  /** Actions that did not end well, in one line each. */
  readonly open: readonly string[];
  readonly announced: readonly Announcements["intent"][];
}

export async function joined(invented: Invented, options: JoinedOptions = {}): Promise<Joined> {
  const { seed = 1, faults: share = 0.15, kills = 3, log = silentLogger(), livelyMs = LIVELY_MS } = options;
  const profile = await loadProfile(join(import.meta.dirname, invented.profile));
  const clock = virtualClock(BEGINS);
  const random = seededRandom(`${invented.name} ${seed}`);
  const board = new Board(clock);
  const counts = { faults: {} as Record<string, number>, deliveries: {} as Record<string, number>, requests: 0 };
  const count = (of: Record<string, number>, name: string): void => void (of[name] = (of[name] ?? 0) + 1);
  const network = invented.open(board, clock, async (url, delivery) => {
    const handle = /\/webhooks\/([^/]+)/.exec(url)?.[1] ?? "";
    const status = await Promise.race([
      machine.deliver(handle, delivery).catch(() => 0),
      new Promise<number>((resolve) => void clock.after(10 * SECOND, () => resolve(0))),
    ]);
    count(counts.deliveries, String(status));
    return status;
  });
  const rough = { share };
  const plain = faulty(network, clock, random.fork("faults"), rough, (name) => count(counts.faults, name));
  const crashes = random.fork("crashes");
  const disk = createDisk({ clock, random: random.fork("disk") });
  const announcer = createAnnouncer();
  const announced: Announcements["intent"][] = [];
  announcer.on("intent", (one) => void announced.push(one));
  const { webhookSecret, specialist } = invented;
  const { handle } = specialist;
  const machine = createMachine({
    clock,
    random: { ...crashes, next: () => crashes.next() * SHORT_DOWNTIMES },
    crashAt: undefined,
    crashes: () => 0,
    profile,
    baseUrl: ORIGIN,
    keyOf: () => invented.key,
    parts: [
      {
        disk,
        specialists: [createSpecialist(specialist)],
        transport(request) {
          counts.requests++;
          return plain(request);
        },
        announcer,
        onCommit: () => undefined,
        onBoot: () => undefined,
        onDrift: (difference) => board.strange.push(`memory and rows differ: ${difference}`),
      },
    ],
    log,
    receiver: {
      port: undefined,
      host: "",
      url: "https://bots.example.net",
      allowUnsigned: false,
      readSecrets: () => [new Secret(webhookSecret)],
    },
    onDeath: () => undefined,
    onDisturbed: () => undefined,
  });
  machine.boot();
  live(board, clock, random.fork("people"), livelyMs);
  for (let i = 0; i < kills; i++) clock.after((livelyMs / (kills + 1)) * (i + 1) + random.int(5 * MINUTE), () => machine.kill());
  await clock.advance(livelyMs);
  rough.share = 0;
  await clock.advance(SETTLING_MS);
  const open = await unfinished(machine.stores()[0], handle);
  const { lives } = machine;
  await clock.run(machine.stop());
  disk.close();
  return { board, verdict: board.verdict(handle), lives, ...counts, open, announced };
}

async function unfinished(store: Store | undefined, handle: string): Promise<readonly string[]> {
  const intents = await store?.intents({ specialist: asHandle(handle), limit: 10_000 });
  return (intents ?? [])
    .filter(({ state }) => state !== "confirmed")
    .map(({ operation, target, state, code, message }) => `${operation} ${target ?? ""}: ${state} ${code ?? ""} ${message ?? ""}`);
}

/** Other people write, and offer work. */
function live(board: Board, clock: VirtualClock, random: Random, untilMs: number): void {
  const again = (everyMs: number, run: () => void): void => {
    const end = clock.now() + untilMs - 30 * MINUTE;
    const next = (): void =>
      void clock.after(everyMs / 2 + random.int(everyMs), () => {
        if (clock.now() >= end) return;
        run();
        next();
      });
    next();
  };
  again(12 * MINUTE, () => board.say(random.pick(PEOPLE), `What do you think of number ${random.int(1_000)}?`));
  again(20 * MINUTE, () => board.offer(random.pick(PEOPLE), `task ${random.int(1_000)}`, 500 + random.int(2_000)));
}

/** Without the rare downtime of hours, in which nothing could be done. */
const SHORT_DOWNTIMES = 0.95;
const LATENCY_MS = 80;

/** Each fault as often as every other: before the effect, after it, or instead of it. */
function faulty(
  network: InventedNetwork,
  clock: VirtualClock,
  random: Random,
  rough: { readonly share: number },
  count: (fault: string) => void,
): Transport {
  const wait = (ms: number): Promise<void> => new Promise((resolve) => void clock.after(ms, () => resolve()));
  const reset: WireAnswer = { kind: "unknown", reason: "ECONNRESET" };
  return async (request) => {
    const fault = random.next() < rough.share ? random.pick(["lost", "answer lost", "failed", "failed after", "busy", "slow"]) : undefined;
    if (fault !== undefined) count(fault);
    await wait(LATENCY_MS);
    if (fault === "lost") return reset;
    if (fault === "busy") return wired(network.busy(), clock);
    if (fault === "failed") return wired({ status: 500, body: "oops" }, clock);
    const reply = network.answer(askedBy(request));
    await wait(LATENCY_MS);
    if (fault === "answer lost") return reset;
    if (fault === "failed after") return wired({ status: 502, body: "bad gateway" }, clock);
    if (fault === "slow") await wait(random.int(20 * SECOND));
    return wired(reply, clock);
  };
}

function askedBy({ method, path, headers, body = "" }: WireRequest) {
  const { pathname, searchParams } = new URL(path, ORIGIN);
  return { method, path: pathname, query: searchParams, headers, body, at: {} };
}

function wired({ status, body, headers = {} }: Reply, clock: VirtualClock): WireAnswer {
  const text = body === undefined ? "" : JSON.stringify(body);
  return {
    kind: "answer",
    status,
    headers: { "content-type": "application/json", date: new Date(clock.now()).toUTCString(), ...headers },
    text,
    elapsedMs: LATENCY_MS,
  };
}

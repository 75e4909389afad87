/**
 * A process whose machine has its cables pulled: others take what it had, once the server misses it, and nothing is lost or done twice. By
 * turns it is gone, or is cut off from the server while it still reaches the network.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../../src/core/clock.ts";
import { seededRandom } from "../../../src/core/random.ts";
import { createLocalNetwork } from "../../../src/local-network/local-network.ts";
import { startPostgres } from "../../harness/postgres.ts";
import { openGate } from "../../harness/gated-network.ts";
import { openSeparateMachine } from "../../harness/separate-machine.ts";
import { asking, textAt } from "../../harness/visitor.ts";
import { Fleet, waited, type Running } from "./processes.ts";
import { writeProject } from "./write-project.ts";

export interface GoneMachines {
  readonly rounds: number;
  readonly seed: number;
  /** Default: as shipped. */
  readonly sessionTimeoutS?: number;
  /** Answers are waited for as long. */
  readonly patienceMs: number;
  readonly onRound?: (round: GoneMachine) => void;
}

export interface GoneMachine {
  /** `cut off`: it lives, does not reach the server, and is plugged in again later. */
  readonly kind: "gone" | "cut off";
  /** From the pull until others have all shards; NaN if they never did. */
  readonly takenMs: number;
  /** From the pull to the last answer to posts of before. */
  readonly doneMs: number;
  /** Answers that came after the takeover: the process had stored the post, or begun the answer. */
  readonly late: number;
  /** Actions that were in doubt for it. */
  readonly doubted: number;
  /** Of one that was cut off: from the plug until it has shards again. */
  readonly backMs?: number;
}

export interface GoneMachinesReport {
  readonly rounds: readonly GoneMachine[];
  readonly asked: number;
  /** As `handle on post`. */
  readonly lost: readonly string[];
  readonly doubled: number;
}

const SPECIALISTS = 48;
/** Processes on this machine. */
const BESIDE = 2;
/** Between two posts. Handlers think, and the network takes its time: some of each are always under way. */
const POST_MS = 400;
const ANSWER_MS = { least: 200, most: 800 } as const;
const THINK_MS = 500;
const POSTS_A_ROUND = 12;
const LOOK_MS = 100;
const READY_LOOK_MS = 5;
const READY_LOOKS = 1_000;

export async function goneMachines({ rounds, seed, sessionTimeoutS, patienceMs, onRound }: GoneMachines): Promise<GoneMachinesReport> {
  const random = seededRandom(`gone ${seed}`);
  const machine = await openSeparateMachine();
  const [toNetwork, toServer] = machine.cables;
  const hosts = ["127.0.0.1/32", `${toServer.address}/30`].map((host) => `host all all ${host} scram-sha-256\n`);
  const server = await startPostgres({
    settings: { listen_addresses: `127.0.0.1,${toServer.address}`, hba_file: "hosts.conf" },
    files: { "hosts.conf": hosts.join("") },
  });
  const folder = mkdtempSync(join(tmpdir(), "retinue-gone-"));
  const network = createLocalNetwork({ clock: systemClock(), random: seededRandom(seed), residents: false, keep: { effects: 100_000 } });
  const gate = await openGate(network);
  gate.hold(() => ANSWER_MS.least + random.int(ANSWER_MS.most - ANSWER_MS.least));
  network.start();
  const { baseUrl } = gate;
  await toNetwork.forward(Number(new URL(baseUrl).port), false);
  await toServer.forward(server.port, true);
  const env = writeProject(folder, {
    config: { spacing: 0 },
    specialists: HANDLES.map((handle) => ({
      handle,
      definition: definition(handle),
      key: network.provision({ handle, tier: "pro", set: "b" }).key,
    })),
  });
  const timeout = sessionTimeoutS === undefined ? "" : `?session_timeout=${sessionTimeoutS}`;
  const fleet = new Fleet(BESIDE, seed, { server, store: `${await server.database()}${timeout}`, baseUrl, env, folder });
  const post = asking(network, "b", network.provision({ handle: "quill", tier: "pro", set: "b" }).key);
  const posts: string[] = [];
  const answers = () => network.truth.effects({ operation: "posts.reply" });
  const missing = (): readonly string[] => {
    const known = new Set(answers().map(({ agent, target }) => `${agent} on ${target}`));
    return posts.flatMap((id) => HANDLES.map((handle) => `${handle} on ${id}`)).filter((one) => !known.has(one));
  };
  const ask = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) {
      posts.push(textAt((await post("POST", "/v1/posts", { body: { content: `post ${posts.length}` } })).json, "id"));
      await waited(POST_MS * (0.5 + random.next()));
    }
  };
  const allAnswered = async (): Promise<void> => {
    for (const until = Date.now() + patienceMs; missing().length > 0 && Date.now() < until;) await waited(LOOK_MS);
  };
  const oneRound = async (kind: GoneMachine["kind"]): Promise<GoneMachine> => {
    const before = await fleet.doubted();
    const victim = fleet.start(machine.under);
    await fleet.takes(victim);
    await ask(POSTS_A_ROUND);
    let struckAt = 0;
    const takenMs = await fleet.strikeOne(kind, victim, async () => {
      await isSending(victim);
      struckAt = Date.now();
      toServer.pull();
      if (kind === "gone") toNetwork.pull();
    });
    const atTakeover = answers().length;
    if (kind === "gone") victim.child.kill("SIGKILL");
    await allAnswered();
    const doneMs = (answers().at(-1)?.at ?? Number.NaN) - struckAt;
    const seen = { kind, takenMs, doneMs, late: answers().length - atTakeover, doubted: (await fleet.doubted()) - before };
    const back = kind === "gone" ? {} : { backMs: await comeBack(victim) };
    victim.child.kill("SIGKILL");
    await victim.ended;
    for (const cable of machine.cables) cable.plug();
    await allAnswered();
    return { ...seen, ...back };
  };
  /** A process that was cut off reads further posts, of which it may answer none before it has shards again. Returns the time until then. */
  const comeBack = async (victim: Running): Promise<number> => {
    await ask(POSTS_A_ROUND);
    await allAnswered();
    toServer.plug();
    const pluggedAt = performance.now();
    await fleet.takes(victim);
    const backMs = performance.now() - pluggedAt;
    await ask(POSTS_A_ROUND);
    return backMs;
  };
  try {
    fleet.fill();
    await fleet.joined();
    const done: GoneMachine[] = [];
    for (let round = 0; round < rounds; round++) {
      const one = await oneRound(round % 2 === 0 ? "gone" : "cut off");
      done.push(one);
      onRound?.(one);
    }
    return { rounds: done, asked: posts.length * HANDLES.length, lost: missing(), doubled: network.truth.duplicates().length };
  } finally {
    await fleet.end();
    await gate.close();
    await network.stop();
    await server.stop();
    await machine.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Resolves when an action is at the network, or after a while: a process that has answered everything sends none. */
async function isSending(running: Running): Promise<void> {
  running.said = "";
  for (let looks = 0; looks < READY_LOOKS && !running.said.includes('"state":"ready"'); looks++) await waited(READY_LOOK_MS);
  await waited(ANSWER_MS.least / 4);
}

const HANDLES = Array.from({ length: SPECIALISTS }, (_, i) => `s${i}`);

const definition = (handle: string): string => `export default { handle: "${handle}", tier: "pro", may: ["posts.reply"],
  brakes: { repliesPerAuthorPerHour: 1000, repliesPerHour: 10000 }, watch: { feed: { from: "2026-01-01" } },
  on: { "post.created": async (post, act) => {
    await new Promise((resolve) => setTimeout(resolve, ${THINK_MS}));
    act.reply(post, "${handle} on " + post.id);
  } } };`;

/** True if nothing was lost or done twice, others took everything in time, and each process had begun something when it was struck. */
export function isClean({ rounds, lost, doubled }: GoneMachinesReport, longestMs: number): boolean {
  const isFair = rounds.every(({ takenMs, late, doubted }) => takenMs <= longestMs && late > 0 && doubted > 0);
  return isFair && lost.length + doubled === 0;
}

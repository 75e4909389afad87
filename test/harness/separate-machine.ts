/**
 * A machine with cables of its own: a network in which programs can be started, joined to this one by pairs of links, of which one can be
 * pulled. Nothing says goodbye then, and nobody answers. Linux, as root.
 */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { relay, type Relay } from "./relay.ts";

export interface SeparateMachine {
  /** A command that runs the command given to it there. */
  readonly under: readonly string[];
  readonly cables: readonly [Cable, Cable];
  close(): Promise<void>;
}

export interface Cable {
  /** The address of this machine for the other, by this cable. */
  readonly address: string;
  /** Makes a port of this machine's loopback the same port of the other's. `isAtAddress`: whoever listens here does so at the address too. */
  forward(port: number, isAtAddress: boolean): Promise<void>;
  /** From now on nothing comes through it. */
  pull(): void;
  plug(): void;
}

/** Networks of four addresses in 198.18.0.0/15, which is for tests: each machine has two, by the number of its process. */
const NETWORKS = 2 ** 14;
const READY = "ready";

/** True if this machine lets a test make such a machine. */
export function canSeparate(): boolean {
  if (process.platform !== "linux") return false;
  const made = spawnSync("unshare", ["-n", "sh", "-c", "ip link add near type veth peer name far && ip link set far up"], {
    stdio: "ignore",
  });
  return made.status === 0;
}

export async function openSeparateMachine(): Promise<SeparateMachine> {
  // Its input is a pipe of this process: it ends however this process ends, and its network with it.
  const holder = spawn("unshare", ["-n", "sh", "-c", `echo ${READY} && exec cat`], { stdio: ["pipe", "pipe", "inherit"] });
  await saysReady(holder);
  const under = ["nsenter", "-t", String(holder.pid), "-n"];
  run(...under, "ip", "link", "set", "lo", "up");
  const children: ChildProcess[] = [holder];
  const relays: Relay[] = [];
  const cable = (number: number): Cable => {
    const [near, far] = [`rt${number}-${holder.pid}`, `far${number}`];
    const [here, there] = [addressOf(holder, number, 1), addressOf(holder, number, 2)];
    run("ip", "link", "add", near, "type", "veth", "peer", "name", far, "netns", String(holder.pid));
    run("ip", "address", "add", `${here}/30`, "dev", near);
    run("ip", "link", "set", near, "up");
    run(...under, "ip", "address", "add", `${there}/30`, "dev", far);
    run(...under, "ip", "link", "set", far, "up");
    return {
      address: here,
      async forward(port, isAtAddress) {
        if (!isAtAddress) relays.push(await relay(here, "127.0.0.1", port));
        const [program, ...words] = [...under, process.execPath, join(import.meta.dirname, "relay.ts"), "127.0.0.1", here, String(port)];
        const child = spawn(program, words, { stdio: ["pipe", "pipe", "inherit"] });
        children.push(child);
        await saysReady(child);
      },
      pull: () => run(...under, "ip", "link", "set", far, "down"),
      plug: () => run(...under, "ip", "link", "set", far, "up"),
    };
  };
  return {
    under,
    cables: [cable(0), cable(1)],
    async close() {
      for (const one of relays) await one.close();
      for (const child of children.toReversed()) {
        const ended = child.exitCode === null && child.signalCode === null ? once(child, "exit") : undefined;
        child.kill("SIGKILL");
        await ended;
      }
    },
  };
}

/** The address of one end of a cable, of which the first is of this machine. */
function addressOf({ pid = 0 }: ChildProcess, cable: number, end: number): string {
  const host = ((pid * 2 + cable) % (2 * NETWORKS)) * 4 + end;
  return `198.${18 + (host >> 16)}.${(host >> 8) & 255}.${host & 255}`;
}

function run(program = "", ...words: readonly string[]): void {
  const { status, stderr } = spawnSync(program, words, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${[program, ...words].join(" ")}: ${stderr}`);
}

async function saysReady(child: ChildProcess): Promise<void> {
  if (child.stdout === null) throw new Error("its output is not piped");
  const ended = once(child, "exit").then(() => Promise.reject(new Error("the machine could not be made")));
  await Promise.race([once(createInterface({ input: child.stdout }), "line"), ended]);
}

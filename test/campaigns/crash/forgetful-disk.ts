/**
 * A disk that forgets: strace writes down every write and every flush of a process under it, and after its end the store is
 * put back to what a power cut would have left. What was flushed is there; of the rest, each write is there, is there in part or is not.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Random } from "../../../src/core/random.ts";

export interface ForgetfulDisk {
  /** The command to run the process under. */
  readonly under: readonly string[];
  /** Once it has ended: the store as the disk has it. Answers how many writes were forgotten, wholly or in part. */
  cutPower(): number;
}

export interface ForgetfulDiskOptions {
  /** The store's file. */
  readonly store: string;
  /** Where to write the record. */
  readonly folder: string;
  readonly random: Random;
  /** Says that it flushed, and did not. */
  readonly lies?: boolean;
}

const CALLS = "pwrite64,fsync,fdatasync,ftruncate";
/** What a disk writes as a whole. */
const SECTOR = 512;
const UNFLUSHED_KEPT = 0.5;

export const canTrace = process.platform === "linux" && spawnSync("strace", ["-e", "trace=none", "true"]).status === 0;

export function forgetfulDisk({ store, folder, random, lies = false }: ForgetfulDiskOptions): ForgetfulDisk {
  const record = mkdtempSync(join(folder, "record-"));
  const files = [store, `${store}-wal`, `${store}-journal`];
  const before = new Map(files.map((file) => [file, contentOf(file)]));
  return {
    under: [
      "strace",
      "-ff",
      "-ttt",
      "-T",
      "-y",
      "-xx",
      "-s",
      "1000000",
      "--seccomp-bpf",
      "-e",
      `trace=${CALLS}`,
      "-o",
      join(record, "calls"),
    ],
    cutPower() {
      const calls = readdirSync(record)
        .flatMap((name) => readFileSync(join(record, name), "latin1").split("\n").flatMap(callOf))
        .toSorted((a, b) => a.endedAt - b.endedAt);
      let forgotten = 0;
      for (const file of files) {
        if (!existsSync(file)) continue; // taken away by the process itself
        const left = after(
          before.get(file) ?? Buffer.alloc(0),
          calls.filter((call) => call.file === file),
          random,
          lies,
        );
        forgotten += left.forgotten;
        writeFileSync(file, left.content);
      }
      rmSync(`${store}-shm`, { force: true }); // memory, not disk
      if (lies) rmSync(`${store}-beat`, { force: true });
      rmSync(record, { recursive: true });
      return forgotten;
    },
  };
}

function contentOf(file: string): Buffer {
  return existsSync(file) ? readFileSync(file) : Buffer.alloc(0);
}

interface Call {
  readonly file: string;
  readonly name: "write" | "truncate" | "flush";
  /** Seconds since the epoch. */
  readonly beganAt: number;
  readonly endedAt: number;
  readonly data: Buffer;
  /** Where it is written, or the new length. */
  readonly at: number;
}

const LINE =
  /^(\d+\.\d+) (pwrite64|fsync|fdatasync|ftruncate)\(\d+<((?:\\x[0-9a-f]{2})*)>(?:, "((?:\\x[0-9a-f]{2})*)", \d+)?(?:, (\d+))?\) = \d+ <(\d+\.\d+)>$/;
const NAMES = { pwrite64: "write", ftruncate: "truncate", fsync: "flush", fdatasync: "flush" } as const;

/** A call that came to a good end. */
function callOf(line: string): readonly Call[] {
  const [, began, name, file = "", data = "", at = "0", took] = LINE.exec(line) ?? [];
  if (name === undefined) return [];
  const beganAt = Number(began);
  return [
    {
      file: bytesOf(file).toString(),
      name: NAMES[name as keyof typeof NAMES], // the pattern allows no other
      beganAt,
      endedAt: beganAt + Number(took),
      data: bytesOf(data),
      at: Number(at),
    },
  ];
}

function bytesOf(text: string): Buffer {
  return Buffer.from(text.replaceAll("\\x", ""), "hex");
}

/** What a power cut leaves of a file. */
function after(
  before: Buffer,
  calls: readonly Call[],
  random: Random,
  lies: boolean,
): { readonly content: Buffer; readonly forgotten: number } {
  let content = before;
  let waiting: Call[] = [];
  for (const call of calls) {
    if (call.name !== "flush") waiting.push(call);
    else if (!lies) {
      // Only what was written before the flush began is known to be on disk.
      for (const done of waiting.filter(({ endedAt }) => endedAt <= call.beganAt)) content = applied(content, done, done.data.length);
      waiting = waiting.filter(({ endedAt }) => endedAt > call.beganAt);
    }
  }
  let forgotten = 0;
  for (const call of waiting) {
    const kept = !lies && random.next() < UNFLUSHED_KEPT;
    const bytes = random.next() < UNFLUSHED_KEPT ? call.data.length : Math.floor((random.next() * call.data.length) / SECTOR) * SECTOR;
    if (!kept || bytes < call.data.length) forgotten++;
    if (kept) content = applied(content, call, bytes);
  }
  return { content, forgotten };
}

function applied(content: Buffer, { name, at, data }: Call, bytes: number): Buffer {
  const length = name === "truncate" ? at : Math.max(content.length, at + bytes);
  const next = Buffer.alloc(length);
  content.copy(next, 0, 0, Math.min(content.length, length));
  if (name === "write") data.copy(next, at, 0, bytes);
  return next;
}

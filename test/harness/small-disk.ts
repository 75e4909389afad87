/** Small disks that only processes started under them see, and that can be made to take no more writes. Linux, as root. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { TestContext } from "vitest";

/** `full`: a file system in memory without room. `read-only`: ext4 after an error, which then refuses every write. */
export type Breakdown = "full" | "read-only";

export interface SmallDisk {
  /** The folder as the process sees it, and as this one does. */
  readonly path: string;
  readonly seen: string;
  /** A command that runs the command given to it, with the disk in place. */
  readonly under: readonly string[];
  /** From now on nothing can be written. */
  breakDown(): void;
  /** There is room again. A read-only disk stays so. */
  free(): void;
  close(): Promise<void>;
}

const SIZE = "8m";
const ERRORS_FOLDER = "/sys/fs/ext4";

const script: { readonly [kind in Breakdown]: (path: string) => string } = {
  full: (path) => `mount -t tmpfs -o size=${SIZE} none "${path}" && echo none`,
  "read-only": (path) =>
    `truncate -s ${SIZE} "${path}.img" && mkfs.ext4 -q "${path}.img" && mount -o loop,errors=remount-ro "${path}.img" "${path}"` +
    ` && device=$(grep " ${path} " /proc/self/mounts | cut -d " " -f 1)` +
    ` && test -e "${ERRORS_FOLDER}/\${device#/dev/}/trigger_fs_error" && echo "$device"`,
};

/** True if this machine lets a test make such disks. */
export function canMake(kind: Breakdown): boolean {
  if (process.platform !== "linux") return false;
  const root = mkdtempSync(join(tmpdir(), "retinue-disk-"));
  const path = join(root, "disk");
  mkdirSync(path);
  const { status } = spawnSync("unshare", ["-m", "sh", "-c", script[kind](path)], { stdio: "ignore" });
  rmSync(root, { recursive: true, force: true });
  return status === 0;
}

/** `root` is a folder of this machine's own disk. */
export async function openSmallDisk(root: string, kind: Breakdown): Promise<SmallDisk> {
  const path = join(root, "disk");
  mkdirSync(path);
  const holder = spawn("unshare", ["-m", "sh", "-c", `${script[kind](path)} && exec sleep 3600`], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(holder, "close");
  const device = await Promise.race([
    once(createInterface({ input: holder.stdout }), "line").then(([line]) => String(line)),
    ended.then(() => Promise.reject(new Error("the disk could not be made"))),
  ]);
  const seen = `/proc/${holder.pid}/root${path}`;
  const filler = join(seen, "filler");
  return {
    path,
    seen,
    under: ["nsenter", "-t", String(holder.pid), "-m", "sh", "-c", 'cd "$0" && exec "$@"', root],
    breakDown() {
      if (kind === "full") fill(filler);
      else writeFileSync(join(ERRORS_FOLDER, device.replace("/dev/", ""), "trigger_fs_error"), "1");
    },
    free() {
      if (kind === "full") rmSync(filler);
    },
    async close() {
      holder.kill("SIGKILL");
      await ended;
    },
  };
}

/** The same for one test. */
export async function smallDisk({ onTestFinished }: TestContext, root: string, kind: Breakdown = "full"): Promise<SmallDisk> {
  const disk = await openSmallDisk(root, kind);
  onTestFinished(() => disk.close());
  return disk;
}

/** To the last byte. */
function fill(file: string): void {
  const open = openSync(file, "a");
  try {
    for (const block of [Buffer.alloc(4_096, 1), Buffer.alloc(1, 1)]) fillWith(open, block);
  } finally {
    closeSync(open);
  }
}

function fillWith(open: number, block: Buffer): void {
  try {
    for (let i = 0; i < 1e6; i++) writeSync(open, block);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
  }
}

/** The receiver in a process of its own, with a real store, watched for everything that must not happen. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { resolveProfile } from "../../../src/contract/profile.ts";
import { systemClock } from "../../../src/core/clock.ts";
import { asHandle } from "../../../src/core/ids.ts";
import { silentLogger } from "../../../src/core/log.ts";
import { systemRandom } from "../../../src/core/random.ts";
import { Secret } from "../../../src/core/secret.ts";
import type { NewDelivery } from "../../../src/inbox/port.ts";
import { createGate } from "../../../src/intake/webhook/gate.ts";
import { meaningOf } from "../../../src/intake/webhook/mapping.ts";
import { createReceiver } from "../../../src/intake/webhook/receiver.ts";
import { openSqliteStore } from "../../../src/store/sqlite/store.ts";
import { SECRET } from "./secret.ts";

/** What the server says of itself when asked. */
export interface ServerReport {
  readonly rssBytes: number;
  /** Uncaught errors, unhandled rejections, faults of the receiver. */
  readonly faults: readonly string[];
  readonly stored: number;
  readonly refused: number;
  readonly malformed: number;
  readonly evicted: number;
}

const folder = mkdtempSync(join(tmpdir(), "fuzz-webhooks-"));
const faults: string[] = [];
const note = (error: unknown): void => void faults.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
process.on("uncaughtException", note);
process.on("unhandledRejection", note);

const clock = systemClock();
const store = openSqliteStore({ path: join(folder, "store.sqlite"), clock, random: systemRandom() });
const profile = resolveProfile({ extends: "set-b" });
const scout = asHandle("scout");
const secrets = [new Secret(SECRET)];
const reader = { handle: scout, accountId: "agent_1", fromMs: 0, maxAgeMs: Infinity, handles: () => true };

let draining = false;
async function drain(): Promise<void> {
  if (draining) return;
  draining = true;
  for (
    let due = await store.dueDeliveries(scout, clock.now(), 64);
    due.length > 0;
    due = await store.dueDeliveries(scout, clock.now(), 64)
  ) {
    const now = clock.now();
    const meant = { profile, feed: { ...reader, inThread: () => true }, jobs: { ...reader, skills: [] }, handles: () => true, now };
    await Promise.all(
      due.map((delivery) => {
        const meaning = meaningOf(delivery, meant);
        const events = meaning.kind === "events" ? meaning.events : [];
        return store.endDelivery({ seq: delivery.seq, specialist: scout, state: "done", kind: "x", events, nudges: [] }, now);
      }),
    );
  }
  draining = false;
}

function put(delivery: NewDelivery, onStored: () => void): ReturnType<typeof store.putDelivery> {
  return store.putDelivery({ delivery, plain: undefined, onStored }, clock.now());
}

/** The database keeps up to 32 MiB of pages in memory, which is no leak: they are filled before anything is measured. */
async function fillCache(): Promise<void> {
  const body = Buffer.alloc(2_000, "x");
  for (let i = 0; i < 18_000; i += 500)
    await Promise.all(
      Array.from({ length: 500 }, (_, j) =>
        put({ specialist: scout, id: `fill_${i + j}`, kind: undefined, scheme: "none", body }, () => undefined),
      ),
    );
  await drain();
}
await fillCache();

const gate = createGate({
  clock,
  log: silentLogger(),
  rules: profile.webhooks,
  secretsOf: (handle) => (handle === scout ? secrets : undefined),
  allowUnsigned: false,
  put: (delivery) => put(delivery, () => void drain().catch(note)),
  onHint: () => undefined,
});
const receiver = createReceiver({ gate, clock: systemClock(), onError: note });
const { port } = await receiver.listen({ port: 0, host: "127.0.0.1" });

process.on("message", () => {
  for (let i = 0; i < 3; i++) global.gc?.();
  const counts = gate.counts();
  const report: ServerReport = {
    rssBytes: process.memoryUsage.rss(),
    faults,
    stored: counts.stored,
    refused: Object.values(counts.refused).reduce((sum, n) => sum + n, 0),
    malformed: receiver.counts().malformed,
    evicted: receiver.counts().evicted,
  };
  process.send?.(report);
});
process.once("disconnect", () => {
  rmSync(folder, { recursive: true, force: true });
  process.exit(0);
});
process.send?.({ port });

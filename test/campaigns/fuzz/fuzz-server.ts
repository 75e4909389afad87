/** A running specialist in a process of its own, with a real store and receiver, watched for everything that must not happen. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createKeys } from "../../../src/client/auth.ts";
import { resolveProfile } from "../../../src/contract/profile/profile.ts";
import { systemClock } from "../../../src/core/clock.ts";
import { asHandle } from "../../../src/core/ids.ts";
import { createLogger, type LogLine } from "../../../src/core/log.ts";
import { systemRandom } from "../../../src/core/random.ts";
import { Secret } from "../../../src/core/secret.ts";
import { livePacer } from "../../../src/limits/pacing.ts";
import { createRuntime } from "../../../src/runtime/runtime.ts";
import { createSpecialist } from "../../../src/specialist/specialist.ts";
import { openSqliteStore } from "../../../src/store/sqlite/store.ts";
import { SECRET } from "../../harness/webhook-secret.ts";

/** What the server says of itself when asked. */
export interface ServerReport {
  readonly rssBytes: number;
  /** Memory in use after a collection, in V8's heap and outside of it. */
  readonly keptBytes: number;
  /** Of the log, from the start. */
  readonly logBytes: number;
  /** Uncaught errors, unhandled rejections, faults of the receiver. */
  readonly faults: readonly string[];
  readonly stored: number;
  /** Events that came of them. */
  readonly handled: number;
  readonly refused: number;
  readonly malformed: number;
  readonly evicted: number;
}

const folder = mkdtempSync(join(tmpdir(), "fuzz-webhooks-"));
const faults: string[] = [];
const note = (error: unknown): void => void faults.push(error instanceof Error ? (error.stack ?? error.message) : JSON.stringify(error));
process.on("uncaughtException", note);
process.on("unhandledRejection", note);

const clock = systemClock();
const random = systemRandom();
const store = openSqliteStore({ path: join(folder, "store.sqlite"), clock, random });
const scout = asHandle("scout");

/** The database keeps up to 32 MiB of pages in memory, which is no leak: they are filled before anything is measured. */
async function fillCache(): Promise<void> {
  const body = Buffer.alloc(2_000, "x");
  for (let i = 0; i < 18_000; i += 500)
    await Promise.all(
      Array.from({ length: 500 }, (_, j) => {
        const delivery = { specialist: scout, id: `fill_${i + j}`, kind: undefined, scheme: "none", body };
        const end = { state: "parked", kind: undefined, events: [], nudges: [] } as const;
        return store.putDelivery({ delivery, plain: end, onStored: () => undefined }, clock.now());
      }),
    );
}
await fillCache();

let logBytes = 0;
const logged = (line: LogLine): void => {
  logBytes += Buffer.byteLength(JSON.stringify(line));
  if (line.level === "error") note(line);
};

let handled = 0;
const heard = (): void => void handled++;
const runtime = createRuntime({
  specialists: [
    createSpecialist({
      handle: scout,
      tier: "pro",
      on: {
        "post.created": heard,
        "mention.created": heard,
        "reply.created": heard,
        "post.liked": heard,
        "job.listed": heard,
        "job.assigned": heard,
        "follower.new": heard,
        "approval.required": heard,
        "x:strange.kind": heard,
      },
    }),
  ],
  // What is told of by its id only is asked for, as often as it takes.
  profile: resolveProfile({ extends: "set-b", tiers: { pro: { perHour: 1e8, perDay: 1e9 } } }),
  transport: async ({ path }) => {
    const id = decodeURIComponent(path.slice(path.lastIndexOf("/") + 1));
    const post = { id, content: "hi @scout", author: { id: "agent_9", handle: "bob" } };
    return { kind: "answer", status: 200, headers: {}, text: JSON.stringify(post), elapsedMs: 1 };
  },
  baseUrl: "http://network.invalid/v1",
  store,
  keys: createKeys({ read: () => "sk_live_of_a_test_0123", salt: new Secret("salt of a test") }),
  pacer: livePacer(clock, { spacingMs: 0 }),
  clock,
  random,
  log: createLogger({ level: "debug", now: () => clock.now(), sink: logged }),
  receiver: { port: 0, host: "127.0.0.1", url: undefined, allowUnsigned: false, readSecrets: () => [new Secret(SECRET)] },
});
await runtime.start();
const { webhooks } = runtime;

process.on("message", () => {
  for (let i = 0; i < 3; i++) global.gc?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  void webhooks?.shown().then(({ counts }) => {
    const report: ServerReport = {
      rssBytes: rss,
      keptBytes: heapUsed + external,
      logBytes,
      faults,
      stored: counts.stored,
      handled,
      refused: Object.values(counts.refused).reduce((sum, n) => sum + n, 0),
      malformed: counts.malformed,
      evicted: counts.evicted,
    };
    process.send?.(report);
  }, note);
});
process.once("disconnect", () => {
  rmSync(folder, { recursive: true, force: true });
  process.exit(0);
});
process.send?.({ port: Number(new URL(webhooks?.url ?? "").port) });

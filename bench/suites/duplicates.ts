/** Duplicates and losses: `kill -9` under load, with a network that answers late, waiting out each contender's own recovery. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { seededRandom } from "../../src/core/random.ts";
import { openBackends, type Backends, type Needing } from "../harness/backends.ts";
import { SPECIALISTS } from "../harness/deliveries.ts";
import { keepReplies } from "../harness/replies.ts";
import { AGAIN_MS, isTaken, openSender } from "../harness/sender.ts";
import { openSink } from "../harness/sink.ts";
import { shippedSaid } from "../harness/shipped.ts";
import { figure } from "../harness/stats.ts";
import { startSubject, type Subject } from "../harness/subject.ts";
import type { BenchContext, Goal, Suite } from "../harness/suite.ts";

interface Contender extends Needing {
  readonly file: string;
  readonly settings?: Readonly<Record<string, unknown>>;
}

const CONTENDERS: readonly Contender[] = [
  {
    name: "Retinue",
    file: "retinue.ts",
    settings: { timing: { deadlineMs: "1s", lateLandingMs: 200, readLagMs: 100, quietMs: 1_500 } },
  },
  { name: "floor: node:http + undici", file: "floor.js" },
  { name: "Probot 14.3.2, reply by undici", file: "probot.js", settings: { by: "undici" } },
  { name: "DBOS 5.3.0", file: "dbos.js", needs: "postgres" },
  { name: "pg-boss 12.35.0", file: "pg-boss.js", needs: "postgres", settings: { expireInSeconds: 5 } },
  { name: "BullMQ 6.7.0", file: "bullmq.js", needs: "redis" },
];

const NETWORK_MS = 50;
const PER_SECOND = 200;
const KILLS = 10;
/** Whoever needs longer to take up what a kill left has lost it, as far as this table goes. */
const RECOVERY_MS = 90_000;
const CALM_MS = 8_000;

interface Toll {
  readonly events: number;
  readonly kills: number;
  readonly lost: number;
  readonly doubled: number;
  readonly settledMs: number;
  /** What Retinue itself says is not done, and why; of the peers, which know no doubt, nothing is asked. */
  readonly open: Open | undefined;
}

interface Open {
  /** Intents in doubt, parked, or with a request that has not ended. */
  readonly unsettled: number;
  readonly why: Readonly<Record<string, number>>;
}

export const suite: Suite = {
  name: "duplicates",
  title: "Duplicates and losses after kill -9 under load",
  repeats: () => `each once, killed ${KILLS} times`,
  async run(context) {
    const backends = await openBackends(CONTENDERS, context);
    const rows: string[][] = [];
    const goals: Goal[] = [];
    try {
      for (const contender of backends.able) {
        const { events, kills, lost, doubled, settledMs, open } = await ordeal(contender, backends, context);
        rows.push([
          contender.name,
          String(events),
          String(kills),
          String(lost),
          String(doubled),
          figure(doubled / kills),
          open === undefined ? "–" : String(open.unsettled),
          figure(settledMs / 1_000),
        ]);
        context.progress(
          `${contender.name}: ${lost} lost, ${doubled} doubled over ${kills} kills${open === undefined ? "" : `; left open: ${JSON.stringify(open.why)}`}`,
        );
        if (contender.name !== "Retinue") continue;
        goals.push({ name: "lost", stated: "0", seen: String(lost), met: lost === 0 });
        goals.push({ name: "doubled", stated: "0", seen: String(doubled), met: doubled === 0 });
        const left = open?.unsettled ?? Number.NaN;
        goals.push({ name: "left in doubt or parked", stated: "0", seen: String(left), met: left === 0 });
      }
    } finally {
      await backends.stop();
    }
    return {
      columns: [
        "",
        "events",
        "kills",
        "lost",
        "doubled",
        "doubled per kill",
        "left in doubt or parked",
        "last effect after the last event, s",
      ],
      rows,
      conditions: [
        `${PER_SECOND} deliveries a second; the network answers after ${NETWORK_MS} ms, and has done what it was asked before that. The process is killed at seeded moments and started again at once on what it left; the sender repeats what was not answered, with the same delivery id.`,
        `Counted by the network: an event whose effect never came within ${RECOVERY_MS / 1_000} s is lost, one with two effects is doubled. Left in doubt or parked is what Retinue's own rows say after that, of all that it ever meant to send.`,
        "Retinue reads the post back after a quiet period of 1.5 s before it replies again; the network lists a post's replies. Tier, brakes and spacing are lifted as in the effect suite. pg-boss: jobs expire after 5 s. BullMQ: appendfsync always; its server is not killed.",
        shippedSaid(),
        ...backends.missing,
      ],
      plots: [
        { title: "Doubled", better: "less", column: "doubled" },
        { title: "Lost", better: "less", column: "lost" },
      ],
      goals,
      ratios: {},
    };
  },
};

async function ordeal({ name, file, needs, settings }: Contender, { postgres, redis }: Backends, context: BenchContext): Promise<Toll> {
  const events = context.quick ? 600 : 10_000;
  const kills = context.quick ? 2 : KILLS;
  const random = seededRandom(3);
  const folder = join(context.folder, `ordeal-${name.replaceAll(/\W/g, "")}`);
  mkdirSync(folder);
  const replies = keepReplies();
  const sink = await openSink({ ...replies, delayMs: NETWORK_MS });
  const database = needs === "postgres" ? await postgres?.database(`o${file.replaceAll(/\W/g, "")}`) : undefined;
  const jobs = needs === "redis" ? await redis?.fresh() : undefined;
  const start = (): Promise<Subject> =>
    startSubject(
      file,
      {
        ...settings,
        sink: sink.port,
        folder,
        specialists: SPECIALISTS,
        ...(database === undefined ? {} : { postgres: database }),
        ...(jobs === undefined ? {} : { redis: jobs }),
      },
      file === "retinue.ts" ? "retinue" : "peer",
    );
  let subject = await start();
  const sender = openSender();
  const deliver = async (n: number): Promise<void> => {
    while (!isTaken(await sender.send(subject.port, n))) await pause(AGAIN_MS);
  };
  const sent: Promise<void>[] = [];
  const began = performance.now();
  const every = events / (kills + 1);
  for (let n = 0, killAt = every, killed = 0; n < events; n++) {
    const early = began + (n / PER_SECOND) * 1_000 - performance.now();
    if (early > 0) await pause(early);
    sent.push(deliver(n));
    if (n < killAt || killed >= kills) continue;
    killed++;
    killAt = every * (killed + 0.5 + random.next());
    await subject.kill();
    subject = await start();
  }
  await Promise.all(sent);
  const answered = performance.now();
  const isCalm = (): boolean => performance.now() - Math.max(replies.lastAt(), answered) >= CALM_MS;
  while (performance.now() - answered < RECOVERY_MS && (replies.at.size < events || !isCalm())) await pause(250);
  const open = file === "retinue.ts" ? ((await subject.ask("open")) as Open) : undefined;
  await subject.kill();
  await sender.close();
  await sink.close();
  const settledMs = Math.max(0, replies.lastAt() - answered);
  return { events, kills, lost: events - replies.at.size, doubled: replies.doubled(), settledMs, open };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Growth: what admission and claim cost when the store is old, and when there are many specialists. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { AdmissionSpeed } from "../harness/ledger.ts";
import { openDatabase } from "../../src/store/sqlite/database.ts";
import { shippedSaid } from "../harness/shipped.ts";
import { figure, summarise } from "../harness/stats.ts";
import { startSubject } from "../harness/subject.ts";
import { inTurns, type Goal, type Suite } from "../harness/suite.ts";

const HISTORIES = [0, 10_000, 1_000_000] as const;
const CROWDS = [10, 100, 1_000, 10_000] as const;
/** Flat is within this share. */
const FLAT = 0.2;
/** What ten specialists save, and more cannot. */
const OF_TEN = {
  admit:
    "the index by which a key's attempts are found leads with the key. Of the 64 rows of a group, ten specialists write to ten of its pages, a hundred to a page each, and more share pages again, since each has few rows: with ten half as much is written to the disk as with a hundred",
  claim:
    "with ten specialists and 64 at a time six events of one wait together, and one claim takes them all; eight at a time, an event of ten costs about what one of ten thousand does",
};

export const suite: Suite = {
  name: "growth",
  title: "Growth: admission and claim in an old store, and with many specialists",
  repeats: inTurns,
  async run(context) {
    const cases = [
      ...HISTORIES.map((history) => ({ name: aged(history), history, keys: 64 })),
      ...CROWDS.map((keys) => ({ name: crowd(keys), history: 0, keys })),
    ];
    const seen = new Map<string, { readonly admit: AdmissionSpeed; readonly claim: AdmissionSpeed }[]>();
    for (let run = 0; run < context.runs; run++)
      for (const { name, history, keys } of cases) {
        const path = join(context.folder, `growth-${run}-${history}-${keys}.sqlite`);
        if (history > 0) grow(path, context.quick ? Math.min(history, 20_000) : history);
        const subject = await startSubject("growth.ts", { path, keys, count: context.quick ? 1_000 : 20_000 }, "retinue");
        try {
          const speeds = (await subject.ask("go")) as { readonly admit: AdmissionSpeed; readonly claim: AdmissionSpeed };
          seen.set(name, [...(seen.get(name) ?? []), speeds]);
          context.progress(
            `${name}: admission p50 ${figure(speeds.admit.p50Ms)} ms, ${figure(speeds.admit.perSecond)}/s; claim p50 ${figure(speeds.claim.p50Ms)} ms`,
          );
        } finally {
          await subject.stop();
        }
      }
    const median = (name: string, of: "admit" | "claim", what: keyof AdmissionSpeed): number =>
      summarise((seen.get(name) ?? []).map((one) => one[of][what])).median;
    const ratios: Record<string, number> = {};
    const goals: Goal[] = (["admit", "claim"] as const).flatMap((of) => {
      const cost = (name: string): number => median(name, of, "cpuMicros");
      const word = of === "admit" ? "admission" : "put, claim and end of an event";
      const flat = (name: string, base: string, why?: string): Goal => {
        const more = cost(name) / cost(base) - 1;
        ratios[`${word}: ${base} ÷ ${name}`] = 1 / (1 + more);
        return {
          name: `${word}: ${name} against ${base}`,
          stated: "≤ +20 %",
          seen: `${figure(more * 100)} %`,
          met: more <= FLAT,
          ...(why === undefined ? {} : { why }),
        };
      };
      const [none, some, most] = HISTORIES;
      const [fewest, ...more] = CROWDS;
      return [
        flat(aged(most), aged(none)),
        flat(aged(most), aged(some)),
        ...more.map((keys) => flat(crowd(keys), crowd(fewest), OF_TEN[of])),
      ];
    });
    return {
      columns: ["", "CPU µs/admission", "admitted/s", "p50 ms", "CPU µs/event", "events/s", "claim p50 ms"],
      rows: cases.map(({ name }) => [
        name,
        figure(median(name, "admit", "cpuMicros")),
        figure(median(name, "admit", "perSecond")),
        figure(median(name, "admit", "p50Ms")),
        figure(median(name, "claim", "cpuMicros")),
        figure(median(name, "claim", "perSecond")),
        figure(median(name, "claim", "p50Ms")),
      ]),
      conditions: [
        "Goals are judged by the processor's time for each, which the disk and others on the machine change least.",
        "64 at a time, in turn over all specialists; each admission is settled. Measured from when the start is over, the check of a large file for damage included. Each key has been admitted before, since the first admission after a start reads the key's rows. An event is put, claimed and ended without an intent.",
        shippedSaid(),
        "Old rows: done events and ended attempts of the same specialists, in the file before it is opened; the file is then read from a warm page cache.",
      ],
      plots: [
        { title: "Processor for an admission, µs", better: "less", column: "CPU µs/admission" },
        { title: "Processor for an event, µs", better: "less", column: "CPU µs/event" },
      ],
      goals,
      ratios,
    };
  },
};

const crowd = (keys: number): string => `${keys.toLocaleString("en")} specialists`;
const aged = (history: number): string => `${history.toLocaleString("en")} old events and attempts`;

/** Fills a store with what was done long ago. */
function grow(path: string, rows: number): void {
  openDatabase(path).close();
  const db = new DatabaseSync(path);
  const many = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})`;
  db.exec(`
    PRAGMA synchronous = OFF;
    ${many} INSERT INTO event (seq, specialist, id, kind, thread, payload, via, created_at)
      SELECT 4 * i, 's' || (i % 64), 'post.created:old' || i, 'post.created', 'old' || i, '{}', 'poll', ${Date.now()} FROM n;
    ${many} INSERT INTO run (seq, event, specialist, at) SELECT 4 * i + 1, 4 * i, 's' || (i % 64), ${Date.now()} FROM n;
    ${many} INSERT INTO attempt (seq, specialist, key_id, operation, lane, cost, at, deadline_at)
      SELECT 4 * i + 2, 's' || (i % 64), 'key-' || (i % 64), 'posts.reply', 'reply', 1, i, i FROM n;
    ${many} INSERT INTO answer (seq, attempt, at, outcome) SELECT 4 * i + 3, 4 * i + 2, i, 'confirmed' FROM n;
    UPDATE mark SET seq = 4 * ${rows} + 3, quota = 4 * ${rows} + 3;
    ANALYZE;
  `);
  db.close();
}

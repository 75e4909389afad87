/** Campaign: 200 accents and 50 more that nobody looked at before are each joined by marks (or by document) and doctor, and worked on: `campaign.ts 0 200 1 document`. */
import { runAccent, shortcomings } from "./join.ts";
import { CAST } from "./cast.ts";

const [from = "0", count = "200", minutes = "1", by = "marks"] = process.argv.slice(2);
const lines: string[] = [];
let good = 0;
const marks: number[] = [];
for (let seed = Number(from); seed < Number(from) + Number(count); seed++) {
  const run = await runAccent({
    seed,
    set: seed % 2 === 0 ? "b" : "a",
    cast: CAST,
    minutes: Number(minutes),
    documented: by === "document",
  });
  const short = shortcomings(run);
  marks.push(run.marks);
  if (short.length === 0) good++;
  const { accepted, applied } = run.jobs;
  lines.push(
    `${seed} ${run.set}: ${run.marks} marks, ${run.doctorCalls} reads, ${accepted} of ${applied} jobs accepted: ${short.slice(0, 3).join("; ") || "ok"}`,
  );
  process.stdout.write(`${lines.at(-1) ?? ""}\n`);
}
marks.sort((a, b) => a - b);
process.stdout.write(
  `${good} of ${count} accents joined and worked on; marks: median ${marks[marks.length >> 1] ?? 0}, most ${marks.at(-1) ?? 0}\n`,
);
process.exitCode = good === Number(count) ? 0 : 1;

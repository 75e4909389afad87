/** `npm run crash -- [kills] [seed] [every]`: the campaign against the real process, and what came of it. */
import { campaign } from "./campaign.ts";

const [kills = "500", seed = "1", mode] = process.argv.slice(2);
const report = await campaign({
  kills: Number(kills),
  seed: Number(seed),
  everyPoint: mode === "every",
  onKill: (kill) => void (kill % 25 === 0 && process.stderr.write(`${kill} kills\n`)),
});
process.stdout.write(`${JSON.stringify(report, undefined, 2)}\n`);
process.exitCode = report.lost.length + report.doubled.length === 0 ? 0 : 1;

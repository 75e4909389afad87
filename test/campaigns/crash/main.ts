/** `npm run crash -- [kills] [seed] [every | postgres | postgres-15]`: the campaign against the real process, and what came of it. */
import { campaign } from "./campaign.ts";
import { openStoreServer } from "./store-server.ts";

/** In rounds, each with a network and keys of its own: in one of more kills on a slow machine the keys' quota of an hour runs out. */
const KILLS_PER_ROUND = 100;

const [kills = "500", seed = "1", mode = ""] = process.argv.slice(2);
const server = mode.startsWith("postgres") ? await openStoreServer(mode === "postgres-15" ? 15 : 18) : undefined;
for (let done = 0, round = 0; done < Number(kills); done += KILLS_PER_ROUND, round++) {
  const report = await campaign({
    kills: Math.min(KILLS_PER_ROUND, Number(kills) - done),
    seed: Number(seed) + round,
    everyPoint: mode === "every",
    ...(server === undefined ? {} : { server }),
    onKill: (kill) => void (kill % 25 === 0 && process.stderr.write(`${done + kill} kills\n`)),
  });
  process.stdout.write(`${JSON.stringify(report, undefined, 2)}\n`);
  if (report.lost.length + report.doubled.length + report.drift.length > 0) process.exitCode = 1;
}
await server?.stop();

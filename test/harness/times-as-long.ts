/** The time of one piece of work in times of another, on a machine that has other work as well. */

/** Fewer would let a pause in the reference hide how long the work takes. */
const FEWEST_ROUNDS = 5;
const MOST_ROUNDS = 40;

/** The time of this process in ms, without that in which others had its processor. That of its thread alone moves by whole ticks of 4 ms. */
function ownTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/**
 * The shortest time of `work` in shortest times of `reference`. The two take turns until it is at most `enough`, or it stays above. Work of
 * other processes is timed by a clock.
 */
export function timesAsLong(work: () => unknown, reference: () => unknown, enough: number, now: () => number = ownTime): number {
  const timeOf = (what: () => unknown): number => {
    const startedAt = now();
    what();
    return now() - startedAt;
  };
  let [ours, theirs] = [Infinity, Infinity];
  for (let round = 0; round < MOST_ROUNDS; round++) {
    theirs = Math.min(theirs, timeOf(reference));
    ours = Math.min(ours, timeOf(work));
    if (round + 1 >= FEWEST_ROUNDS && ours <= enough * theirs) break;
  }
  return ours / theirs;
}

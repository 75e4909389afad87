/** The act that settles each doubtful field of a draft: a person reads it in the file, beside the guess. */
import type { Finding } from "./finding.ts";

/** One doubt of a draft: its place, the reason, and the act that settles it. */
export interface Doubt {
  /** Path in the profile, as under `guesses`. */
  readonly path: string;
  readonly because: string;
  readonly settle: string;
}

const AGAIN = "run the doctor again";

/** First pattern that fits; paths are as under `guesses`. */
const SETTLING: readonly (readonly [RegExp, string])[] = [
  [/^records\.post\.(?:parentId|replies|replyCount)$/, `post one comment, and ${AGAIN}`],
  [/^records\.post\.(?:votes|ownVote|likedBy)$/, `vote once, and ${AGAIN}`],
  [/^records\.job\.(?:assignee\w+|input)$/, `win one job, and ${AGAIN}`],
  [/^records\.job\.(?:applied|applicantIds)$/, `apply for one job, and ${AGAIN}`],
  [/^records\.job\.verdict$/, "have one submission judged, and look at that job"],
  [/^records\.(?:application|token|webhook|stats)\./, "look at one such answer in the documentation, or make the call once"],
  [/^records\./, "compare it with one such object on the network's own page"],
  [/^statuses\./, "look at one job in that state"],
  [/^operations\..*\.unsupported$/, "look for the operation in the documentation, and state its path if it is there"],
  [/^operations\.auth\./, "the documentation's page on keys"],
  [/^operations\./, "make the call once on purpose: retinue call"],
  [/^paging\./, `read a list with more than one page, and ${AGAIN}`],
  [/^errors\./, "look at one refusal in the documentation"],
  [/^limitHeaders\./, "watch the header over two requests: the remaining falls by one"],
  [/^limits$/, "the documentation's page on limits"],
  [/^auth\./, "the documentation's page on keys, or one accepted read"],
  [/^webhooks\./, "retinue doctor --webhooks while such an event happens"],
];

export function settlingOf(path: string): string {
  return SETTLING.find(([pattern]) => pattern.test(path))?.[1] ?? "the network's documentation";
}

/** Every doubt of the findings; a later one about the same field replaces an earlier one. */
export function doubtsOf(findings: readonly Pick<Finding, "proposals">[]): readonly Doubt[] {
  const doubts = new Map<string, Doubt>();
  for (const { path, isDoubtful, because = "the only place that fits" } of findings.flatMap(({ proposals }) => proposals)) {
    const named = path.join(".");
    if (isDoubtful) doubts.set(named, { path: named, because, settle: settlingOf(named) });
    else doubts.delete(named);
  }
  return [...doubts.values()];
}

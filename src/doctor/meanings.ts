/** The meanings of a network's own words: states of a job, kinds of events, headers of limits. */
import type { JobStatus } from "../contract/records.ts";
import { statusWord } from "../contract/reading/values.ts";
import type { Profile } from "../contract/profile/profile.ts";
import type { Proposal } from "./finding.ts";

/** Words of networks for the states of a job, beside those of the shipped sets, as `statusWord` writes them. */
const STATES: { readonly [status in Exclude<JobStatus, "unknown">]?: readonly string[] } = {
  open: words("free up looking unassigned upforbids openforbids bidsopen acceptingbids posted vacant unclaimed pending"),
  applied: words("hasbids inselection selecting applications bid shortlisting offered"),
  assigned: words("taken picked given granted chosen allotted allocated inwork working begun active inprogress ongoing locked doing"),
  submitted: words("in handedin turnedin sentin received inreview awaitingreview checking verifying answered"),
  accepted: words("okayed ok good praised passed fulfilled finished verified resolved succeeded confirmed"),
  rejected: words("returned refused sentback revision needswork changesrequested disputed redo"),
  paid: words("paidout rewarded payedout moneysent compensated"),
  expired: words("lapsed timeout missed stale"),
  cancelled: words("abandoned revoked removed deleted void voided aborted"),
};

function words(list: string): readonly string[] {
  return list.split(" ");
}

/** Every word by which a field is known to be a state. */
export const STATE_WORDS: ReadonlySet<string> = new Set([...Object.keys(STATES), ...Object.values(STATES).flat()]);

/** Words for states that the profile does not know yet; words without a meaning are returned too. */
export function proposeStates(
  profile: Profile,
  seen: readonly string[],
): { readonly proposals: readonly Proposal[]; readonly unclear: readonly string[] } {
  const known = Object.values(profile.statuses).flat();
  const isKnown = (word: string): boolean => known.some((other) => statusWord(other) === statusWord(word));
  const found = new Map<string, string[]>();
  const unclear: string[] = [];
  for (const word of new Set(seen.filter((one) => !isKnown(one)))) {
    const status = Object.entries(STATES).find(([, names]) => names.includes(statusWord(word)))?.[0];
    if (status === undefined) unclear.push(word);
    else found.set(status, [...(found.get(status) ?? []), word]);
  }
  const proposals = [...found].map(([status, news]): Proposal => {
    const present: readonly string[] = profile.statuses[status as keyof typeof profile.statuses] ?? [];
    return { path: ["statuses", status], value: [...present, ...news], isDoubtful: true, because: `by the meaning of ${news.join(", ")}` };
  });
  return { proposals, unclear };
}

interface Meaning {
  readonly kind: string;
  /** All of these sets must have a word in the name. */
  readonly words: readonly (readonly string[])[];
}

const JOBS = ["job", "gig", "task", "bounty", "order", "quest", "work", "contract", "submission", "delivery", "mission", "project"];
const POSTS = ["post", "thread", "note", "message", "story", "update", "entry", "article"];
const BEGUN = ["created", "create", "new", "published", "publish", "posted", "listed", "opened", "open", "added"];

/** The first that fits counts. */
const EVENTS: readonly Meaning[] = [
  { kind: "mention.created", words: [["mention", "mentioned", "mentions", "tagged"]] },
  { kind: "follower.new", words: [["follow", "follower", "followed", "followers"]] },
  {
    kind: "approval.required",
    words: [
      ["approval", "approve", "permission"],
      ["required", "requested", "needed", "needs", "ask", "pending", "request", "require"],
    ],
  },
  { kind: "job.paid", words: [["paid", "payment", "payout", "pay", "settled", "payed", "remitted"]] },
  { kind: "job.assigned", words: [["assigned", "assign", "awarded", "award", "won", "hired", "hire", "selected"]] },
  {
    kind: "job.assigned",
    words: [
      ["bid", "application", "proposal", "offer", "claim"],
      ["accepted", "accept", "approved"],
    ],
  },
  {
    kind: "job.applied",
    words: [
      ["bid", "application", "proposal", "applicant"],
      ["received", "created", "new", "submitted", "made"],
    ],
  },
  { kind: "job.rejected", words: [JOBS, ["rejected", "reject", "returned", "declined", "refused", "revision"]] },
  { kind: "job.accepted", words: [JOBS, ["accepted", "accept", "completed", "complete", "approved", "verified", "finished"]] },
  { kind: "job.delivered", words: [JOBS, ["delivered", "submitted", "submission", "delivery"]] },
  { kind: "reply.created", words: [["reply", "replied", "comment", "commented", "answer", "answered", "replies", "response"]] },
  {
    kind: "post.liked",
    words: [["like", "liked", "vote", "voted", "upvote", "upvoted", "reaction", "reacted", "boosted", "starred", "kudos"]],
  },
  { kind: "job.listed", words: [JOBS, BEGUN] },
  { kind: "post.created", words: [POSTS, BEGUN] },
];

const DECISIONS: readonly Meaning[] = [
  {
    kind: "approved",
    words: [
      ["approval", "approve", "permission"],
      ["approved", "granted", "accepted", "allowed"],
    ],
  },
  {
    kind: "rejected",
    words: [
      ["approval", "approve", "permission"],
      ["rejected", "denied", "declined", "refused", "expired"],
    ],
  },
];

/** The profile's part for a network's words of event kinds; words that it knows already are left out. */
export function proposeKinds({ webhooks }: Profile, told: readonly string[]): readonly Proposal[] {
  const fresh = [...new Set(told)].filter(
    (word) => !Object.hasOwn(webhooks.kinds, word) && !Object.hasOwn(webhooks.decisions, word) && word.length <= 100,
  );
  return fresh.flatMap((word): Proposal[] => {
    const decision = meaningOf(word, DECISIONS);
    const kind = decision === undefined ? meaningOf(word, EVENTS) : undefined;
    const because = "by the meaning of its words";
    if (decision !== undefined) return [{ path: ["webhooks", "decisions", word], value: decision, isDoubtful: true, because }];
    return kind === undefined || kind === word ? [] : [{ path: ["webhooks", "kinds", word], value: kind, isDoubtful: true, because }];
  });
}

function meaningOf(name: string, meanings: readonly Meaning[]): string | undefined {
  const parts = new Set(
    name
      .replaceAll(/([a-z\d])([A-Z])/g, "$1 $2")
      .toLowerCase()
      .split(/[^a-z]+/),
  );
  return meanings.find(({ words }) => words.every((set) => set.some((word) => parts.has(word))))?.kind;
}

type LimitHeader = "remaining" | "limit" | "remainingHour" | "remainingDay" | "reset" | "retryAfter";

/** Names for the headers of limits that the profile does not read yet. */
export function proposeLimitHeaders({ limitHeaders }: Profile, names: readonly string[]): readonly Proposal[] {
  const read = Object.values(limitHeaders).flat();
  const found = new Map<LimitHeader, string>();
  for (const name of names.map((one) => one.toLowerCase())) {
    const meaning = read.includes(name) ? undefined : limitHeaderOf(name);
    if (meaning !== undefined && !found.has(meaning)) found.set(meaning, name);
  }
  return [...found].map(([meaning, name]): Proposal => ({
    path: ["limitHeaders", meaning],
    value: [name, ...limitHeaders[meaning]],
    isDoubtful: true,
    because: "by its name alone",
  }));
}

/** Answers that show how a number falls. */
const MIN_ANSWERS = 5;

/** A number that falls by one with each request is what remains, and a steady one beside it is the limit. */
export function proposeCounters(numbers: ReadonlyMap<string, readonly number[]>): readonly Proposal[] {
  const falls = ([, values]: readonly [string, readonly number[]]): boolean => {
    const steps = values.slice(1).map((value, i) => (values[i] ?? 0) - value);
    const ones = steps.filter((step) => step === 1).length;
    // Refusals count too, and some may not tell the number.
    return values.length >= MIN_ANSWERS && steps.every((step) => step > 0) && ones > steps.length / 2;
  };
  const [left] = [...numbers].filter(falls);
  if (left === undefined) return [];
  const [place, [most = 0]] = left;
  const above = place.slice(0, place.lastIndexOf("."));
  const limit = [...numbers].find(
    ([other, values]) => other.startsWith(above) && values.every((value) => value === values[0] && value >= most),
  )?.[0];
  const because = "it falls by one with each request; its window is not known";
  return [
    { path: ["limitHeaders", "remaining"], value: [place], isDoubtful: true, because },
    ...(limit === undefined ? [] : [{ path: ["limitHeaders", "limit"], value: [limit], isDoubtful: true, because: "beside what remains" }]),
  ];
}

/** True for a header that could be about limits. */
export function isLimitHeader(name: string): boolean {
  return /rate-?limit|retry-after|quota|throttl|(?:^|-)(?:remaining|left|budget|allowance|credits?)(?:-|$)/i.test(name);
}

function limitHeaderOf(name: string): LimitHeader | undefined {
  if (!isLimitHeader(name) || /policy/.test(name)) return undefined;
  if (/retry|wait|backoff/.test(name)) return "retryAfter";
  if (/reset|refill|renew|replenish|refresh/.test(name)) return "reset";
  if (/remaining|left|available|allowance/.test(name)) {
    if (/hour/.test(name)) return "remainingHour";
    return /day|daily/.test(name) ? "remainingDay" : "remaining";
  }
  return /limit|max|total|quota$/.test(name) ? "limit" : undefined;
}

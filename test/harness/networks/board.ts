/** What happens on an invented network, whatever its interface: posts, replies, votes and jobs, with a log that judges the visitor. */
import type { Clock } from "../../../src/core/clock.ts";
import { DAY, MINUTE } from "../../../src/core/units.ts";

export interface BoardPost {
  readonly nr: number;
  readonly by: string;
  readonly text: string;
  readonly at: number;
  /** The post that this one answers. */
  readonly under?: BoardPost;
  /** The reply that it answers. */
  readonly to?: BoardPost;
  /** An answer to it is due. */
  asks?: true;
  readonly replies: BoardPost[];
  readonly fans: string[];
}

export type JobPhase = "open" | "given" | "begun" | "handed" | "judged" | "paid";

export interface BoardJob {
  readonly nr: number;
  readonly by: string;
  readonly title: string;
  readonly text: string;
  /** In hundredths. */
  readonly cents: number;
  readonly at: number;
  readonly bidders: string[];
  givenTo?: string;
  phase: JobPhase;
  result?: string;
}

/** One write that took effect. */
interface Effect {
  readonly kind: string;
  readonly by: string;
  readonly object: number | string;
  readonly text: string;
}

/** News for those who asked for deliveries. */
export interface News {
  readonly kind: "post" | "reply" | "job" | JobPhase;
  readonly post?: BoardPost;
  readonly job?: BoardJob;
}

export interface Verdict {
  readonly duplicates: readonly string[];
  /** Requests beyond a limit of the network. */
  readonly over: readonly string[];
  /** Jobs that were given and never handed in, and posts that were never answered. */
  readonly undelivered: readonly string[];
  /** Requests that the network does not know: a path, a field, a method. */
  readonly strange: readonly string[];
  readonly done: { readonly [kind: string]: number };
}

export const PEOPLE: readonly string[] = ["ada", "bert", "cleo"];

export class Board {
  readonly posts: BoardPost[] = [];
  readonly jobs: BoardJob[] = [];
  readonly effects: Effect[] = [];
  readonly over: string[] = [];
  readonly strange: string[] = [];
  readonly listeners: ((news: News) => void)[] = [];
  /** From a bid to the job, from the work to its verdict, from there to the money. */
  paceMs = { gives: 4 * MINUTE, judges: 3 * MINUTE, pays: 3 * MINUTE };
  readonly #clock: Clock;
  readonly #begunAt: number;
  #nr = 100;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#begunAt = clock.now();
  }

  get now(): number {
    return this.#clock.now();
  }

  next(): number {
    return (this.#nr += 1);
  }

  say(by: string, text: string, under?: BoardPost, to?: BoardPost): BoardPost {
    const post = {
      nr: this.next(),
      by,
      text,
      at: this.now,
      replies: [],
      fans: [],
      ...(under === undefined ? {} : { under }),
      ...(to === undefined ? {} : { to }),
    };
    if (under === undefined) this.posts.unshift(post);
    else under.replies.push(post);
    this.#tell({ kind: under === undefined ? "post" : "reply", post });
    return post;
  }

  /** A post from before the visitor's time, which it need not answer. */
  long(by: string, text: string): BoardPost {
    const post = { nr: this.next(), by, text, at: this.#begunAt - 2 * DAY, replies: [], fans: [] };
    this.posts.push(post);
    return post;
  }

  offer(by: string, title: string, cents: number): BoardJob {
    const job: BoardJob = { nr: this.next(), by, title, text: `please do ${title}`, cents, at: this.now, bidders: [], phase: "open" };
    this.jobs.unshift(job);
    this.#tell({ kind: "job", job });
    return job;
  }

  /** Records a write of the visitor that took effect. */
  took(kind: string, by: string, object: number | string, text = ""): void {
    this.effects.push({ kind, by, object, text });
  }

  bid(job: BoardJob, by: string): void {
    this.took("bid", by, job.nr);
    job.bidders.push(by);
    this.#later(this.paceMs.gives, () => {
      if (job.phase !== "open") return;
      job.givenTo = by;
      this.move(job, "given");
    });
  }

  begin(job: BoardJob, by: string): void {
    this.took("begin", by, job.nr);
    this.move(job, "begun");
  }

  hand(job: BoardJob, by: string, result: string): void {
    this.took("hand", by, job.nr);
    job.result = result;
    this.move(job, "handed");
    this.#later(this.paceMs.judges, () => this.move(job, "judged"));
    this.#later(this.paceMs.judges + this.paceMs.pays, () => this.move(job, "paid"));
  }

  move(job: BoardJob, phase: JobPhase): void {
    job.phase = phase;
    this.#tell({ kind: phase, job });
  }

  /** Everything in one number: a post, or a reply to one. */
  post(nr: number): BoardPost | undefined {
    return [...this.posts, ...this.posts.flatMap(({ replies }) => replies)].find((one) => one.nr === nr);
  }

  job(nr: number): BoardJob | undefined {
    return this.jobs.find((one) => one.nr === nr);
  }

  verdict(visitor: string): Verdict {
    const counts = new Map<string, number>();
    for (const { kind, by, object, text } of this.effects) {
      const name = [kind, by, object, text].join(" | ");
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    const unanswered = this.posts.filter(
      (post) => post.by !== visitor && post.at >= this.#begunAt && !post.replies.some(({ by }) => by === visitor),
    );
    const ignored = this.posts
      .flatMap(({ replies }) => replies)
      .filter((one) => one.asks === true && one.under?.replies.some(({ to }) => to === one) !== true);
    const kept = this.jobs.filter(({ givenTo, phase }) => givenTo === visitor && ["given", "begun"].includes(phase));
    const done: Record<string, number> = {};
    for (const { kind } of this.effects) done[kind] = (done[kind] ?? 0) + 1;
    return {
      duplicates: [...counts].filter(([, times]) => times > 1).map(([name, times]) => `${name} × ${times}`),
      over: this.over,
      undelivered: [
        ...kept.map(({ nr }) => `job ${nr}`),
        ...unanswered.map(({ nr }) => `post ${nr}`),
        ...ignored.map(({ nr }) => `reply ${nr}`),
      ],
      strange: [...new Set(this.strange)],
      done,
    };
  }

  #tell(news: News): void {
    for (const listener of this.listeners) listener(news);
  }

  #later(ms: number, run: () => void): void {
    this.#clock.after(ms, run);
  }
}

/** A limit that the network itself keeps, over the last `ms`. */
export class Window {
  readonly #board: Board;
  readonly #name: string;
  readonly #max: number;
  readonly #ms: number;
  #taken: number[] = [];

  constructor(board: Board, name: string, max: number, ms: number) {
    this.#board = board;
    this.#name = name;
    this.#max = max;
    this.#ms = ms;
  }

  /** Counts a request; false if it is one too many, which the log remembers. */
  take(): boolean {
    this.#taken = this.#taken.filter((at) => at > this.#board.now - this.#ms);
    if (this.#taken.length < this.#max) return this.#taken.push(this.#board.now) > 0;
    this.#board.over.push(`${this.#name} at ${new Date(this.#board.now).toISOString()}`);
    return false;
  }

  get left(): number {
    return this.#max - this.#taken.filter((at) => at > this.#board.now - this.#ms).length;
  }
}

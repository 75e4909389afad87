/** An invented network of whispers and favours: requests are signed, a reply counts once a sum is done, and the webhook is part of one's account. */
import { createHmac } from "node:crypto";
import type { Json } from "../../../src/core/json.ts";
import { HOUR, MINUTE } from "../../../src/core/units.ts";
import type { SpecialistDefinition } from "../../../src/specialist/definition.ts";
import { signDelivery } from "../../../src/webhooks/receiver/sign.ts";
import { Window, type Board, type BoardJob, type BoardPost, type JobPhase } from "./board.ts";
import { members, routes, text, type Asked, type Deliver, type Invented, type InventedNetwork, type Reply } from "./invented-network.ts";

declare module "../../../src/specialist/definition.ts" {
  interface ExtraOperations {
    "sums.answer": true;
  }
}

const KEY = "whisper-signing-key-1";
const SECRET = "what-whispers-are-signed-with";
const ME = "scout";
const MY_ID = "acc_1";
/** Failed deliveries in a row after which no more are made. */
const MOST_FAILED = 3;
const CHALLENGE_MS = 30 * MINUTE;
const PHASES: { readonly [phase in JobPhase]: string } = {
  open: "asked",
  given: "taken",
  begun: "taken",
  handed: "shown",
  judged: "thanked",
  paid: "returned",
};

const soul = (name: string): Json => ({ acc: name === ME ? MY_ID : `acc_${name}`, called: name });
const no = (status: number, code: string): Reply => ({ status, body: { errors: [{ code, message: `no: ${code}` }] } });

interface Challenge {
  readonly post: BoardPost;
  readonly said: string;
  readonly sum: readonly [number, number];
  readonly until: number;
}

class Whisper implements InventedNetwork {
  readonly #board: Board;
  readonly #hour: Window;
  readonly #challenges = new Map<string, Challenge>();
  readonly #done = new Set<string>();
  readonly #route: (asked: Asked) => Reply;
  #hook: { readonly url: string; readonly secret: string } | undefined;
  #failed = 0;

  constructor(board: Board, deliver: Deliver) {
    this.#board = board;
    this.#hour = new Window(board, "requests of an hour", 400, HOUR);
    const whisper = ({ at }: Asked): BoardPost | undefined => board.post(Number((at["id"] ?? "").slice(2)));
    const favour = ({ at }: Asked): BoardJob | undefined => board.job(Number((at["id"] ?? "").slice(2)));
    const shown = <T>(thing: T | undefined, show: (thing: T) => Json): Reply =>
      thing === undefined ? no(404, "nothing") : { status: 200, body: show(thing) };
    this.#route = routes(
      board,
      [
        ["GET /self", () => ({ status: 200, body: this.#self() })],
        ["PATCH /self", (asked) => this.#change(asked)],
        ["GET /whispers", ({ query }) => this.#page(board.posts, (one) => this.#whisper(one), query)],
        ["GET /whispers/:id", (asked) => shown(whisper(asked), (one) => this.#whisper(one))],
        ["POST /whispers/:id/murmurs", (asked) => this.#murmur(whisper(asked), asked)],
        ["POST /sums/:sum", (asked) => this.#answerSum(asked)],
        ["GET /favours", ({ query }) => this.#page(board.jobs, (one) => this.#favour(one), query)],
        ["GET /favours/:id", (asked) => shown(favour(asked), (one) => this.#favour(one))],
        ["POST /favours/:id/takers", (asked) => this.#take(favour(asked), asked)],
        ["POST /favours/:id/show", (asked) => this.#show(favour(asked), asked)],
      ],
      no(404, "nothing"),
    );
    board.listeners.push(({ kind, job }) => {
      if (job === undefined || this.#hook === undefined || this.#failed >= MOST_FAILED) return;
      const payload = { uid: `${kind}/${job.nr}`, topic: "favour", now: PHASES[job.phase], favour: { fid: `f-${job.nr}` } };
      const { url, secret } = this.#hook;
      const delivery = signDelivery({
        scheme: "sha256-header",
        secret,
        payload,
        id: payload.uid,
        kind: `favour.${payload.now}`,
        at: board.now,
      });
      void deliver(url, delivery).then((status) => (this.#failed = status < 300 && status > 0 ? 0 : this.#failed + 1));
    });
  }

  answer(asked: Asked): Reply {
    if (!this.#isSigned(asked)) return no(401, "bad_signature");
    return this.#hour.take() ? this.#route(asked) : this.busy();
  }

  busy(): Reply {
    return { ...no(429, "hush"), headers: { "retry-after": "60" } };
  }

  #isSigned({ method, path, query, headers, body }: Asked): boolean {
    const time = Number(headers["x-whisper-time"]);
    const search = query.size === 0 ? "" : `?${query.toString()}`;
    const signed = createHmac("sha256", KEY).update(`${time}\n${method} ${path}${search}\n${body}`).digest("base64");
    const isNow = Math.abs(time * 1_000 - this.#board.now) < MINUTE;
    return (
      isNow && headers["x-whisper-account"] === MY_ID && headers["x-whisper-proof"] === `v1=${signed}` && !("authorization" in headers)
    );
  }

  #self(): Record<string, Json> {
    const hook = this.#hook === undefined ? {} : { hook_url: this.#hook.url, hook_works: this.#failed < MOST_FAILED };
    return { acc: MY_ID, called: ME, ...hook };
  }

  #change(asked: Asked): Reply {
    const body = members(this.#board, asked, ["hook_url", "hook_secret?"]);
    if (body === undefined) return no(422, "unheard");
    this.#failed = 0;
    this.#hook = body["hook_url"] === null ? undefined : { url: text(body["hook_url"]), secret: text(body["hook_secret"]) };
    return { status: 200, body: this.#self() };
  }

  #whisper({ nr, by, text: words, at, replies, under }: BoardPost): Record<string, Json> {
    return {
      wid: `w-${nr}`,
      soul: soul(by),
      words,
      at,
      ...(under === undefined ? {} : { under: `w-${under.nr}` }),
      murmurs: replies.map((one) => this.#whisper(one)),
    };
  }

  #favour({ nr, by, title, text: words, cents, at, phase, bidders, givenTo }: BoardJob): Record<string, Json> {
    return {
      fid: `f-${nr}`,
      soul: soul(by),
      wish: title,
      words,
      thanks: cents,
      now: PHASES[phase],
      at,
      takers: bidders.map(soul),
      ...(givenTo === undefined ? {} : { taker: soul(givenTo) }),
    };
  }

  #page<T>(all: readonly T[], show: (one: T) => Record<string, Json>, query: URLSearchParams): Reply {
    const from = Number(query.get("after") ?? 0);
    return { status: 200, body: { list: all.slice(from, from + 9).map(show), ...(all.length > from + 9 ? { after: from + 9 } : {}) } };
  }

  /** Nobody sees a murmur before its sum is done. */
  #murmur(post: BoardPost | undefined, asked: Asked): Reply {
    const body = members(this.#board, asked, ["words"]);
    if (post === undefined || body === undefined) return no(422, "unheard");
    const nr = this.#board.next();
    const sum = [nr % 13, (nr * 7) % 11] as const;
    const id = `s-${nr}`;
    this.#challenges.set(id, { post, said: text(body["words"]), sum, until: this.#board.now + CHALLENGE_MS });
    return { status: 201, body: { heard: false, sum: { id, of: [...sum] }, words: text(body["words"]) } };
  }

  #answerSum(asked: Asked): Reply {
    const body = members(this.#board, asked, ["total"]);
    const id = asked.at["sum"] ?? "";
    const challenge = this.#challenges.get(id);
    if (this.#done.has(id)) return no(409, "heard_already");
    if (challenge === undefined || challenge.until < this.#board.now) return no(410, "forgotten");
    const { post, said, sum } = challenge;
    if (body?.["total"] !== sum[0] + sum[1]) return no(422, "wrong_total");
    this.#challenges.delete(id);
    this.#done.add(id);
    this.#board.took("murmur", ME, post.nr, said);
    return { status: 200, body: this.#whisper(this.#board.say(ME, said, post)) };
  }

  #take(job: BoardJob | undefined, asked: Asked): Reply {
    if (members(this.#board, asked, ["words?"]) === undefined || job === undefined) return no(422, "unheard");
    if (job.phase !== "open" || job.bidders.includes(ME)) return no(409, "late");
    this.#board.bid(job, ME);
    return { status: 201, body: { tid: `t-${this.#board.next()}`, fid: `f-${job.nr}` } };
  }

  #show(job: BoardJob | undefined, asked: Asked): Reply {
    const body = members(this.#board, asked, ["it"]);
    if (job === undefined || body === undefined) return no(422, "unheard");
    if (job.phase !== "given" || job.givenTo !== ME) return no(409, "not_yours");
    this.#board.hand(job, ME, text(body["it"]));
    return { status: 200, body: this.#favour(job) };
  }
}

const SCOUT: SpecialistDefinition = {
  handle: ME,
  tier: "pro",
  watch: { feed: { from: "start" }, jobs: { from: "start" } },
  may: ["posts.reply", "jobs.apply", "jobs.submit", "sums.answer"],
  brakes: { repliesPerAuthorPerHour: 100, repliesPerHour: 100 },
  on: {
    "post.created": (post, act) => void act.reply(post, `I heard ${post.id}`),
    "intent.pending": ({ answer }, act) => {
      const [a, b] = Array.isArray(answer?.["of"]) ? answer["of"] : [];
      act.perform("sums.answer", { input: { sum: answer?.["sum"] ?? "", total: Number(a) + Number(b) } });
    },
    "job.listed": (job, act) => void act.apply(job),
    "job.assigned": (job, act) => void act.submit(job, `this is ${job.title}`),
  },
};

export const whisper: Invented = {
  name: "whisper",
  profile: "whisper.yaml",
  key: KEY,
  webhookSecret: SECRET,
  least: { murmur: 20, bid: 8, hand: 8 },
  open: (board, _clock, deliver) => new Whisper(board, deliver),
  specialist: SCOUT,
};

/** An invented network of notes and tickets: numbers as ids, bare lists, three ways of paging, and money in cents or as a text. */
import { isObject, type Json } from "../../../src/core/json.ts";
import { credits, HOUR, MINUTE } from "../../../src/core/units.ts";
import { defineSpecialist } from "../../../src/specialist/definition.ts";
import { signDelivery } from "../../../src/webhooks/receiver/sign.ts";
import { Window, type Board, type BoardJob, type BoardPost, type JobPhase } from "./board.ts";
import { members, routes, text, type Asked, type Deliver, type Invented, type InventedNetwork, type Reply } from "./invented-network.ts";

const KEY = "kontor-key-0001";
const SECRET = "what the kontor signs with";
const ME = { nr: 7, tag: "scout" };
const PHASES: { readonly [phase in JobPhase]: string } = {
  open: "free",
  given: "taken",
  begun: "taken",
  handed: "handed in",
  judged: "okayed",
  paid: "money sent",
};
const BID_CENTS = 25;

const seconds = (ms: number): number => Math.floor(ms / 1_000);
const euros = (cents: number): string => `${(cents / 100).toFixed(2)} EUR`;
const person = (tag: string): Json => (tag === ME.tag ? ME : { nr: 1_000 + tag.length, tag });

const note = ({ nr, by, text: words, at, under, fans }: BoardPost): Record<string, Json> => ({
  nr,
  who: person(by),
  words,
  made: seconds(at),
  ...(under === undefined ? {} : { on: under.nr }),
  stars: fans.map(() => ME.nr),
});

const listed = ({ nr, by, title, text: asks, cents, at, phase }: BoardJob): Record<string, Json> => ({
  nr,
  from: person(by),
  headline: title,
  asks,
  fee: euros(cents),
  stage: PHASES[phase],
  made: seconds(at),
});

const whole = (job: BoardJob): Record<string, Json> => {
  const { fee: _text, ...rest } = listed(job);
  return {
    ...rest,
    fee_cents: job.cents,
    bidders: job.bidders.map(() => ME.nr),
    ...(job.givenTo === undefined ? {} : { doneBy: person(job.givenTo) }),
  };
};

const problem = (status: number, word: string): Reply => ({ status, body: { trouble: { word, more: `this is ${word}` } } });

class Kontor implements InventedNetwork {
  readonly #board: Board;
  readonly #hour: Window;
  readonly #remarks: Window;
  readonly #hooks: { readonly nr: number; readonly to: string }[] = [];
  readonly #route: (asked: Asked) => Reply;

  constructor(board: Board, deliver: Deliver) {
    this.#board = board;
    this.#hour = new Window(board, "requests of an hour", 400, HOUR);
    this.#remarks = new Window(board, "remarks of ten minutes", 6, 10 * MINUTE);
    const found = (asked: Asked): BoardPost | undefined => board.post(Number(asked.at["nr"]));
    const ticket = (asked: Asked): BoardJob | undefined => board.job(Number(asked.at["nr"]));
    const none = problem(404, "nowhere");
    this.#route = routes(
      board,
      [
        ["GET /people/:tag", (asked) => (asked.at["tag"] === ME.tag ? { status: 200, body: ME } : none)],
        ["GET /notes", ({ query }) => this.#page(board.posts.map(note), Number(query.get("skip") ?? 0), Number(query.get("take") ?? 10))],
        [
          "GET /notes/:nr",
          (asked) => {
            const post = found(asked);
            return post === undefined ? none : { status: 200, body: { note: { ...note(post), remarks: post.replies.map(note) } } };
          },
        ],
        ["POST /notes/:nr/remarks", (asked) => this.#remark(found(asked), asked)],
        ["POST /notes/:nr/star", (asked) => this.#star(found(asked))],
        ["GET /tickets", ({ query }) => this.#tickets(Number(query.get("page") ?? 0), Number(query.get("size") ?? 5))],
        [
          "GET /tickets/:nr",
          (asked) => {
            const job = ticket(asked);
            return job === undefined ? none : { status: 200, body: { ticket: whole(job) } };
          },
        ],
        ["POST /tickets", (asked) => this.#offer(asked)],
        ["POST /tickets/:nr/offers", (asked) => this.#bid(ticket(asked), asked)],
        ["POST /tickets/:nr/work", (asked) => this.#work(ticket(asked), asked)],
        ["GET /hooks", ({ query }) => this.#hookPage(Number(query.get("after") ?? 0))],
        ["POST /hooks", (asked) => this.#hook(asked)],
        ["DELETE /hooks/:nr", (asked) => this.#unhook(Number(asked.at["nr"]))],
      ],
      none,
    );
    board.listeners.push((news) => {
      const payload = news.job === undefined ? undefined : { happened: `ticket ${PHASES[news.job.phase]}`, thing: whole(news.job) };
      if (payload === undefined || news.kind === "job") return;
      const id = `${news.kind}-${news.job?.nr}`;
      for (const { to } of this.#hooks)
        void deliver(to, signDelivery({ scheme: "github", secret: SECRET, payload, id, kind: payload.happened, at: board.now }));
    });
  }

  answer(asked: Asked): Reply {
    if (asked.headers["x-kontor-key"] !== KEY) return problem(401, "who-are-you");
    return this.#hour.take() ? this.#route(asked) : this.busy();
  }

  busy(): Reply {
    return { ...problem(429, "too-much"), headers: { "retry-after": "90" } };
  }

  /** A bare list. */
  #page(items: readonly Json[], skip: number, take: number): Reply {
    return { status: 200, body: items.slice(skip, skip + Math.min(take, 10)) };
  }

  #tickets(page: number, size: number): Reply {
    const rows = this.#board.jobs.map(listed);
    return { status: 200, body: { rows: rows.slice(page * size, (page + 1) * size), more: rows.length > (page + 1) * size } };
  }

  #remark(post: BoardPost | undefined, asked: Asked): Reply {
    const body = members(this.#board, asked, ["words"]);
    if (post === undefined || body === undefined) return problem(422, "senseless");
    if (!this.#remarks.take()) return this.busy();
    this.#board.took("remark", ME.tag, post.nr, text(body["words"]));
    return { status: 201, body: { remark: note(this.#board.say(ME.tag, text(body["words"]), post)) } };
  }

  #star(post: BoardPost | undefined): Reply {
    if (post === undefined) return problem(404, "nowhere");
    this.#board.took("star", ME.tag, post.nr);
    post.fans.push(ME.tag);
    return { status: 200, body: { note: note(post) } };
  }

  #offer(asked: Asked): Reply {
    const body = members(this.#board, asked, ["headline", "asks", "fee_cents"]);
    const cents = body?.["fee_cents"];
    if (body === undefined || typeof cents !== "number" || !Number.isInteger(cents)) return problem(422, "senseless");
    this.#board.took("offer", ME.tag, text(body["headline"]), String(cents));
    return { status: 201, body: { ticket: whole(this.#board.offer(ME.tag, text(body["headline"]), cents)) } };
  }

  #bid(job: BoardJob | undefined, asked: Asked): Reply {
    if (members(this.#board, asked, ["letter?"]) === undefined || job === undefined) return problem(422, "senseless");
    if (job.phase !== "open" || job.bidders.includes(ME.tag)) return problem(409, "too-late");
    this.#board.bid(job, ME.tag);
    return { status: 201, body: { offer: { nr: this.#board.next(), on: job.nr }, cost: euros(BID_CENTS) } };
  }

  #work(job: BoardJob | undefined, asked: Asked): Reply {
    const body = members(this.#board, asked, ["work"]);
    if (body === undefined || job === undefined) return problem(422, "senseless");
    if (job.phase !== "given" || job.givenTo !== ME.tag) return problem(409, "not-yours");
    this.#board.hand(job, ME.tag, text(body["work"]));
    return { status: 200, body: { ticket: whole(job) } };
  }

  #hookPage(after: number): Reply {
    const rest = this.#hooks.filter(({ nr }) => nr > after);
    const [first] = rest;
    return { status: 200, body: { hooks: first === undefined ? [] : [first], ...(rest.length > 1 ? { go_on: first?.nr ?? 0 } : {}) } };
  }

  #hook(asked: Asked): Reply {
    const body = members(this.#board, asked, ["to"]);
    if (body === undefined || !isObject(body)) return problem(422, "senseless");
    const hook = { nr: this.#board.next(), to: text(body["to"]) };
    this.#hooks.push(hook);
    return { status: 201, body: { hook } };
  }

  #unhook(nr: number): Reply {
    const at = this.#hooks.findIndex((hook) => hook.nr === nr);
    if (at < 0) return problem(404, "nowhere");
    this.#hooks.splice(at, 1);
    return { status: 204 };
  }
}

export const kontor: Invented = {
  name: "kontor",
  profile: "kontor.yaml",
  key: KEY,
  webhookSecret: SECRET,
  least: { remark: 20, star: 20, bid: 8, hand: 8 },
  open: (board, _clock, deliver) => new Kontor(board, deliver),
  specialist: defineSpecialist({
    handle: ME.tag,
    tier: "pro",
    watch: { feed: { from: "start" }, jobs: { from: "start" } },
    may: ["posts.reply", "posts.vote", "jobs.apply", "jobs.submit", "jobs.create"],
    spend: { perDay: credits(30) },
    brakes: { repliesPerAuthorPerHour: 100, repliesPerHour: 100 },
    schedules: {
      errand: { every: "5h", run: (act) => void act.createJob({ title: `errand ${act.now}`, description: "fetch it", reward: 2.5 }) },
    },
    on: {
      "post.created": (post, act) => {
        act.reply(post, `About ${post.id}: yes & no`);
        act.vote(post);
      },
      "job.listed": (job, act) => {
        if ((job.reward ?? 0) >= 5 && (job.reward ?? 0) <= 25) act.apply(job, { message: "I can" });
      },
      "job.assigned": (job, act) => void act.submit(job, `done for ${job.reward ?? "nothing"}`),
    },
  }),
};

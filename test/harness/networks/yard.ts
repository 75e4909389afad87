/** An invented network of shouts and gigs: work is begun before it is handed in, bids are backed by a stake that comes back, and 409 is a yes. */
import type { Json } from "../../../src/core/json.ts";
import { credits, HOUR, MINUTE } from "../../../src/core/units.ts";
import { defineSpecialist } from "../../../src/specialist/definition.ts";
import { signDelivery } from "../../../src/webhooks/receiver/sign.ts";
import { Window, type Board, type BoardJob, type BoardPost, type JobPhase } from "./board.ts";
import { members, routes, text, type Asked, type Deliver, type Invented, type InventedNetwork, type Reply } from "./invented-network.ts";

const KEY = "yard-token-abcdef";
const SECRET = "what-the-yard-signs-with";
const ME = { id: "u-scout", name: "scout" };
const PHASES: { readonly [phase in JobPhase]: string } = {
  open: "up",
  given: "picked",
  begun: "working",
  handed: "in",
  judged: "good",
  paid: "settled",
};
const STAKE = 2;
const PURSE = 8;

const person = (name: string): Json => ({ id: `u-${name}`, name });
const iso = (ms: number): string => new Date(ms).toISOString();

const no = (status: number, error: string): Reply => ({ status, body: { error, detail: `No: ${error}.` } });

class Yard implements InventedNetwork {
  readonly #board: Board;
  readonly #quarter: Window;
  readonly #day: Window;
  readonly #hooks = new Map<string, { readonly target: string; readonly key: string }>();
  readonly #opinions = new Map<number, string>();
  readonly #route: (asked: Asked) => Reply;
  #purse = PURSE;

  constructor(board: Board, deliver: Deliver) {
    this.#board = board;
    this.#quarter = new Window(board, "requests of an hour", 350, HOUR);
    this.#day = new Window(board, "answers of five minutes", 5, 5 * MINUTE);
    const shout = ({ at }: Asked): BoardPost | undefined => board.post(Number((at["id"] ?? "").replace("s-", "")));
    const gig = ({ at }: Asked): BoardJob | undefined => board.job(Number((at["id"] ?? "").replace("g-", "")));
    const shown = <T>(thing: T | undefined, show: (thing: T) => Json): Reply =>
      thing === undefined ? no(404, "gone") : { status: 200, body: show(thing) };
    this.#route = routes(
      board,
      [
        ["GET /who", () => ({ status: 200, body: { everybody: [ME] } })],
        ["GET /shouts", ({ query }) => this.#shouts(query.get("before"))],
        ["GET /shouts/:id", (asked) => shown(shout(asked), (one) => this.#shout(one))],
        ["POST /shouts/:id/answers", (asked) => this.#answer(shout(asked), asked)],
        ["PUT /shouts/:id/opinion", (asked) => this.#judge(shout(asked), asked)],
        ["GET /gigs", ({ query }) => this.#gigs(Number(query.get("from") ?? 0))],
        ["GET /gigs/:id", (asked) => shown(gig(asked), (one) => this.#gig(one))],
        ["POST /gigs/:id/bids", (asked) => this.#bid(gig(asked), asked)],
        ["POST /gigs/:id/start", (asked) => this.#start(gig(asked))],
        ["POST /gigs/:id/deliver", (asked) => this.#deliver(gig(asked), asked)],
        ["GET /pokes", () => ({ status: 200, body: [...this.#hooks].map(([ref, { target }]) => ({ ref, target })) })],
        ["PUT /pokes", (asked) => this.#hook(asked)],
        ["DELETE /pokes/:ref", ({ at }) => (this.#hooks.delete(at["ref"] ?? "") ? { status: 204 } : no(404, "gone"))],
      ],
      no(404, "gone"),
    );
    board.listeners.push(({ kind, job, post }) => {
      if (job !== undefined && kind === "paid" && job.givenTo === ME.name) this.#purse += STAKE;
      const about = job === undefined ? { what: "shout", ref: `s-${post?.nr}` } : { what: `gig.${PHASES[job.phase]}`, ref: `g-${job.nr}` };
      const id = `${about.ref}-${about.what}`;
      for (const { target, key } of this.#hooks.values())
        void deliver(
          target,
          signDelivery({ scheme: "stripe", secret: key, payload: { id, what: about.what, gig: { id: about.ref } }, at: board.now }),
        );
    });
  }

  answer(asked: Asked): Reply {
    if (asked.headers["authorization"] !== `Token ${KEY}`) return no(401, "bad_token");
    return this.#quarter.take() ? this.#route(asked) : this.busy();
  }

  busy(): Reply {
    return { status: 429, body: { error: "slow_down", detail: "Slow down.", wait: 45 } };
  }

  #shout(post: BoardPost): Record<string, Json> {
    const { nr, by, text: says, at, replies, under } = post;
    return {
      id: `s-${nr}`,
      from: person(by),
      says,
      ts: iso(at),
      ...(under === undefined ? {} : { answers_to: `s-${under.nr}` }),
      answers: replies.map((one) => this.#shout(one)),
      mine: this.#opinions.get(nr) ?? null,
    };
  }

  #gig({ nr, by, title, text: body, cents, at, phase, bidders, givenTo }: BoardJob): Record<string, Json> {
    return {
      id: `g-${nr}`,
      brief: { headline: title, body },
      owner: person(by),
      pay: cents / 100,
      state: PHASES[phase],
      ts: iso(at),
      bids: bidders.map((name) => ({ bidder: { key: `u-${name}` }, stake: STAKE })),
      ...(givenTo === undefined ? {} : { worker: person(givenTo) }),
    };
  }

  #shouts(before: string | null): Reply {
    const all = this.#board.posts;
    const from = before === null ? 0 : all.findIndex(({ nr }) => `s-${nr}` === before) + 1;
    const items = all.slice(from, from + 8).map((post) => this.#shout(post));
    const more = all.length > from + 8 ? { older: items.at(-1)?.["id"] ?? null } : {};
    return { status: 200, body: { shouts: items, ...more } };
  }

  #gigs(from: number): Reply {
    const gigs = this.#board.jobs.map((job) => this.#gig(job));
    const headers: Record<string, string> = gigs.length > from + 6 ? { link: `</gigs?from=${from + 6}>; rel="next"` } : {};
    return { status: 200, body: { gigs: gigs.slice(from, from + 6) }, headers };
  }

  #answer(post: BoardPost | undefined, asked: Asked): Reply {
    const body = members(this.#board, asked, ["says"]);
    if (post === undefined || body === undefined) return no(422, "unclear");
    if (!this.#day.take()) return this.busy();
    this.#board.took("answer", ME.name, post.nr, text(body["says"]));
    return { status: 201, body: this.#shout(this.#board.say(ME.name, text(body["says"]), post)) };
  }

  #judge(post: BoardPost | undefined, asked: Asked): Reply {
    const opinion = text(members(this.#board, asked, ["opinion"])?.["opinion"]);
    if (post === undefined || !["+1", "-1"].includes(opinion)) return no(422, "unclear");
    if (this.#opinions.get(post.nr) !== opinion) this.#board.took("opinion", ME.name, post.nr);
    this.#opinions.set(post.nr, opinion);
    return { status: 204 };
  }

  #bid(job: BoardJob | undefined, asked: Asked): Reply {
    const body = members(this.#board, asked, ["pitch", "stake"]);
    if (job === undefined || body?.["stake"] !== STAKE) return no(422, "unclear");
    if (job.bidders.includes(ME.name)) return no(409, "already_bid");
    if (job.phase !== "open") return no(410, "too_late");
    if (this.#purse < STAKE) this.#board.over.push(`a stake for gig ${job.nr} with an empty purse`);
    this.#purse -= STAKE;
    this.#board.bid(job, ME.name);
    return { status: 201, body: { bid: { ref: `b-${this.#board.next()}`, gig: `g-${job.nr}` } } };
  }

  #start(job: BoardJob | undefined): Reply {
    if (job === undefined || job.givenTo !== ME.name) return no(403, "not_yours");
    if (job.phase !== "given") return no(409, "already_started");
    this.#board.begin(job, ME.name);
    return { status: 200, body: this.#gig(job) };
  }

  #deliver(job: BoardJob | undefined, asked: Asked): Reply {
    const body = members(this.#board, asked, ["work"]);
    if (job === undefined || body === undefined || job.givenTo !== ME.name) return no(403, "not_yours");
    if (job.phase === "given") {
      this.#board.strange.push(`gig ${job.nr} was handed in before it was started`);
      return no(409, "not_started");
    }
    if (job.phase !== "begun") return no(409, "already_in");
    this.#board.hand(job, ME.name, text(body["work"]));
    return { status: 200, body: this.#gig(job) };
  }

  #hook(asked: Asked): Reply {
    const body = members(this.#board, asked, ["target", "key"]);
    if (body === undefined) return no(422, "unclear");
    const ref = `w-${this.#board.next()}`;
    this.#hooks.set(ref, { target: text(body["target"]), key: text(body["key"]) });
    return { status: 201, body: { ref, target: text(body["target"]) } };
  }
}

export const yard: Invented = {
  name: "yard",
  profile: "yard.yaml",
  key: KEY,
  webhookSecret: SECRET,
  least: { answer: 20, opinion: 20, bid: 8, begin: 8, hand: 8 },
  open: (board, _clock, deliver) => new Yard(board, deliver),
  specialist: defineSpecialist({
    handle: ME.name,
    tier: "growth",
    watch: { feed: { from: "start" }, jobs: { from: "start" } },
    may: ["posts.reply", "posts.vote", "jobs.apply", "jobs.submit"],
    spend: { total: credits(PURSE) },
    brakes: { repliesPerAuthorPerHour: 100, repliesPerHour: 100 },
    on: {
      "post.created": (post, act) => {
        act.reply(post, `I hear ${post.id}`);
        act.vote(post, post.id.endsWith("7") ? "down" : "up");
      },
      "job.listed": (job, act) => void act.apply(job, { message: "Mine!" }),
      "job.assigned": (job, act) => void act.submit(job, { report: `${job.title}, done` }),
    },
  }),
};

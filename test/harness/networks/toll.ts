/** An invented network of cries and errands: limits over groups of requests, told in bodies, in minutes and in words, and a stop that grows. */
import type { Json } from "../../../src/core/json.ts";
import { HOUR, MINUTE, SECOND } from "../../../src/core/units.ts";
import { defineSpecialist } from "../../../src/specialist/definition.ts";
import { signDelivery } from "../../../src/webhooks/receiver/sign.ts";
import { Window, type Board, type BoardJob, type BoardPost, type JobPhase } from "./board.ts";
import { members, routes, text, type Asked, type Deliver, type Invented, type InventedNetwork, type Reply } from "./invented-network.ts";

const KEY = "toll-pass-of-scout";
const SECRET = "the-end-of-the-tolls-address";
const ME = { id: 3, nick: "scout" };
const PER_HOUR = 300;
const STOPS_AFTER = 3 * HOUR;
const STOP_MS = 50 * MINUTE;
/** Writes that reach a stopped account: the one that is told of it, and those whose answers are lost. */
const BEARABLE = 2;
const PHASES: { readonly [phase in JobPhase]: string } = {
  open: "unassigned",
  given: "yours to do",
  begun: "yours to do",
  handed: "looked at",
  judged: "liked",
  paid: "over",
};

const person = (nick: string): Json => ({ id: nick === ME.nick ? ME.id : 40 + nick.length, nick });

class Toll implements InventedNetwork {
  readonly #board: Board;
  readonly #hour: Window;
  readonly #burst: Window;
  readonly #writes: Window;
  readonly #stopsAt: number;
  readonly #stars = new Set<number>();
  readonly #gates = new Map<number, string>();
  readonly #route: (asked: Asked) => Reply;
  #stoppedUntil: number;
  #pushes = 0;
  #busy = 0;

  constructor(board: Board, deliver: Deliver) {
    this.#board = board;
    this.#stopsAt = board.now + STOPS_AFTER;
    this.#stoppedUntil = this.#stopsAt + STOP_MS;
    this.#hour = new Window(board, "requests of an hour", PER_HOUR, HOUR);
    this.#burst = new Window(board, "requests of twenty seconds", 12, 20 * SECOND);
    this.#writes = new Window(board, "writes of four minutes", 6, 4 * MINUTE);
    const cry = ({ at }: Asked): BoardPost | undefined => board.post(Number(at["id"]));
    const errand = ({ at }: Asked): BoardJob | undefined => board.job(Number(at["id"]));
    const shown = <T>(thing: T | undefined, show: (thing: T) => Json): Reply =>
      thing === undefined ? this.#no(404, "missing", "There is nothing here") : this.#yes(show(thing));
    this.#route = routes(
      board,
      [
        ["GET /people", () => this.#yes([ME])],
        ["GET /cries", () => this.#yes(board.posts.slice(0, 20).map((one) => this.#cry(one)))],
        ["GET /cries/:id", (asked) => shown(cry(asked), (one) => this.#cry(one))],
        ["POST /cries/:id/replies", (asked) => this.#reply(cry(asked), asked)],
        ["POST /people/:me/stars/:id", (asked) => this.#star(asked.at["me"] === String(ME.id) ? cry(asked) : undefined)],
        ["GET /errands", () => this.#yes(board.jobs.slice(0, 20).map((one) => this.#errand(one)))],
        ["GET /errands/:id", (asked) => shown(errand(asked), (one) => this.#errand(one))],
        ["POST /errands/:id/hands", (asked) => this.#offer(errand(asked), asked)],
        ["POST /errands/:id/result", (asked) => this.#result(errand(asked), asked)],
        ["GET /gates", () => this.#yes([...this.#gates].map(([id, url]) => ({ id, url })))],
        ["POST /gates", (asked) => this.#gate(asked)],
        ["DELETE /gates/:id", ({ at }) => this.#yes({ removed: this.#gates.delete(Number(at["id"])) })],
      ],
      this.#no(404, "missing", "There is nothing here"),
    );
    board.listeners.push(({ kind, job }) => {
      if (job === undefined || kind === "job") return;
      const payload = { type: PHASES[job.phase], data: { id: job.nr }, event_id: `${job.nr}/${kind}` };
      for (const url of this.#gates.values()) {
        const delivery = signDelivery({ scheme: "path", secret: SECRET, payload, at: board.now });
        void deliver(url, delivery);
      }
    });
  }

  answer(asked: Asked): Reply {
    if (asked.headers["x-pass"] !== KEY) return this.#no(401, "pass", "Who goes there?");
    if (!this.#hour.take()) return this.busy();
    if (!this.#burst.take()) return this.#no(503, "burst", "Too fast", { pause: 0.5 });
    const { now } = this.#board;
    const isWrite = asked.method !== "GET";
    if (now >= this.#stopsAt && now < this.#stoppedUntil) {
      if (isWrite) this.#push();
      return this.#no(403, "timeout", "You are in timeout");
    }
    if (isWrite && !asked.path.startsWith("/gates") && !this.#writes.take())
      return this.#no(423, "locked", "The gate is shut. Come back in 4 minutes!");
    return this.#route(asked);
  }

  /** Each in another way. */
  busy(): Reply {
    switch (this.#busy++ % 4) {
      case 0:
        return this.#no(423, "locked", "The gate is shut. Try again in 1 minute and 30 seconds.");
      case 1:
        return this.#no(402, "coins", "Coins come back in PT1M15S");
      case 2:
        return this.#no(503, "burst", "Too fast", { pause: 1.5 });
      default:
        return this.#no(429, "hour", "Enough for now", { pause: 2 });
    }
  }

  /** Whoever writes while stopped is stopped for twice as long. */
  #push(): void {
    this.#stoppedUntil += this.#stoppedUntil - this.#board.now;
    if (++this.#pushes > BEARABLE) this.#board.over.push(`write ${this.#pushes} of a stopped account`);
  }

  #yes(what: Json, status = 200): Reply {
    return { status, body: { what, purse: { left: this.#hour.left, of: PER_HOUR } } };
  }

  #no(status: number, cause: string, words: string, more: Record<string, Json> = {}): Reply {
    return { status, body: { trouble: { cause, words, ...more } } };
  }

  #cry({ nr, by, text: words, at, replies, under, fans }: BoardPost): Record<string, Json> {
    return {
      id: nr,
      by: person(by),
      words,
      at: new Date(at).toUTCString(),
      ...(under === undefined ? {} : { parent: { id: under.nr } }),
      replies: replies.map((one) => this.#cry(one)),
      starred: this.#stars.has(nr),
      stars: fans.length,
    };
  }

  #errand({ nr, by, title, text: words, cents, at, phase, bidders, givenTo }: BoardJob): Record<string, Json> {
    return {
      id: nr,
      by: person(by),
      title,
      words,
      coins: cents,
      stage: PHASES[phase],
      at: new Date(at).toUTCString(),
      hands: bidders.map(person),
      ...(givenTo === undefined ? {} : { doer: person(givenTo) }),
    };
  }

  #reply(post: BoardPost | undefined, asked: Asked): Reply {
    const body = members(this.#board, asked, ["words"]);
    if (post === undefined || body === undefined) return this.#no(400, "sense", "That makes no sense");
    this.#board.took("reply", ME.nick, post.nr, text(body["words"]));
    return this.#yes(this.#cry(this.#board.say(ME.nick, text(body["words"]), post)), 201);
  }

  #star(post: BoardPost | undefined): Reply {
    if (post === undefined) return this.#no(404, "missing", "There is nothing here");
    this.#board.took("star", ME.nick, post.nr);
    this.#stars.add(post.nr);
    return this.#yes(this.#cry(post));
  }

  #offer(job: BoardJob | undefined, asked: Asked): Reply {
    if (members(this.#board, asked, []) === undefined || job === undefined) return this.#no(400, "sense", "That makes no sense");
    if (job.phase !== "open" || job.bidders.includes(ME.nick)) return this.#no(409, "late", "Too late");
    this.#board.bid(job, ME.nick);
    return this.#yes({ id: this.#board.next(), errand: job.nr }, 201);
  }

  #result(job: BoardJob | undefined, asked: Asked): Reply {
    const body = members(this.#board, asked, ["result"]);
    if (job === undefined || body === undefined) return this.#no(400, "sense", "That makes no sense");
    if (job.phase !== "given" || job.givenTo !== ME.nick) return this.#no(409, "not-yours", "Not yours");
    this.#board.hand(job, ME.nick, text(body["result"]));
    return this.#yes(this.#errand(job));
  }

  #gate(asked: Asked): Reply {
    const body = members(this.#board, asked, ["url"]);
    if (body === undefined) return this.#no(400, "sense", "That makes no sense");
    const id = this.#board.next();
    this.#gates.set(id, text(body["url"]));
    return this.#yes({ id, url: text(body["url"]) }, 201);
  }
}

export const toll: Invented = {
  name: "toll",
  profile: "toll.yaml",
  key: KEY,
  webhookSecret: SECRET,
  least: { reply: 20, star: 20, bid: 8, hand: 8 },
  open: (board, _clock, deliver) => new Toll(board, deliver),
  specialist: defineSpecialist({
    handle: ME.nick,
    tier: "starter",
    watch: { feed: { from: "start" }, jobs: { from: "start" } },
    may: ["posts.reply", "posts.vote", "jobs.apply", "jobs.submit"],
    brakes: { repliesPerAuthorPerHour: 100, repliesPerHour: 100 },
    on: {
      "post.created": (post, act) => {
        act.reply(post, `Heard ${post.id}`);
        act.vote(post);
      },
      "job.listed": (job, act) => void act.apply(job),
      "job.assigned": (job, act) => void act.submit(job, ["done", job.id]),
    },
  }),
};

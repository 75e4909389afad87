/** An invented network of topics and quests: contents are HTML, comments stand beside their topic, and an inbox tells what happened. */
import type { Json } from "../../../src/core/json.ts";
import { HOUR, MINUTE } from "../../../src/core/units.ts";
import { defineSpecialist } from "../../../src/specialist/definition.ts";
import { Window, type Board, type BoardJob, type BoardPost, type JobPhase } from "./board.ts";
import { members, routes, text, type Asked, type Deliver, type Invented, type InventedNetwork, type Reply } from "./invented-network.ts";
import { signDelivery } from "../../../src/webhooks/receiver/sign.ts";
import { standardSecret } from "./secrets.ts";

const KEY = "agora_0123456789";
const SECRET = standardSecret("the agora's own secret, of 32 b");
const ME = "scout";
const PHASES: { readonly [phase in JobPhase]: string } = {
  open: "OPEN",
  given: "GRANTED",
  begun: "GRANTED",
  handed: "TURNED_IN",
  judged: "PRAISED",
  paid: "REWARDED",
};

const escaped = (words: string): string => words.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
const html = (words: string): string =>
  `<p>${escaped(words).replaceAll(/@(\w+)/g, '<a class="mention" href="https://agora.invalid/$1">@<b>$1</b></a>')}</p>`;
const citizen = (name: string): Json => ({ citizen: name, no: name.length * 11 });
const wrong = (status: number, kind: string): Reply => ({ status, body: { fault: { kind, words: `This is ${kind}` } } });

class Agora implements InventedNetwork {
  readonly #board: Board;
  readonly #hour: Window;
  readonly #comments: Window;
  readonly #inbox: Json[] = [];
  readonly #likes = new Set<number>();
  readonly #route: (asked: Asked) => Reply;
  #hook: { readonly callback: string } | undefined;

  constructor(board: Board, clock: { after(ms: number, run: () => void): unknown }, deliver: Deliver) {
    this.#board = board;
    this.#hour = new Window(board, "requests of an hour", 500, HOUR);
    this.#comments = new Window(board, "comments of ten minutes", 12, 10 * MINUTE);
    const topic = ({ at }: Asked): BoardPost | undefined => board.posts.find(({ nr }) => `T${nr}` === at["topic"]);
    const quest = ({ at }: Asked): BoardJob | undefined => board.jobs.find(({ nr }) => `Q${nr}` === at["quest"]);
    const shown = <T>(thing: T | undefined, show: (thing: T) => Json): Reply =>
      thing === undefined ? wrong(404, "unknown_thing") : { status: 200, body: show(thing) };
    this.#route = routes(
      board,
      [
        ["GET /citizens", () => ({ status: 200, body: { list: [citizen(ME)] } })],
        [
          "GET /topics",
          ({ query }) =>
            this.#page(
              board.posts.map((one) => this.#topic(one)),
              query,
              "topics",
            ),
        ],
        ["GET /topics/:topic", (asked) => shown(topic(asked), (one) => ({ topic: this.#topic(one) }))],
        ["GET /topics/:topic/comments", (asked) => this.#commentPage(topic(asked), asked)],
        ["POST /topics/:topic/comments", (asked) => this.#comment(topic(asked), asked)],
        ["POST /topics/:topic/like", (asked) => this.#like(topic(asked))],
        ["GET /inbox", ({ query }) => this.#page(this.#inbox.toReversed(), query, "notes")],
        [
          "GET /quests",
          ({ query }) =>
            this.#page(
              board.jobs.map((one) => this.#quest(one)),
              query,
              "quests",
            ),
        ],
        ["GET /quests/:quest", (asked) => shown(quest(asked), (one) => ({ quest: this.#quest(one) }))],
        ["POST /quests/:quest/volunteers", (asked) => this.#volunteer(quest(asked), asked)],
        ["POST /quests/:quest/fruit", (asked) => this.#turnIn(quest(asked), asked)],
        ["GET /callbacks", () => ({ status: 200, body: this.#hook === undefined ? [] : [{ id: "cb", ...this.#hook }] })],
        ["POST /callbacks", (asked) => this.#register(asked)],
        ["DELETE /callbacks/:id", () => ((this.#hook = undefined), { status: 204 })],
      ],
      wrong(404, "unknown_thing"),
    );
    const old = board.long("ada", "Before your time");
    for (const hours of [1, 3, 5]) clock.after(hours * HOUR, () => this.#askBack(old, old));
    board.listeners.push(({ kind, post, job }) => {
      if (kind === "reply" && post?.by === ME && post.to === undefined) clock.after(4 * MINUTE, () => this.#askBack(post.under, post));
      if (kind === "reply" && post !== undefined && post.by !== ME) this.#note(post);
      if (job === undefined || this.#hook === undefined) return;
      const payload = { id: `${kind}-${job.nr}`, type: `quest.${PHASES[job.phase]}`, quest: this.#quest(job) };
      void deliver(this.#hook.callback, signDelivery({ scheme: "standard", secret: SECRET, payload, id: payload.id, at: board.now }));
    });
  }

  answer(asked: Asked): Reply {
    if (asked.headers["x-citizen"] !== `key ${KEY}`) return wrong(401, "stranger");
    return this.#hour.take() ? this.#route(asked) : this.busy();
  }

  busy(): Reply {
    return { ...wrong(429, "crowded"), headers: { "retry-after": new Date(this.#board.now + 2 * MINUTE).toUTCString() } };
  }

  /** Somebody wants to know more: of every other comment of the visitor, and where the visitor has never been. */
  #askBack(topic: BoardPost | undefined, to: BoardPost): void {
    if (topic === undefined || (topic !== to && to.nr % 2 === 0)) return;
    const asks = this.#board.say("cleo", `@${ME} why? <3 & so on`, topic, ...(topic === to ? [] : [to]));
    asks.asks = true;
  }

  #note(comment: BoardPost): void {
    const type = comment.text.includes(`@${ME}`) ? "named_you" : "commented";
    this.#inbox.push({ no: `N${this.#board.next()}`, type, when: this.#board.now, about: this.#commentOf(comment) });
  }

  #topic({ nr, by, text: words, at, fans }: BoardPost): Record<string, Json> {
    return { no: `T${nr}`, author: citizen(by), html: html(words), when: at, likes: fans.length, liked: this.#likes.has(nr) };
  }

  #commentOf({ nr, by, text: words, at, under, to }: BoardPost): Record<string, Json> {
    return {
      no: `C${nr}`,
      topic_no: `T${under?.nr}`,
      ...(to === undefined ? {} : { answers: `C${to.nr}` }),
      author: citizen(by),
      html: html(words),
      when: at,
    };
  }

  #quest({ nr, by, title, text: asks, cents, at, phase, bidders, givenTo }: BoardJob): Record<string, Json> {
    return {
      quest_no: `Q${nr}`,
      giver: citizen(by),
      name: title,
      html: html(asks),
      gold: cents / 100,
      phase: PHASES[phase],
      when: at,
      volunteers: bidders.map(citizen),
      ...(givenTo === undefined ? {} : { hero: citizen(givenTo) }),
    };
  }

  #page(items: readonly Json[], query: URLSearchParams, name: string): Reply {
    const from = Number(query.get("offset") ?? 0);
    return { status: 200, body: { [name]: items.slice(from, from + 10), total: items.length } };
  }

  /** Oldest first, two to a page. */
  #commentPage(post: BoardPost | undefined, { query }: Asked): Reply {
    if (post === undefined) return wrong(404, "unknown_thing");
    const from = Number(query.get("offset") ?? 0);
    return { status: 200, body: { comments: post.replies.slice(from, from + 2).map((one) => this.#commentOf(one)) } };
  }

  #comment(post: BoardPost | undefined, asked: Asked): Reply {
    const body = members(this.#board, asked, ["text", "answers?"]);
    const to = post?.replies.find(({ nr }) => `C${nr}` === body?.["answers"]);
    if (post === undefined || body === undefined || (body["answers"] !== undefined && to === undefined)) {
      this.#board.strange.push(`a comment under nothing: ${asked.path} ${asked.body}`);
      return wrong(422, "nonsense");
    }
    if (!this.#comments.take()) return this.busy();
    this.#board.took("comment", ME, to?.nr ?? post.nr, text(body["text"]));
    return { status: 201, body: { comment: this.#commentOf(this.#board.say(ME, text(body["text"]), post, to)) } };
  }

  #like(post: BoardPost | undefined): Reply {
    if (post === undefined) return wrong(404, "unknown_thing");
    this.#board.took("like", ME, post.nr);
    this.#likes.add(post.nr);
    return { status: 200, body: { topic: this.#topic(post) } };
  }

  #volunteer(job: BoardJob | undefined, asked: Asked): Reply {
    const body = members(this.#board, asked, ["because", "pay"]);
    if (job === undefined || body?.["pay"] !== job.cents / 100) return wrong(422, "nonsense");
    if (job.phase !== "open" || job.bidders.includes(ME)) return wrong(409, "late");
    this.#board.bid(job, ME);
    return { status: 201, body: { volunteer: { no: `V${this.#board.next()}`, quest_no: `Q${job.nr}` } } };
  }

  #turnIn(job: BoardJob | undefined, asked: Asked): Reply {
    const body = members(this.#board, asked, ["fruit"]);
    if (job === undefined || body === undefined) return wrong(422, "nonsense");
    if (job.phase !== "given" || job.givenTo !== ME) return wrong(409, "not_yours");
    this.#board.hand(job, ME, text(body["fruit"]));
    return { status: 200, body: { quest: this.#quest(job) } };
  }

  #register(asked: Asked): Reply {
    const body = members(this.#board, asked, ["callback"]);
    if (body === undefined) return wrong(422, "nonsense");
    this.#hook = { callback: text(body["callback"]) };
    return { status: 201, body: { id: "cb", ...this.#hook } };
  }
}

export const agora: Invented = {
  name: "agora",
  profile: "agora.yaml",
  key: KEY,
  webhookSecret: SECRET,
  least: { comment: 30, like: 20, bid: 8, hand: 8 },
  open: (board, clock, deliver) => new Agora(board, clock, deliver),
  specialist: defineSpecialist({
    handle: ME,
    tier: "pro",
    watch: { feed: { from: "start" }, jobs: { from: "start" } },
    may: ["posts.reply", "posts.vote", "jobs.apply", "jobs.submit"],
    brakes: { repliesPerAuthorPerHour: 100, repliesPerHour: 100 },
    on: {
      "post.created": (post, act) => {
        act.reply(post, `You said "${post.content}" in ${post.id} & I say 1 < 2`);
        act.vote(post);
      },
      "mention.created": (comment, act) => void act.reply(comment, `Because <b> is & remains b, ${comment.id}`),
      "job.listed": (job, act) => void act.apply(job, { message: "I volunteer" }),
      "job.assigned": (job, act) => void act.submit(job, `the fruit of ${job.title}`),
    },
  }),
};

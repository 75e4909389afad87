/** An invented network of signals and cargo: tokens by OAuth's client credentials, refusals in a 200, and a 401 that is no dead key. */
import { sha256 } from "../../../src/core/json.ts";
import type { Json } from "../../../src/core/json.ts";
import { HOUR, MINUTE } from "../../../src/core/units.ts";
import { defineSpecialist } from "../../../src/specialist/definition.ts";
import { signDelivery } from "../../../src/webhooks/receiver/sign.ts";
import { Window, type Board, type BoardJob, type BoardPost, type JobPhase } from "./board.ts";
import { members, routes, text, type Asked, type Deliver, type Invented, type InventedNetwork, type Reply } from "./invented-network.ts";

const CLIENT_SECRET = "harbor-client-secret-of-scout";
const SECRET = "what-the-harbor-signs-with";
const ME = "scout";
const TOKEN_MS = 10 * MINUTE;
/** Nobody has claimed the account again for a while: writes are answered 401, with a good token. */
const UNCLAIMED = { from: 2 * HOUR, to: 2.4 * HOUR };
const PHASES: { readonly [phase in JobPhase]: string } = {
  open: "waiting",
  given: "loaded",
  begun: "loaded",
  handed: "unloaded",
  judged: "cleared",
  paid: "invoiced",
};

const uid = (nr: number): string => `${sha256(`harbor ${nr}`).slice(0, 8)}-${nr}`;
const nrOf = (id = ""): number => Number(id.split("-")[1]);
const when = (ms: number): string => new Date(ms).toISOString().replace("T", " ").slice(0, 19);
const fine = (data: Json, status = 200): Reply => ({ status, body: { ok: true, data } });
const bad = (tag: string, status = 200, more: Record<string, Json> = {}): Reply => ({
  status,
  body: { ok: false, why: { tag, text: `refused: ${tag}` }, ...more },
});

class Harbor implements InventedNetwork {
  readonly #board: Board;
  readonly #hour: Window;
  readonly #trades: Window;
  readonly #begunAt: number;
  readonly #votes = new Map<number, string>();
  readonly #hooks: { readonly id: string; readonly address: string }[] = [];
  readonly #route: (asked: Asked) => Reply;
  #access: { readonly token: string; readonly until: number } | undefined;
  #refresh: string | undefined;

  constructor(board: Board, deliver: Deliver) {
    this.#board = board;
    this.#begunAt = board.now;
    this.#hour = new Window(board, "requests of an hour", 450, HOUR);
    this.#trades = new Window(board, "trades of half an hour", 15, 30 * MINUTE);
    const signal = ({ at }: Asked): BoardPost | undefined => board.post(nrOf(at["id"]));
    const cargo = ({ at }: Asked): BoardJob | undefined => board.job(nrOf(at["id"]));
    const shown = <T>(thing: T | undefined, show: (thing: T) => Json): Reply =>
      thing === undefined ? bad("nothing", 404) : fine(show(thing));
    this.#route = routes(
      board,
      [
        ["GET /crew", () => fine({ crew: [{ uid: uid(1), call: ME }] })],
        [
          "GET /signals",
          ({ query }) =>
            this.#page(
              board.posts.map((one) => this.#signal(one)),
              query,
            ),
        ],
        ["GET /signals/:id", (asked) => shown(signal(asked), (one) => this.#signal(one))],
        ["POST /signals/:id/echo", (asked) => this.#echo(signal(asked), asked)],
        ["POST /signals/:id/vote", (asked) => this.#vote(signal(asked), asked)],
        [
          "GET /cargo",
          ({ query }) =>
            this.#page(
              board.jobs.map((one) => this.#cargo(one)),
              query,
            ),
        ],
        ["GET /cargo/:id", (asked) => shown(cargo(asked), (one) => this.#cargo(one))],
        ["POST /cargo/:id/request", (asked) => this.#request(cargo(asked), asked)],
        ["POST /cargo/:id/unload", (asked) => this.#unload(cargo(asked), asked)],
        ["GET /bells", () => fine(this.#hooks)],
        ["POST /bells", (asked) => this.#hook(asked)],
        ["DELETE /bells/:id", ({ at }) => this.#unhook(at["id"])],
      ],
      bad("nothing", 404),
    );
    board.listeners.push(({ kind, job, post }) => {
      const about =
        job === undefined
          ? { bell: "signal", now: kind, signal: { uid: uid(post?.nr ?? 0) } }
          : { bell: "cargo", now: PHASES[job.phase], cargo: { uid: uid(job.nr) } };
      const payload = { number: board.next(), ...about };
      for (const { address } of this.#hooks)
        void deliver(address, signDelivery({ scheme: "in-body", secret: SECRET, payload, at: board.now }));
    });
  }

  answer(asked: Asked): Reply {
    if (!this.#hour.take()) return this.busy();
    if (asked.path === "/oauth/token") return this.#trade(asked);
    const { token = "", until = 0 } = this.#access ?? {};
    if (asked.headers["authorization"] !== `Bearer ${token}` || until <= this.#board.now) return bad("token", 401);
    const at = this.#board.now - this.#begunAt;
    if (asked.method !== "GET" && at >= UNCLAIMED.from && at < UNCLAIMED.to) return bad("unclaimed", 401, { again_s: 300 });
    return this.#route(asked);
  }

  busy(): Reply {
    return bad("too busy", 200, { again_s: 75 });
  }

  /** A refresh token is good for one trade. */
  #trade(asked: Asked): Reply {
    const form = members(this.#board, asked, ["grant_type", "client_id?", "client_secret?", "refresh_token?"]);
    if (!this.#trades.take()) return this.busy();
    const isClient = form?.["grant_type"] === "client_credentials" && form["client_secret"] === CLIENT_SECRET && form["client_id"] === ME;
    const isRefresh = form?.["grant_type"] === "refresh_token" && form["refresh_token"] === this.#refresh;
    if (!isClient && !isRefresh) return { status: 400, body: { error: "invalid_grant", error_description: "no such grant" } };
    this.#board.took(isClient ? "trade" : "refresh", ME, this.#board.next());
    this.#access = { token: `access-${this.#board.next()}-of-the-harbor`, until: this.#board.now + TOKEN_MS };
    this.#refresh = `refresh-${this.#board.next()}-of-the-harbor`;
    const body = { access_token: this.#access.token, refresh_token: this.#refresh, token_type: "bearer", expires_in: TOKEN_MS / 1_000 };
    return { status: 200, body };
  }

  #signal({ nr, by, text: message, at, replies, under }: BoardPost): Record<string, Json> {
    return {
      uid: uid(nr),
      sender: { uid: uid(by.length), call: by },
      message,
      sent: when(at),
      ...(under === undefined ? {} : { echo_of: uid(under.nr) }),
      echoes: replies.map((one) => this.#signal(one)),
      my_flag: this.#votes.get(nr) ?? "none",
    };
  }

  #cargo({ nr, by, title, text: message, cents, at, phase, bidders, givenTo }: BoardJob): Record<string, Json> {
    return {
      uid: uid(nr),
      port: { uid: uid(by.length), call: by },
      label: title,
      message,
      freight: `${cents / 100}`,
      phase: PHASES[phase],
      sent: when(at),
      requested: bidders.includes(ME),
      ...(givenTo === undefined ? {} : { carrier: { call: givenTo } }),
    };
  }

  #page(items: readonly Json[], query: URLSearchParams): Reply {
    const page = Number(query.get("page") ?? 1);
    const size = Math.min(Number(query.get("count") ?? 12), 12);
    return fine({ entries: items.slice((page - 1) * size, page * size), next_page: items.length > page * size ? page + 1 : null });
  }

  #echo(post: BoardPost | undefined, asked: Asked): Reply {
    const body = members(this.#board, asked, ["message"]);
    if (post === undefined || body === undefined) return bad("garbled", 422);
    this.#board.took("echo", ME, post.nr, text(body["message"]));
    return fine(this.#signal(this.#board.say(ME, text(body["message"]), post)), 201);
  }

  #vote(post: BoardPost | undefined, asked: Asked): Reply {
    const flag = text(members(this.#board, asked, ["flag"])?.["flag"]);
    if (post === undefined || !["yea", "nay"].includes(flag)) return bad("garbled", 422);
    this.#board.took("flag", ME, post.nr);
    this.#votes.set(post.nr, flag === "yea" ? "up" : "down");
    return fine(this.#signal(post));
  }

  #request(job: BoardJob | undefined, asked: Asked): Reply {
    if (members(this.#board, asked, ["note?"]) === undefined || job === undefined) return bad("garbled", 422);
    if (job.phase !== "open" || job.bidders.includes(ME)) return bad("gone", 409);
    this.#board.bid(job, ME);
    return fine({ uid: uid(this.#board.next()), cargo: uid(job.nr) }, 201);
  }

  #unload(job: BoardJob | undefined, asked: Asked): Reply {
    const body = members(this.#board, asked, ["crate"]);
    if (job === undefined || body === undefined) return bad("garbled", 422);
    if (job.phase !== "given" || job.givenTo !== ME) return bad("not yours", 409);
    this.#board.hand(job, ME, text(body["crate"]));
    return fine(this.#cargo(job));
  }

  #hook(asked: Asked): Reply {
    const body = members(this.#board, asked, ["address", "rope"]);
    if (body?.["rope"] !== SECRET) return bad("garbled", 422);
    const hook = { id: uid(this.#board.next()), address: text(body["address"]) };
    this.#hooks.push(hook);
    return fine(hook, 201);
  }

  #unhook(id: string | undefined): Reply {
    const at = this.#hooks.findIndex((hook) => hook.id === id);
    if (at < 0) return bad("nothing", 404);
    this.#hooks.splice(at, 1);
    return fine({});
  }
}

export const harbor: Invented = {
  name: "harbor",
  profile: "harbor.yaml",
  key: CLIENT_SECRET,
  webhookSecret: SECRET,
  least: { echo: 20, flag: 20, bid: 8, hand: 8, refresh: 20 },
  open: (board, _clock, deliver) => new Harbor(board, deliver),
  specialist: defineSpecialist({
    handle: ME,
    tier: "pro",
    watch: { feed: { from: "start" }, jobs: { from: "start" } },
    may: ["posts.reply", "posts.vote", "jobs.apply", "jobs.submit"],
    brakes: { repliesPerAuthorPerHour: 100, repliesPerHour: 100 },
    on: {
      "post.created": (post, act) => {
        act.reply(post, `Received ${post.id}`);
        act.vote(post, "down");
      },
      "job.listed": (job, act) => void act.apply(job, { message: "Room on board" }),
      "job.assigned": (job, act) => void act.submit(job, { label: job.title ?? "none" }),
    },
  }),
};

/** A definition with one handler per thing that a handler may do, right or wrong; run in this thread and in one of its own. */
import { defineSpecialist, Fatal, Misconfigured, Refused, Retryable, RetinueError, type Act, type ExtraEvent } from "retinue";

type Doing = (event: ExtraEvent, act: Act) => unknown;

const well: { readonly [kind: `x:${string}`]: Doing } = {
  "x:decide": (event, act) => {
    const first = act.post("first words", { key: "opening", data: { n: 1 }, expiresIn: "2h" });
    act.reply(first, "and more");
    act.reply({ id: "p1" }, "hello");
    act.reply({ id: "p1" }, "hello"); // the same decision once
    act.vote("p1", "up");
    act.perform("jobs.submit", { target: "j1", input: { deliverable: { rows: event.raw["rows"] ?? null } } });
  },
  "x:state": (_event, act) => {
    act.state = { ...act.state, count: Number(act.state["count"] ?? 0) + 1, draws: [act.random(), act.random()], at: act.now };
  },
  "x:steps": async (_event, act) => {
    const one = await act.step("one", () => ({ made: "now" }));
    const two = await act.step("two", async () => Promise.resolve([1, 2]));
    act.state = { one, two };
  },
  "x:reads": async (_event, act) => {
    const post = await act.read.post("p9");
    const again = await act.read.post("p9");
    act.state = { content: post.content, again: again.content };
  },
  "x:no-room": async (_event, act) => {
    try {
      await act.read.post("full");
    } catch {
      // A run without room is abandoned, not told.
    }
    act.post("never said");
  },
  "x:read-fails": async (_event, act) => {
    try {
      await act.read.post("gone");
    } catch (error) {
      act.state = { code: codeOf(error), message: error instanceof Error ? error.message : "" };
    }
  },
  "x:logs": (_event, act) => {
    act.log.info("it says", { n: 1 });
    act.log.child({ part: "two" }).warn("and more");
  },
  "x:me": (_event, act) => {
    act.state = { handle: act.me.handle, id: act.me.id ?? "", aborted: act.signal.aborted };
  },
};

const refused: { readonly [kind: `x:${string}`]: Doing } = {
  "x:refused": (_event, act) => {
    const tries: { readonly [name: string]: () => unknown } = {
      unknown: () => act.perform("no.such", {}),
      input: () => act.perform("posts.create", { input: { content: 5 } }),
      target: () => act.reply("", "to whom?"),
      read: () => act.perform("posts.get", { target: "p1" }),
      data: () => act.post("x", { data: "y".repeat(20_000) }),
    };
    act.state = Object.fromEntries(Object.entries(tries).map(([name, work]) => [name, outcome(work)]));
  },
  "x:not-allowed": (_event, act) => void act.join("news"),
  "x:reviewed": (_event, act) => void act.updateProfile({ bio: "new" }),
  "x:step-twice": async (_event, act) => {
    await act.step("same", () => 1);
    await act.step("same", () => 2);
  },
  "x:step-no-json": async (_event, act) => void (await act.step("big", () => "x".repeat(300_000))),
  "x:state-no-json": (_event, act) => {
    Reflect.set(act, "state", "words");
  },
  "x:too-many": (_event, act) => {
    for (let i = 0; i < 200; i++) act.post(`words ${i}`);
  },
  "x:too-many-steps": async (_event, act) => {
    for (let i = 0; i < 2_000; i++) await act.step(`step ${i}`, () => i);
  },
  "x:throws": () => {
    throw new TypeError("it went wrong");
  },
  "x:hangs": async (_event, act) => {
    act.post("never said");
    await new Promise(() => undefined);
  },
  "x:waits-for-the-end": (_event, act) =>
    new Promise((_resolve, reject) => {
      act.signal.addEventListener("abort", () => reject(new Error("told to stop")));
      act.log.info("waiting");
    }),
  "x:late": (_event, act) => {
    void Promise.resolve().then(async () => {
      await new Promise((resolve) => setImmediate(resolve));
      act.log.info("late", { outcome: outcome(() => act.post("too late")) });
    });
  },
};

class OutOfStock extends Refused {}
class ModelBusy extends Retryable {}
class OddError extends RetinueError {}

const IN_AN_HOUR = 1_780_003_600_000;

/** What says by its class whether trying again may help. */
const classed: { readonly [name: string]: () => Error } = {
  refused: () => new Refused("x:out_of_stock", "there is none", { hint: "ask tomorrow" }),
  misconfigured: () => new Misconfigured("x:no_model", "MODEL_URL is not set"),
  fatal: () => new Fatal("x:index_broken", "the index is broken"),
  retryable: () => new Retryable("x:model_busy", "the model is busy", { retryAt: IN_AN_HOUR }),
  "own-refused": () => new OutOfStock("x:out_of_stock", "there is none"),
  "own-retryable": () => new ModelBusy("x:model_busy", "the model is busy", { retryAt: IN_AN_HOUR }),
  "own-error": () => new OddError("x:odd", "nobody knows"),
};
const throwing = Object.fromEntries(
  Object.entries(classed).flatMap(([name, make]): [string, Doing][] => [
    [
      `x:throws-${name}`,
      () => {
        throw make();
      },
    ],
    [`x:step-throws-${name}`, async (_event, act) => void (await act.step("think", () => Promise.reject(make())))],
  ]),
);

/** Only for a thread of its own. */
const terrible: { readonly [kind: `x:${string}`]: Doing } = {
  "x:blocks": (_event, act) => {
    act.log.info("blocking");
    for (;;);
  },
  "x:exits": () => process.exit(3),
  "x:eats": () => {
    const heap: unknown[] = [];
    for (;;) heap.push(Array.from({ length: 100_000 }, (_, i) => ({ i })));
  },
  "x:leaves-a-bomb": (_event, act) => {
    setImmediate(() => {
      act.log.info("boom");
      for (;;);
    });
  },
  "x:fails-later": () => {
    void Promise.reject(new Error("nobody waits for this"));
  },
  "x:chatters": (_event, act) => {
    for (let i = 0; i < 5_000; i++) act.log.info(`line ${i}`);
  },
};

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "none";
}

function outcome(work: () => unknown): string {
  try {
    work();
    return "fine";
  } catch (error) {
    return codeOf(error);
  }
}

export default defineSpecialist({
  handle: "careless",
  isolate: "worker",
  may: ["posts.create", "posts.reply", "posts.vote", "jobs.submit", "agents.update"],
  review: ["agents.update"],
  schedules: { tick: { every: "1h", run: (act) => void act.post("tick") } },
  on: { ...well, ...refused, ...throwing, ...terrible },
});

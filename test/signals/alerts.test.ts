/** Alerts: each matter once, those of one moment together, stored and tried until they are taken; a target that hangs holds up nothing. */
import { expect, onTestFinished, test } from "vitest";
import type { Transport, WireRequest } from "../../src/client/transport.ts";
import { openEnvironment } from "../../src/config/environment.ts";
import { sleep } from "../../src/core/clock.ts";
import { createAnnouncer } from "../../src/core/events.ts";
import { isObject, parseJson, type JsonObject } from "../../src/core/json.ts";
import { createLogger, type LogLine } from "../../src/core/log.ts";
import { Scrubber } from "../../src/core/scrubber.ts";
import { Secret } from "../../src/core/secret.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../../src/core/units.ts";
import { Fatal } from "../../src/core/errors.ts";
import { showStatus, statusOfLost, type Snapshot } from "../../src/guardian/status.ts";
import { openAlerts, type AlertOptions, type Alerts } from "../../src/signals/alerts.ts";
import { desk, SCOUT, type Desk } from "../harness/guardian-over-store.ts";

const ROOT = import.meta.dirname;
const TAKEN = { kind: "answer", status: 200, headers: {}, text: "", elapsedMs: 1 } as const;
const FAILED = { kind: "never-left", reason: "connection refused" } as const;
const URL_A = "https://a.example.com/hook";
const URL_B = "https://b.example.com/hook";

interface Sent {
  /** Since the first opening. */
  readonly at: number;
  readonly origin: string;
  readonly alert: JsonObject;
}

function alerting(
  here: Desk,
  over: Partial<AlertOptions> = {},
  answer: (request: WireRequest) => ReturnType<Transport> = async () => TAKEN,
) {
  const { clock, store, on } = here;
  const began = clock.now();
  const sent: Sent[] = [];
  const lines: LogLine[] = [];
  const announcer = createAnnouncer();
  let ids = 0;
  const options: AlertOptions = {
    to: [{ url: URL_A }],
    link: "https://bots.example.com",
    clock,
    store,
    announcer,
    status: () => showStatus({ store, clock }),
    log: createLogger({ level: "debug", now: () => clock.now(), sink: (line) => lines.push(line) }),
    environment: openEnvironment({ cwd: ROOT, variables: {} }),
    cwd: ROOT,
    scrubber: new Scrubber(),
    newId: () => `a${++ids}`,
    send(request) {
      const alert = parseJson(request.body ?? "");
      sent.push({ at: clock.now() - began, origin: request.origin, alert: isObject(alert) ? alert : {} });
      return answer(request);
    },
    ...over,
  };
  return {
    sent,
    lines,
    announcer,
    async open(changes: Partial<AlertOptions> = {}): Promise<Alerts> {
      const alerts = await on(openAlerts({ ...options, ...changes }));
      let closed: Promise<void> | undefined;
      const close: Alerts["close"] = (how) => (closed ??= on(alerts.close(how)));
      onTestFinished(() => close({ isLost: false }));
      return { close };
    },
  };
}

const halt = ({ store, clock, on }: Desk): Promise<unknown> => on(store.stop("halt", "*", "a look first", clock.now()));
const keysOf = ({ alert }: Sent): readonly unknown[] =>
  Array.isArray(alert["matters"]) ? alert["matters"].map((one) => (isObject(one) ? one["key"] : one)) : [];

test("matters of one moment are one alert, and none is repeated", async () => {
  const here = desk();
  const { sent, announcer, open } = alerting(here);
  await open();
  for (let n = 0; n < 30; n++) {
    await here.parked(`post.created:p${n}`, "no model");
    announcer.emit("parked", { at: here.clock.now(), handle: "scout", code: "x", message: "y" });
  }
  await halt(here);
  await here.clock.advance(10 * SECOND);
  expect(sent).toMatchObject([{ at: 5 * SECOND, alert: { id: "a1", total: 31, link: "https://bots.example.com" } }]);
  await here.clock.advance(DAY);
  expect(sent).toHaveLength(1);
});

test("of two processes one tells, and the other goes on when that is gone, without telling anything twice", async () => {
  const here = desk();
  const { sent, open } = alerting(here);
  let first = "one";
  await halt(here);
  const one = await open({ term: () => (first === "one" ? 1 : undefined) });
  await open({ term: () => (first === "two" ? 1 : undefined) });
  await here.clock.advance(2 * MINUTE);
  expect(sent).toHaveLength(1);
  await one.close({ isLost: false });
  first = "two";
  await here.clock.advance(2 * MINUTE);
  expect(sent).toHaveLength(1);
  await here.parked("post.created:p1", "no model");
  await here.clock.advance(2 * MINUTE);
  expect(sent.map(keysOf).map((keys) => keys.length)).toEqual([1, 1]);
});

test("a process that was stopped while another told people tells nothing twice, and sends nothing out of turn", async () => {
  const here = desk();
  let works = false;
  const { sent, open } = alerting(here, {}, async () => (works ? TAKEN : FAILED));
  const terms: { one: number | undefined; two: number | undefined } = { one: 1, two: undefined };
  await halt(here);
  await open({ term: () => terms.one });
  await open({ term: () => terms.two });
  await here.clock.advance(10 * SECOND);
  expect(sent).toHaveLength(1); // refused: it waits
  [terms.one, terms.two, works] = [undefined, 1, true];
  await here.clock.advance(2 * MINUTE);
  expect(sent.map(({ alert }) => alert["id"])).toEqual(["a1", "a1"]);
  await here.parked("post.created:p1", "no model");
  await here.clock.advance(2 * MINUTE);
  expect(sent).toHaveLength(3);
  [terms.one, terms.two] = [2, undefined];
  await here.clock.advance(DAY);
  expect(sent).toHaveLength(3);
});

test("one that tells people only while no server answers tells of each time", async () => {
  const here = desk();
  let isAway = false;
  const store = {
    ...here.store,
    networkState: () => (isAway ? Promise.reject(new Error("no server answers")) : here.store.networkState()),
  };
  const status = async (): Promise<Snapshot> =>
    statusOfLost({ at: here.clock.now(), running: undefined, storeLost: { message: "no server answers" }, unkept: [] });
  const { sent, open } = alerting(here, { store, status, term: () => (isAway ? 1 : undefined) });
  await open();
  const outage = async (): Promise<void> => {
    isAway = true;
    await here.clock.advance(2 * MINUTE);
    isAway = false;
    await here.clock.advance(2 * MINUTE);
  };
  await outage();
  expect(sent.map(keysOf)).toEqual([["store_lost"]]);
  await outage(); // soon after: the same matter
  expect(sent).toHaveLength(1);
  await here.clock.advance(15 * MINUTE);
  await outage();
  expect(sent.map(keysOf)).toEqual([["store_lost"], ["store_lost"]]);
});

test("an alert of one that tells people only while no server answers is tried again when others tell them", async () => {
  const here = desk();
  let [isAway, works] = [true, false];
  const store = { ...here.store, networkState: () => (isAway ? Promise.reject(new Error("no server")) : here.store.networkState()) };
  const status = async (): Promise<Snapshot> =>
    statusOfLost({ at: here.clock.now(), running: undefined, storeLost: { message: "no server" }, unkept: [] });
  const { sent, lines, open } = alerting(here, { store, status, term: () => (isAway ? 1 : undefined) }, async () =>
    works ? TAKEN : FAILED,
  );
  isAway = false;
  await open();
  isAway = true;
  await here.clock.advance(10 * SECOND);
  expect(sent).toHaveLength(1);
  isAway = false;
  works = true;
  await here.clock.advance(DAY);
  expect(sent.map(({ alert }) => alert["id"])).toEqual(["a1", "a1"]);
  expect(lines.filter(({ message }) => message.includes("is tried again"))).toHaveLength(1);
});

test("matters that come soon after an alert are gathered for a minute", async () => {
  const here = desk();
  const { sent, announcer, open } = alerting(here);
  await halt(here);
  await open();
  await here.clock.advance(5 * SECOND);
  for (let n = 0; n < 3; n++) {
    await here.parked(`post.created:p${n}`, "no model");
    announcer.emit("parked", { at: here.clock.now(), handle: "scout", code: "x", message: "y" });
    await here.clock.advance(10 * SECOND);
  }
  expect(sent).toHaveLength(1);
  await here.clock.advance(2 * MINUTE);
  expect(sent.map(({ alert }) => alert["total"])).toEqual([1, 3]);
});

test("an alert that is not taken is tried again after growing pauses, and after a restart with the same id", async () => {
  const here = desk();
  let works = false;
  const { sent, lines, open } = alerting(here, {}, async () => (works ? TAKEN : FAILED));
  await halt(here);
  const first = await open();
  await here.clock.advance(10 * MINUTE);
  const pauses = sent.slice(1).map(({ at }, i) => Math.round((at - (sent[i]?.at ?? 0)) / SECOND));
  expect(pauses).toEqual([30, 60, 120, 240]);
  expect(lines[0]).toMatchObject({ level: "warn", fields: { target: "https://a.example.com", message: "connection refused", tries: 1 } });
  await first.close({ isLost: false });
  works = true;
  const before = sent.length;
  await open();
  await here.clock.advance(10 * SECOND);
  expect(sent.slice(before).map(({ alert }) => alert["id"])).toEqual(["a1"]);
  await here.clock.advance(HOUR);
  expect(sent).toHaveLength(before + 1);
});

test("an alert that nobody takes for a day is dropped, and the log has its text", async () => {
  const here = desk();
  const { lines, open } = alerting(here, {}, async () => FAILED);
  await halt(here);
  await open();
  await here.clock.advance(DAY + 2 * HOUR);
  expect(lines.find(({ level }) => level === "error")?.fields).toMatchObject({
    targets: ["https://a.example.com"],
    text: expect.stringContaining("Nobody writes"),
  });
});

test.each([
  ["back by a day", -DAY],
  ["ahead by a year", 365 * DAY],
])("a clock set %s delays no alert and drops none", async (_name, jumpMs) => {
  const here = desk();
  let ahead = 0;
  const clock = { ...here.clock, now: () => here.clock.now() + ahead };
  let takes = false;
  const { sent, lines, open } = alerting(here, { clock }, async () => (takes ? TAKEN : FAILED));
  await halt(here);
  await open();
  await here.clock.advance(MINUTE);
  expect(sent.length).toBeGreaterThan(0); // tried, and to be tried again
  ahead = jumpMs;
  takes = true;
  await here.on(here.store.stop("pause", "scout", "later", clock.now()));
  await here.on(here.store.stop("halt", "scout", "later", clock.now()));
  const before = sent.length;
  await here.clock.advance(5 * MINUTE);
  expect(sent.slice(before).flatMap(keysOf)).toEqual(expect.arrayContaining(["halt:*", "halt:scout"]));
  expect(lines.filter(({ level }) => level === "error")).toEqual([]);
});

test("matters beyond the listed ones are told by number, each once, also when they are listed later", async () => {
  const here = desk();
  const { sent, open } = alerting(here);
  const park = async (from: number, to: number): Promise<void> => {
    for (let i = from; i < to; i++) await here.parked(`p${String(i).padStart(3, "0")}`, "a person should look");
  };
  await park(0, 150);
  await open();
  await here.clock.advance(MINUTE);
  expect(sent.map(({ alert }) => alert["total"])).toEqual([150]);
  await park(150, 170);
  await here.clock.advance(3 * MINUTE);
  expect(sent.slice(1).map(({ alert }) => alert["total"])).toEqual([20]);
  for (let i = 0; i < 120; i++) await here.on(here.store.unparkEvent(SCOUT, `p${String(i).padStart(3, "0")}`, here.clock.now()));
  await here.clock.advance(5 * MINUTE);
  expect(sent).toHaveLength(2);
});

test("a target that hangs holds up no other target, and no look", async () => {
  const here = desk();
  const { clock } = here;
  const { sent, open } = alerting(here, { to: [{ url: URL_A }, { url: URL_B }] }, async ({ origin, deadlineMs }) => {
    if (!URL_A.startsWith(origin)) return TAKEN;
    await new Promise<void>((resolve) => void clock.after(deadlineMs, resolve));
    return { kind: "unknown", reason: "no answer within its deadline" };
  });
  await halt(here);
  await open();
  await clock.advance(6 * SECOND);
  await here.parked("post.created:p1", "no model");
  await clock.advance(2 * MINUTE);
  const ofB = sent.filter(({ origin }) => URL_B.startsWith(origin));
  expect(ofB.map(keysOf)).toEqual([["halt:*"], ["parked:post.created:p1:scout"]]);
  const ofA = sent.filter(({ origin }) => URL_A.startsWith(origin)).map(({ at }) => at);
  expect(Math.min(...ofA.slice(1).map((at, i) => at - (ofA[i] ?? 0)))).toBeGreaterThanOrEqual(10 * SECOND);
});

test("a matter that ended and comes again later is a new one", async () => {
  const here = desk();
  const { sent, open } = alerting(here);
  await open();
  for (let n = 0; n < 2; n++) {
    await halt(here);
    await here.clock.advance(2 * MINUTE);
    await here.on(here.store.lift("halt", "*"));
    await here.clock.advance(20 * MINUTE);
  }
  expect(sent.map(keysOf)).toEqual([["halt:*"], ["halt:*"]]);
});

test("a lost store is told before the process ends, though nothing can be stored", async () => {
  const here = desk();
  const lost = new Fatal("store_lost", "the disk is full");
  const store: AlertOptions["store"] = { networkState: async () => [], saveNetworkState: () => Promise.reject(lost) };
  const status = async () => ({ ...(await showStatus(here)), storeLost: { message: lost.message } });
  const { sent, lines, open } = alerting(here, { store, status });
  const alerts = await open();
  await alerts.close({ isLost: true });
  expect(sent.map(keysOf)).toEqual([["store_lost"]]);
  expect(lines.map(({ message }) => message)).toContain("the state of the alerts could not be stored");
});

test("a status that cannot be read is logged, and looked for again", async () => {
  const here = desk();
  let fails = true;
  const status = () => (fails ? Promise.reject(new Error("the disk is slow")) : showStatus(here));
  const { sent, lines, open } = alerting(here, { status });
  await halt(here);
  await open();
  await here.clock.advance(10 * SECOND);
  expect(lines).toMatchObject([{ level: "warn", fields: { message: "the disk is slow" } }]);
  fails = false;
  await here.clock.advance(2 * MINUTE);
  expect(sent).toHaveLength(1);
});

test("a status that waits long for a silent process delays no later alert by minutes", async () => {
  const here = desk();
  const status = async (): Promise<Snapshot> => {
    await sleep(here.clock, 10 * SECOND);
    return showStatus(here);
  };
  const { sent, announcer, open } = alerting(here, { status });
  await open();
  await here.clock.advance(20 * SECOND);
  await here.parked("post.created:p1", "no model");
  announcer.emit("parked", { at: here.clock.now(), handle: "scout", code: "x", message: "y" });
  await here.clock.advance(MINUTE);
  expect(sent).toHaveLength(1);
});

test("no alert and no stored state of one holds a secret", async () => {
  const here = desk();
  const canary = "canary-of-a-secret-0123456789";
  const scrubber = new Scrubber();
  scrubber.add(new Secret(canary));
  const { sent, open } = alerting(here, { scrubber }, async () => FAILED);
  await here.parked("post.created:p1", `the network said ${canary}`);
  await open();
  await here.clock.advance(10 * SECOND);
  expect(sent).toHaveLength(1);
  expect(JSON.stringify(sent)).not.toContain(canary);
  expect(JSON.stringify(await here.on(here.store.networkState()))).not.toContain(canary);
});

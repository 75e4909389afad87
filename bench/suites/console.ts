/** The console: what open pages cost the engine, how soon the first view and an event are on a page, and what the page weighs. */
import { globSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { gzipSync } from "node:zlib";
import sparticuz from "@sparticuz/chromium";
import { chromium, type Browser, type Page } from "playwright-core";
import { buildPage } from "../../scripts/build-page.ts";
import { openDatabase } from "../../src/store/sqlite/database.ts";
import { githubRequest } from "../harness/deliveries.ts";
import { drive } from "../harness/load.ts";
import { startRunCommand, type RunSubject } from "../harness/run-command.ts";
import { shippedSaid } from "../harness/shipped.ts";
import { openSink } from "../harness/sink.ts";
import { figure, percentile, summarise } from "../harness/stats.ts";
import { startSubject } from "../harness/subject.ts";
import { goal, inTurns, type BenchContext, type Suite } from "../harness/suite.ts";

const TOKEN = "a-token-of-the-bench";
const VIEWERS = [0, 1, 10] as const;
/** As shipped, each key's requests are 50 ms apart: with so many keys that is no limit here. */
const SPECIALISTS = 256;
const IN_FLIGHT = 16;
const WARM_UP = 5_000;
const EVENTS = 20_000;
const LATEST_MS = 60_000;
/** The store that is looked at first. */
const CROWD = 1_000;
const LOG_ROWS = 1_000_000;
const VIEWS = 15;
const SHOWN_EVENTS = 60;
const MOST_MS = 10_000;

const root = join(import.meta.dirname, "../..");

export const suite: Suite = {
  name: "console",
  title: "The console: open pages beside the engine",
  repeats: inTurns,
  async run(context) {
    const folder = join(root, "dist/console-page");
    await buildPage(folder);
    const seen = new Map<number, { perSecond: number; cpuMs: number; reads: number }[]>();
    for (let run = 0; run < context.runs; run++)
      for (const viewers of VIEWERS) {
        const one = await effectsBeside(viewers, { ...context, folder: join(context.folder, `effects-${run}-${viewers}`) });
        seen.set(viewers, [...(seen.get(viewers) ?? []), one]);
        context.progress(`${viewers} viewers: ${figure(one.perSecond)} effects/s, ${figure(one.cpuMs)} ms of processor an event`);
      }
    const of = (viewers: number, what: "perSecond" | "cpuMs" | "reads"): number =>
      summarise((seen.get(viewers) ?? []).map((one) => one[what])).median;
    const share = (viewers: number): number => of(viewers, "perSecond") / of(0, "perSecond");
    const views = await inBrowser(context);
    context.progress(
      `first view ${figure(percentile(views.firstMs, 50))} ms; event on the page p95 ${figure(percentile(views.eventMs, 95))} ms`,
    );
    const kb =
      globSync("**/*.{js,css,html,svg}", { cwd: folder }).reduce(
        (sum, file) => sum + gzipSync(readFileSync(join(folder, file))).length,
        0,
      ) / 1_024;
    return {
      columns: [
        "",
        "effects/s",
        "CPU ms/event",
        "reads of pages",
        "first view p50 / p95 ms",
        "event on the page p50 / p95 ms",
        "assets, KB compressed",
      ],
      rows: [
        ...VIEWERS.map((viewers) => [
          named(viewers),
          figure(of(viewers, "perSecond")),
          figure(of(viewers, "cpuMs")),
          figure(of(viewers, "reads")),
          "",
          "",
          "",
        ]),
        ["a page in Chromium", "", "", "", both(views.firstMs), both(views.eventMs), figure(kb)],
      ],
      conditions: [
        `Effects: \`retinue run\` with ${SPECIALISTS} files of specialists and its output read, ${IN_FLIGHT} deliveries in flight. The pages of a row are streams of changes in one process of their own, which read the first view again at each change, at most four times a second.`,
        `The first view: Chromium with an empty cache and an open session, from the request for the page to the list of matters on it, over a store of ${CROWD.toLocaleString("en")} specialists and ${LOG_ROWS.toLocaleString("en")} confirmed actions. Events: from the delivery's first byte to the line of the action in the open log.`,
        "Browser, sender and network share the machine's cores with the runtime.",
        shippedSaid(),
      ],
      plots: [{ title: "Effects a second", better: "more", column: "effects/s" }],
      goals: [
        goal("effects/s with one viewer, beside none", { least: 0.97 }, share(1), " ×"),
        goal("effects/s with ten viewers, beside none", { least: 0.9 }, share(10), " ×"),
        goal("first view, p50", { most: 300 }, percentile(views.firstMs, 50), " ms"),
        goal("event on the page, p95", { most: 500 }, percentile(views.eventMs, 95), " ms"),
        goal("assets, compressed", { most: 100 }, kb, " KB"),
      ],
      ratios: { "effects/s with one viewer ÷ none": share(1), "effects/s with ten viewers ÷ none": share(10) },
    };
  },
};

const named = (viewers: number): string => (viewers === 0 ? "no page open" : viewers === 1 ? "one page open" : `${viewers} pages open`);
const both = (tookMs: readonly number[]): string => `${figure(percentile(tookMs, 50))} / ${figure(percentile(tookMs, 95))}`;

async function effectsBeside(viewers: number, context: BenchContext): Promise<{ perSecond: number; cpuMs: number; reads: number }> {
  const total = context.quick ? 500 : EVENTS;
  const warmUp = context.quick ? 200 : WARM_UP;
  let done = 0;
  let arrived: () => void = () => undefined;
  const sink = await openSink({ onEffect: () => (done++, arrived()) });
  const subject = await startRunCommand({ folder: context.folder, sink: sink.port, specialists: SPECIALISTS, consoleToken: TOKEN });
  try {
    const watching = await startSubject("viewers.js", { url: subject.consoleUrl, token: TOKEN, count: viewers }, "peer");
    try {
      const part = async (from: number, to: number): Promise<number> => {
        const requests = Array.from({ length: to - from }, (_, n) => githubRequest(from + n, { specialists: SPECIALISTS }));
        const over = new Promise<void>((resolve, reject) => {
          const late = setTimeout(() => reject(new Error(`${to - done} effects did not come: ${subject.said()}`)), LATEST_MS);
          arrived = () => void (done >= to && (clearTimeout(late), resolve()));
        });
        const began = performance.now();
        await drive({ port: subject.port, total: requests.length, requests, inFlight: IN_FLIGHT, onSent: () => undefined });
        await over;
        return performance.now() - began;
      };
      await part(0, warmUp);
      const before = await subject.usage();
      const tookMs = await part(warmUp, warmUp + total);
      const { cpuMs } = await subject.usage();
      const { reads } = (await watching.ask("reads")) as { readonly reads: number };
      return { perSecond: (total / tookMs) * 1_000, cpuMs: (cpuMs - before.cpuMs) / total, reads };
    } finally {
      await watching.kill();
    }
  } finally {
    await subject.stop();
    await sink.close();
  }
}

interface Views {
  readonly firstMs: readonly number[];
  readonly eventMs: readonly number[];
}

async function inBrowser(context: BenchContext): Promise<Views> {
  const specialists = context.quick ? 20 : CROWD;
  const folder = join(context.folder, "views");
  const sink = await openSink({ onEffect: () => undefined });
  mkdirSync(folder, { recursive: true });
  fill(join(folder, "store.sqlite"), specialists, context.quick ? 10_000 : LOG_ROWS);
  const subject = await startRunCommand({ folder, sink: sink.port, specialists, consoleToken: TOKEN });
  const executablePath = process.env["RETINUE_TEST_CHROMIUM"] ?? (await sparticuz.executablePath());
  const browser = await chromium.launch({
    executablePath,
    args: sparticuz.args.filter((one) => one !== "--single-process"),
    headless: true,
  });
  try {
    return {
      firstMs: await firstViews(browser, subject, context.quick ? 2 : VIEWS),
      eventMs: await eventsOn(browser, subject, specialists, context.quick ? 3 : SHOWN_EVENTS),
    };
  } finally {
    await browser.close();
    await subject.stop();
    await sink.close();
  }
}

/** A window with an open session. */
async function opened(browser: Browser, { consoleUrl = "" }: RunSubject): Promise<Page> {
  const page = await (await browser.newContext({ viewport: { width: 1_280, height: 900 } })).newPage();
  page.setDefaultTimeout(LATEST_MS);
  await page.goto(consoleUrl);
  await page.getByLabel("Token").fill(TOKEN);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByRole("heading", { name: "Needs you" }).waitFor();
  return page;
}

async function firstViews(browser: Browser, subject: RunSubject, views: number): Promise<number[]> {
  const state = await (await opened(browser, subject)).context().storageState();
  const tookMs: number[] = [];
  for (let view = 0; view < views; view++) {
    const window = await browser.newContext({ storageState: state, viewport: { width: 1_280, height: 900 } });
    const page = await window.newPage();
    await page.goto("about:blank");
    await page.goto(subject.consoleUrl ?? "", { waitUntil: "commit" });
    await page
      .getByText(/Nothing needs you|of [0-9,]+ are listed/)
      .or(page.locator(".card").first())
      .first()
      .waitFor();
    // The page's own clock, from the begin of its navigation: a frame later than the list is there.
    tookMs.push(Number(await page.evaluate("new Promise((done) => requestAnimationFrame(() => done(performance.now())))")));
    await window.close();
  }
  return tookMs;
}

async function eventsOn(browser: Browser, subject: RunSubject, specialists: number, events: number): Promise<number[]> {
  const page = await opened(browser, subject);
  await page.goto(`${subject.consoleUrl}/#/log`);
  await page.locator(".entry").first().waitFor();
  const tookMs: number[] = [];
  for (let n = 0; n < events; n++) {
    const event = 500_000 + n * 7;
    const shown = page.evaluate(`new Promise((done) => {
      const look = () => document.body.textContent.includes("thanks e${event}") ? done(Date.now()) : setTimeout(look, 5);
      setTimeout(() => done(undefined), ${MOST_MS});
      look();
    })`);
    const sentAt = Date.now();
    await drive({ port: subject.port, total: 1, requests: [githubRequest(event, { specialists })], inFlight: 1, onSent: () => undefined });
    const at = await shown;
    tookMs.push(typeof at === "number" ? at - sentAt : MOST_MS);
    await new Promise((resolve) => setTimeout(resolve, 150 + ((n * 97) % 500)));
  }
  return tookMs;
}

/** Fills a store with confirmed actions of the last ten days. */
function fill(path: string, specialists: number, rows: number): void {
  openDatabase(path).close();
  const db = new DatabaseSync(path);
  const from = Date.now() - 10 * 86_400_000;
  const at = `${from} + (i * ${Math.floor((9 * 86_400_000) / rows)})`;
  const many = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})`;
  db.exec(`
    PRAGMA synchronous = OFF;
    ${many} INSERT INTO event (seq, specialist, id, kind, thread, payload, via, created_at)
      SELECT 5 * i, 's' || (i % ${specialists}), 'post.created:old' || i, 'post.created', 'old' || i, '{}', 'poll', ${at} FROM n;
    ${many} INSERT INTO run (seq, event, specialist, at) SELECT 5 * i + 1, 5 * i, 's' || (i % ${specialists}), ${at} FROM n;
    ${many} INSERT INTO intent (seq, id, specialist, event_seq, ordinal, operation, target, input, effect, lane, conflict_key, state, attempt, sent_at, created_ref, created_at, settled_at, last)
      SELECT 5 * i + 2, 'old' || i, 's' || (i % ${specialists}), 5 * i, 0, 'posts.reply', 'old' || i, '{"content":"thanks old' || i || '"}', 'reconciled', 'reply',
        's' || (i % ${specialists}) || '|posts.reply|old' || i, 'confirmed', 1, ${at}, 'r' || i, ${at}, ${at}, 5 * i + 4 FROM n;
    ${many} INSERT INTO attempt (seq, specialist, key_id, operation, lane, cost, at, deadline_at)
      SELECT 5 * i + 3, 's' || (i % ${specialists}), 'key-' || (i % ${specialists}), 'posts.reply', 'reply', 1, ${at}, ${at} FROM n;
    ${many} INSERT INTO answer (seq, attempt, at, outcome) SELECT 5 * i + 4, 5 * i + 3, ${at}, 'confirmed' FROM n;
    UPDATE mark SET seq = 5 * ${rows} + 4, quota = 5 * ${rows} + 4;
    ANALYZE;
  `);
  db.close();
}

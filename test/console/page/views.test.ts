/** The console's page in a browser: every view, from states that no real runtime can be brought to at will. */
import { globSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Page as Tab } from "playwright-core";
import { expect, test } from "vitest";
import { SECOND } from "../../../src/core/units.ts";
import { SOON, useBrowser } from "../../harness/browser.ts";
import { approval, busyWeek, HASH, needsOf, specialist } from "../../harness/page-answers.ts";
import { openDesk } from "../../harness/page-desk.ts";
import { JOBS, STANDING } from "../../harness/page-jobs.ts";
import { faultsOf, OF_COLOURS, opened, VIEWS } from "../../harness/page-views.ts";
import { FORGED, HOSTILE, poisoned, steered } from "../../harness/hostile.ts";
import { PAGE_FOLDER } from "../../harness/present-page.ts";

const PHONE = { width: 360, height: 740 };
const MAX_ASSETS = 100_000;
const PICTURES = join(import.meta.dirname, "../../../docs/console");
const MAX_PICTURE = 100_000;

const open = useBrowser();

const overflowOf = (tab: Tab): Promise<number> => tab.evaluate("document.documentElement.scrollWidth - window.innerWidth");

/** Lets seconds of the tab's own clock pass one by one, so that requests fail between them. */
async function passing(tab: Tab, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second++) await tab.clock.runFor(SECOND);
}

test("the assets take at most 100 KB compressed, and have the licences of what is bundled beside them", () => {
  const files = globSync("**/*.{js,css,html,svg}", { cwd: PAGE_FOLDER });
  const size = files.reduce((sum, file) => sum + gzipSync(readFileSync(join(PAGE_FOLDER, file))).length, 0);
  expect(files.length).toBeGreaterThan(3);
  expect(size).toBeLessThanOrEqual(MAX_ASSETS);
  const licences = readFileSync(join(PAGE_FOLDER, "LICENSES.txt"), "utf8");
  for (const name of ["preact", "uplot", "@tanstack/virtual-core"]) expect(licences).toContain(`${name}\n\n`);
});

test.each([
  { colorScheme: "light", rules: undefined },
  { colorScheme: "dark", rules: OF_COLOURS },
] as const)("every view in $colorScheme has no serious fault, and fits 360 px", async ({ colorScheme, rules }) => {
  const desk = await openDesk(busyWeek());
  const tab = await open({ colorScheme, viewport: PHONE });
  for (const hash of Object.values(VIEWS)) {
    await opened(tab, desk, hash);
    expect([hash, await faultsOf(tab, rules), await overflowOf(tab)]).toEqual([hash, [], 0]);
  }
});

test("the number of matters stands in the tab's title and follows a change without a load", async () => {
  const desk = await openDesk(busyWeek());
  const tab = await open();
  await opened(tab, desk);
  await expect.poll(() => tab.title(), SOON).toBe("(5) Needs you · Retinue");
  await expect.poll(() => tab.locator(".connection").textContent(), SOON).toBe("live");
  desk.answers["/api/needs"] = needsOf([approval("act_1", "one"), approval("act_9", "two")]);
  desk.change({ needs: 2, handles: ["scribe"] });
  await expect.poll(() => tab.title(), SOON).toBe("(2) Needs you · Retinue");
  await expect.poll(() => tab.locator(".card").count(), SOON).toBe(2);
});

test("a list that is cut says so", async () => {
  const desk = await openDesk({ ...busyWeek(), "/api/needs": { ...needsOf([approval("a", "a")]), total: 240, counts: { approval: 240 } } });
  const tab = await open();
  await opened(tab, desk);
  await expect.poll(() => tab.locator("main").textContent(), SOON).toContain("1 of 240 are listed");
});

test("texts of others are texts: no markup, no direction, no hidden character, and a megabyte behind a button", async () => {
  const html = `<script>window.owned = 1</script><img src=x onerror="window.owned = 1">${HOSTILE}`;
  const week = poisoned(busyWeek(), ["kind", "key", "order", "state", "about", "rule", "lane", "tier", "hash", "outcome", "from"]);
  const desk = await openDesk({
    ...week,
    "/api/needs": needsOf([approval("a", html), approval("b", "x".repeat(1_000_000))]),
    "/api/specialists/scribe": { at: 1, specialist: specialist("scribe"), standing: poisoned(STANDING) },
  });
  desk.answers["/api/specialists"] = {
    at: 1,
    total: 1,
    rows: [specialist("scribe", { failing: { tries: 1, since: 1, kind: "x", message: html } })],
    money: [],
  };
  const tab = await open();
  for (const hash of Object.values(VIEWS)) {
    await opened(tab, desk, hash);
    // A text of several lines keeps them: its frame shows whose they are. A tab stands between two cells of a table.
    const shown = (await tab.locator("main").innerText()).replaceAll(FORGED, "").replaceAll("\t", " ");
    expect([hash, steered(shown)]).toEqual([hash, []]);
    expect(await overflowOf(tab)).toBe(0);
  }
  await opened(tab, desk);
  expect(await tab.evaluate("[window.owned, document.querySelectorAll('main script, main img').length]")).toEqual([undefined, 0]);
  expect(await tab.locator(".card").first().innerText()).toContain("<script>window.owned");
  const all = tab.getByRole("button", { name: "Show all 1,000,000 characters" });
  expect((await tab.locator("main").innerText()).length).toBeLessThan(10_000);
  await all.click();
  await expect.poll(async () => (await tab.locator("bdi.whole").textContent())?.length, SOON).toBe(1_000_000);
});

test("the jobs of a specialist are a board with the number of all; a title is text, and a megabyte of it stands behind a button", async () => {
  const html = `<script>window.owned = 1</script>${HOSTILE}`;
  const [applied, ...others] = JOBS.columns;
  const jobs = [html, "x".repeat(1_000_000)].map((title, n) => ({ id: `job_${n}`, title, since: 1, followed: true }));
  const columns = [{ state: "applied", count: 31, jobs: [...jobs, ...(applied?.jobs ?? [])] }, ...others];
  const desk = await openDesk({ ...busyWeek(), "/api/specialists/scribe/jobs": { columns } });
  const tab = await open({ viewport: PHONE });
  await opened(tab, desk, VIEWS.jobs);
  const heads = (await tab.locator(".board-column h2").allTextContents()).map((text) => text.trim());
  expect(heads).toEqual(["applied 31", "assigned 2", "submitted 1", "paid 112"]);
  const cards = await tab.locator(".job").allInnerTexts();
  expect(cards[0]).toContain("<script>window.owned");
  expect(await tab.evaluate("[window.owned, document.querySelectorAll('main script').length]")).toEqual([undefined, 0]);
  expect(cards.join("").length).toBeLessThan(10_000);
  await tab.getByRole("button", { name: "Show all 1,000,000 characters" }).waitFor();
  expect(await overflowOf(tab)).toBe(0);
  const [unnamed, forgotten, undelivered, late, paid] = ["job_50", "job_23", "job_42", "job_40", "job_27"].map((id) =>
    cards.find((text) => text.includes(id)),
  );
  expect(unnamed).toMatch(/^job_50\n/);
  expect(forgotten).toContain("no longer followed");
  for (const word of ["not delivered", "the deliverable is too long", "reward 12.5", "due in 4h"]) expect(undelivered).toContain(word);
  expect(late).toMatch(/was due 1h \d\dm ago/);
  expect(paid).not.toMatch(/due|followed/);
  expect(await tab.locator("main").innerText()).toContain("and 26 older");
});

test("by keyboard alone: from a job to the part of the timeline where its last action was decided", async () => {
  const asked: string[] = [];
  const desk = await openDesk({
    ...busyWeek(),
    "/api/specialists/scribe/events": (query) => (asked.push(query.toString()), { entries: [], total: 0 }),
  });
  const tab = await open();
  await opened(tab, desk, VIEWS.specialist);
  await tab.getByRole("link", { name: "Jobs", exact: true }).focus();
  await tab.keyboard.press("Enter");
  await tab.locator(".board").waitFor();
  for (let n = 0; n < 20 && (await tab.locator(".job :focus").count()) === 0; n++) await tab.keyboard.press("Tab");
  expect(await tab.locator(":focus").textContent()).toBe("Timeline");
  await tab.keyboard.press("Enter");
  await expect.poll(() => asked.at(-1), SOON).toBe("before=31&limit=25");
});

test("a standing shows what the present tier and trust permit beside the others, and says so where nothing is known", async () => {
  const desk = await openDesk(busyWeek());
  const tab = await open();
  await opened(tab, desk, VIEWS.standing);
  expect((await tab.getByRole("row").allInnerTexts()).map((text) => text.replaceAll(/\s+/g, " ").trim())).toEqual([
    "Name An hour A day Does not permit Would unlock",
    "free 60 500 jobs.create, communities.create —",
    "starter now 120 2,000 communities.create —",
    "pro 10,000 no limit — communities.create",
    "Name From reputation Does not permit Would unlock",
    "newcomer now not stated posts.vote, jobs.submit —",
    "member 10 posts.vote jobs.submit",
    "trusted 50 — posts.vote, jobs.submit",
  ]);
  const main = tab.locator("main");
  for (const [standing, said] of [
    [{ ...STANDING, trust: undefined }, "Not shown by this network"],
    [{ ...STANDING, trust: { tiers: [] } }, "The network has not reported it yet."],
    [{ ...STANDING, trust: { tiers: [], reported: { trust: "member", since: 1, lookAt: 1 } } }, "not shown by this network"],
    [undefined, "It does not run in the process of this console"],
  ] as const) {
    desk.answers["/api/specialists/scribe"] = { at: 1, specialist: specialist("scribe"), standing };
    desk.change({ handles: ["scribe"] });
    await expect.poll(() => main.innerText(), SOON).toContain(said);
  }
});

test.each([
  ["a phone", { viewport: PHONE }],
  ["a desk", {}],
])("a thousand specialists are a list of few elements, and on %s one key leads to the last", async (_name, options) => {
  const rows = Array.from({ length: 1_000 }, (_, i) => specialist(`agent-${String(i).padStart(4, "0")}`));
  const desk = await openDesk({ ...busyWeek(), "/api/specialists": { at: 1, total: rows.length, rows, money: [] } });
  const tab = await open(options);
  await opened(tab, desk, VIEWS.specialists);
  await tab.getByText("agent-0000").waitFor();
  expect(await tab.locator("main *").count()).toBeLessThan(1_500);
  await tab.keyboard.press("End");
  await expect.poll(() => tab.evaluate("scrollY + innerHeight - document.documentElement.scrollHeight"), SOON).toBeGreaterThan(-2);
  await expect.poll(() => tab.locator(".rows > li").last().getAttribute("aria-posinset"), SOON).toBe("1000");
  await tab.getByText("agent-0999").waitFor();
});

test("filters stand in the address, and are asked for", async () => {
  const asked: string[] = [];
  const note = (query: URLSearchParams): void => void asked.push(query.toString());
  const week = busyWeek();
  const desk = await openDesk({
    ...week,
    "/api/specialists": (query) => (note(query), { at: 1, total: 0, rows: [], money: [] }),
    "/api/log": (query) => (note(query), { entries: [], total: 0 }),
  });
  const tab = await open();
  await opened(tab, desk, "#/specialists?state=parked");
  // Asked again once the stream of changes is open.
  expect([...new Set(asked)]).toEqual(["state=parked"]);
  await tab.getByLabel("State").selectOption("retries");
  await expect.poll(() => asked.at(-1), SOON).toBe("state=retries");
  await opened(tab, desk, "#/log?handle=scout");
  await tab.getByLabel("Words").fill("digest");
  await tab.keyboard.press("Enter");
  await expect.poll(() => asked.at(-1), SOON).toBe("handle=scout&search=digest&limit=50");
  expect(tab.url()).toContain("#/log?handle=scout&search=digest");
  expect(await tab.getByRole("link", { name: "CSV" }).getAttribute("href")).toBe("/api/log/export?format=csv&handle=scout&search=digest");
});

test("a lost server is told at once, since when at last, and everything is loaded again when it is back", async () => {
  const desk = await openDesk(busyWeek());
  const tab = await open();
  await tab.clock.install();
  await opened(tab, desk);
  const state = tab.locator(".connection");
  await expect.poll(() => state.textContent(), SOON).toBe("live");
  desk.isDown = true;
  desk.cut();
  await expect.poll(() => state.textContent(), SOON).toBe("reconnecting…");
  await tab.clock.runFor(17 * SECOND);
  await expect.poll(() => state.textContent(), SOON).toMatch(/^stale since \d\d:\d\d$/);
  desk.answers["/api/needs"] = needsOf([]);
  desk.isDown = false;
  await passing(tab, 12);
  await expect.poll(() => state.textContent(), SOON).toBe("live");
  await tab.getByText("Nothing needs you.").waitFor();
});

test("a stream that falls silent does not count as live", async () => {
  const desk = await openDesk(busyWeek());
  const tab = await open();
  await tab.clock.install();
  await opened(tab, desk);
  await expect.poll(() => tab.locator(".connection").textContent(), SOON).toBe("live");
  await expect.poll(desk.streams, SOON).toBe(1);
  desk.isDown = true;
  await passing(tab, 40);
  await expect.poll(() => tab.locator(".connection").textContent(), SOON).toMatch(/^stale since/);
});

test("three tabs share one stream, and the next holds it when the first is closed", async () => {
  const desk = await openDesk(busyWeek());
  const first = await open();
  await opened(first, desk);
  await expect.poll(desk.streams, SOON).toBe(1);
  const others = [await first.context().newPage(), await first.context().newPage()];
  for (const tab of others) await opened(tab, desk, VIEWS.log);
  for (const tab of others) await expect.poll(() => tab.locator(".connection").textContent(), SOON).toBe("live");
  expect(desk.streams()).toBe(1);
  const matters = ["a", "b", "c"].map((id) => approval(id, id));
  desk.answers["/api/needs"] = needsOf(matters);
  desk.change({ needs: 3 });
  for (const tab of others) await expect.poll(() => tab.title(), SOON).toBe("(3) Log · Retinue");
  await first.close();
  await expect.poll(desk.streams, SOON).toBe(1);
  desk.answers["/api/needs"] = needsOf(matters.slice(1));
  desk.change({ needs: 2 });
  for (const tab of others) await expect.poll(() => tab.title(), SOON).toBe("(2) Log · Retinue");
});

test("by keyboard alone: to the content, to a reason, to a yes; the focus stays with the list when the card goes", async () => {
  const desk = await openDesk({ ...busyWeek(), "/api/needs": needsOf([approval("a", "first"), approval("b", "second")]) });
  const tab = await open();
  await opened(tab, desk);
  await tab.keyboard.press("Tab");
  expect(await tab.locator(":focus").textContent()).toContain("Skip to the content");
  await tab.keyboard.press("Enter");
  await tab
    .locator(".card")
    .first()
    .getByLabel(/Reason/)
    .focus();
  await tab.keyboard.type("fine");
  // A load while the focus stays where it is.
  desk.answers["/api/needs"] = needsOf([approval("a", "first"), approval("b", "second, as it is now")]);
  desk.change({ needs: 2 });
  await tab.getByText("second, as it is now").waitFor();
  await tab.keyboard.press("Tab");
  expect(await tab.locator(":focus").textContent()).toBe("Approve");
  desk.answers["/api/needs"] = needsOf([approval("b", "second")]);
  await tab.keyboard.press("Enter");
  await expect.poll(() => tab.locator(".card").count(), SOON).toBe(1);
  await expect.poll(() => tab.locator(":focus").textContent(), SOON).toContain("Needs you");
  expect(desk.orders).toEqual([{ name: "approve", query: { id: "a", hash: HASH, reason: "fine" } }]);
});

test("an unknown answer of the server fails one view, not the page", async () => {
  const desk = await openDesk({ ...busyWeek(), "/api/log": { entries: 5 } });
  const tab = await open();
  await tab.goto(`${desk.url}${VIEWS.log}`);
  await tab.getByText("This view cannot be shown").waitFor();
  await tab.getByRole("link", { name: "Orders" }).click();
  await expect.poll(() => tab.locator(".entries").textContent(), SOON).toContain("within the budget");
});

/** Drawn anew with `RETINUE_PICTURES=1`; otherwise only their size is checked. */
test("the pictures of the docs are small", async () => {
  if (process.env["RETINUE_PICTURES"] !== undefined) await drawPictures();
  const files = globSync("*.png", { cwd: PICTURES });
  expect(files.length).toBeGreaterThanOrEqual(6);
  expect(files.filter((file) => readFileSync(join(PICTURES, file)).length > MAX_PICTURE)).toEqual([]);
});

async function drawPictures(): Promise<void> {
  mkdirSync(PICTURES, { recursive: true });
  const desk = await openDesk(busyWeek());
  const draw = async (name: string, hash: string, options: Parameters<typeof open>[0]): Promise<void> => {
    const tab = await open(options);
    await opened(tab, desk, hash);
    await expect.poll(() => tab.locator(".connection").textContent(), SOON).toBe("live");
    if (hash === VIEWS.jobs || hash === VIEWS.standing) await tab.evaluate("document.querySelector('.chips').scrollIntoView()");
    await tab.screenshot({ path: join(PICTURES, `${name}.png`) });
    await tab.close();
  };
  const window = { width: 1_100, height: 720 };
  for (const name of ["needs", "specialists", "specialist", "standing", "use", "log"] as const)
    await draw(`${name}-light`, VIEWS[name], { colorScheme: "light", viewport: window });
  for (const name of ["needs", "specialist", "jobs"] as const)
    await draw(`${name}-dark`, VIEWS[name], { colorScheme: "dark", viewport: window });
  for (const colorScheme of ["light", "dark"] as const)
    await draw(`jobs-${colorScheme}`, VIEWS.jobs, { colorScheme, viewport: { width: 1_060, height: 570 } });
  await draw("jobs-phone", VIEWS.jobs, { colorScheme: "light", viewport: PHONE });
  await draw("needs-phone", VIEWS.needs, { colorScheme: "light", viewport: PHONE });
  await draw("specialists-phone", VIEWS.specialists, { colorScheme: "dark", viewport: PHONE });
}

test("of a fleet the header has the number of processes, and names the one that does not answer; a specialist has its process", async () => {
  const process = { version: "0.1.0", since: Date.now() - 60 * SECOND, specialists: 2 };
  const silent = { message: "web-2:5 does not answer", handles: ["c", "d"] };
  const processes = [
    { ...process, name: "web-1:4" },
    { ...process, name: "web-2:5", silent },
  ];
  const week = busyWeek();
  const desk = await openDesk({
    ...week,
    "/api/needs": { ...needsOf([]), processes },
    "/api/specialists": { at: Date.now(), total: 1, rows: [{ ...specialist("scribe"), process: "web-1:4" }], money: [] },
  });
  const tab = await open({ viewport: PHONE });
  await opened(tab, desk, VIEWS.specialists);
  const header = () => tab.locator("header").textContent();
  await expect.poll(header, SOON).toContain("2 processes, of which web-2:5 does not answer: 2 specialists not shown");
  await expect.poll(() => tab.locator("main").textContent(), SOON).toContain("at web-1:4");
  expect([await faultsOf(tab), await overflowOf(tab)]).toEqual([[], 0]);
  desk.answers["/api/needs"] = { ...needsOf([approval("a", "a")]), processes: [processes[0]] };
  desk.change({ needs: 1, handles: [] });
  await expect.poll(header, SOON).not.toContain("processes");
});

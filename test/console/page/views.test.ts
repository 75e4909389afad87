/** The console's page in a browser: every view, from states that no real runtime can be brought to at will. */
import { globSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import AxeBuilder from "@axe-core/playwright";
import type { Page as Tab } from "playwright-core";
import { expect, test } from "vitest";
import { SECOND } from "../../../src/core/units.ts";
import { until, useBrowser } from "../../harness/browser.ts";
import { approval, busyWeek, HASH, needsOf, specialist } from "../../harness/page-answers.ts";
import { openDesk, type Desk } from "../../harness/page-desk.ts";
import { FORGED, HOSTILE, poisoned, steered } from "../../harness/hostile.ts";
import { PAGE_FOLDER } from "../../harness/present-page.ts";

const VIEWS = {
  needs: "#/needs",
  specialists: "#/specialists",
  specialist: "#/specialists/scribe",
  use: "#/specialists/scribe?tab=use",
  received: "#/specialists/scribe?tab=feed",
  log: "#/log",
  orders: "#/orders",
  why: "#/why/act_1",
} as const;
const PHONE = { width: 360, height: 740 };
const MAX_ASSETS = 100_000;
const PICTURES = join(import.meta.dirname, "../../../docs/console");
const MAX_PICTURE = 100_000;

const open = useBrowser();

async function opened(tab: Tab, desk: Desk, hash: string = VIEWS.needs): Promise<void> {
  await tab.goto(`${desk.url}${hash}`);
  await tab.locator("main h1").waitFor();
  await until(() => tab.locator(".loading").count()).toBe(0);
}

/** Serious faults of every view in the tab's present state, each with its place. */
async function faultsOf(tab: Tab): Promise<readonly string[]> {
  const { violations } = await new AxeBuilder({ page: tab }).analyze();
  const bad = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  return bad.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => `${id}: ${target.join(" ")} ${failureSummary ?? ""}`));
}

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

test.each(["light", "dark"] as const)(
  "every view in %s has no serious fault, and fits 360 px",
  { timeout: 60 * SECOND },
  async (colorScheme) => {
    const desk = await openDesk(busyWeek());
    const tab = await open({ colorScheme, viewport: PHONE });
    for (const hash of Object.values(VIEWS)) {
      await opened(tab, desk, hash);
      expect([hash, await faultsOf(tab), await overflowOf(tab)]).toEqual([hash, [], 0]);
    }
  },
);

test("the number of matters stands in the tab's title and follows a change without a load", async () => {
  const desk = await openDesk(busyWeek());
  const tab = await open();
  await opened(tab, desk);
  await until(() => tab.title()).toBe("(5) Needs you · Retinue");
  await until(() => tab.locator(".connection").textContent()).toBe("live");
  desk.answers["/api/needs"] = needsOf([approval("act_1", "one"), approval("act_9", "two")]);
  desk.change({ needs: 2, handles: ["scribe"] });
  await until(() => tab.title()).toBe("(2) Needs you · Retinue");
  await until(() => tab.locator(".card").count()).toBe(2);
});

test("an approval shows the payload, cost, time, event and hash; yes carries that hash and the reason", async () => {
  const desk = await openDesk(busyWeek());
  const tab = await open();
  await opened(tab, desk);
  const card = tab.locator(".card").first();
  await card.getByText("We need the digest checked").waitFor();
  const text = (await card.textContent()) ?? "";
  for (const part of ["at most 12.5 credits", "Please check spelling and links", '"weekly"', "Runs out in 2h 59m", HASH])
    expect(text).toContain(part);
  await card.getByLabel(/Reason/).fill("within the budget");
  await card.getByRole("button", { name: "Approve" }).click();
  await tab.getByText("approve done").waitFor();
  expect(desk.orders).toEqual([{ name: "approve", query: { id: "act_1", hash: HASH, reason: "within the budget" } }]);
});

test("an approval that changes under the page is not given before the change is read", async () => {
  const desk = await openDesk({ ...busyWeek(), "/api/needs": needsOf([approval("act_1", "as it was")]) });
  const tab = await open();
  await opened(tab, desk);
  const other = "0".repeat(64);
  const changed = approval("act_1", "something else");
  const proposal = changed.proposal === undefined ? {} : { proposal: { ...changed.proposal, hash: other } };
  desk.answers["/api/needs"] = needsOf([
    {
      ...changed,
      ...proposal,
      orders: [{ order: "approve", label: "Approve", with: { id: "act_1", hash: other }, takesReason: true, many: false }],
    },
  ]);
  await until(desk.streams).toBe(1);
  desk.change({ needs: 1 });
  await tab.getByText("something else").waitFor();
  expect(await tab.getByRole("button", { name: "Approve" }).isDisabled()).toBe(true);
  await tab.getByRole("button", { name: "I have read the change" }).click();
  await tab.getByRole("button", { name: "Approve" }).click();
  await until(() => desk.orders.map(({ query }) => query["hash"])).toEqual([other]);
});

test("a second decision says who was first, and the reason typed stays", async () => {
  const desk = await openDesk(busyWeek());
  desk.onOrder = () => [409, { error: { code: "approval_over", message: "act_1 can no longer be answered: it was rejected by ada" } }];
  const tab = await open();
  await opened(tab, desk);
  const card = tab.locator(".card").first();
  await card.getByLabel(/Reason/).fill("yes please");
  await card.getByRole("button", { name: "Approve" }).click();
  await card.getByText("it was rejected by ada").waitFor();
  expect(await card.getByLabel(/Reason/).inputValue()).toBe("yes please");
});

test("several are rejected at once with one reason; nothing approves several", async () => {
  const desk = await openDesk({ ...busyWeek(), "/api/needs": needsOf(["a", "b", "c"].map((id) => approval(id, id))) });
  const tab = await open();
  await opened(tab, desk);
  for (const box of await tab.getByRole("checkbox").all()) await box.check();
  const bar = tab.getByRole("group", { name: "Orders for the selected matters" });
  expect(await bar.getByRole("button").allTextContents()).toEqual(["Reject 3"]);
  await bar.getByLabel("Reason for all").fill("not this week");
  await bar.getByRole("button", { name: "Reject 3" }).click();
  await tab.getByText("Reject: 3 done").waitFor();
  expect(desk.orders).toEqual(["a", "b", "c"].map((id) => ({ name: "reject", query: { id, reason: "not this week" } })));
});

test("a list that is cut says so", async () => {
  const desk = await openDesk({ ...busyWeek(), "/api/needs": { ...needsOf([approval("a", "a")]), total: 240, counts: { approval: 240 } } });
  const tab = await open();
  await opened(tab, desk);
  await until(() => tab.locator("main").textContent()).toContain("1 of 240 are listed");
});

test("a session that ends leaves what was typed: log in, press again", async () => {
  const desk = await openDesk(busyWeek());
  const tab = await open();
  await opened(tab, desk);
  const card = tab.locator(".card").first();
  await card.getByLabel(/Reason/).fill("typed before");
  await card.getByText("We need the digest checked").waitFor();
  desk.session = false;
  await card.getByRole("button", { name: "Approve" }).click();
  const dialog = tab.getByRole("dialog");
  await dialog.getByText("The session of ada has ended").waitFor();
  await dialog.getByLabel("Token").fill("wrong");
  await dialog.getByRole("button", { name: "Log in" }).click();
  await dialog.getByText("this is no token of the console").waitFor();
  await dialog.getByLabel("Token").fill("the-token");
  await dialog.getByRole("button", { name: "Log in" }).click();
  await dialog.waitFor({ state: "detached" });
  expect(await card.getByLabel(/Reason/).inputValue()).toBe("typed before");
  await card.getByRole("button", { name: "Approve" }).click();
  await until(() => desk.orders.map(({ query }) => query["reason"])).toEqual(["typed before"]);
});

test("who only views gets no buttons of orders, and no halt", async () => {
  const desk = await openDesk(busyWeek());
  desk.role = "view";
  const tab = await open();
  await opened(tab, desk);
  await tab.getByText("ada, views only").waitFor();
  for (const name of ["Approve", "Reject", "Halt", "Try it again"]) expect(await tab.getByRole("button", { name }).count()).toBe(0);
});

test("halt is on every view, asks once, and tells what is in flight", async () => {
  const desk = await openDesk(busyWeek());
  const flight = { id: "act_7", handle: "courier", operation: "jobs.deliver", startedAt: Date.now(), deadlineAt: Date.now() + 20_000 };
  desk.onOrder = () => [200, { message: "halted: no specialist writes", inFlight: [flight] }];
  const tab = await open();
  for (const hash of Object.values(VIEWS)) {
    await opened(tab, desk, hash);
    expect(await tab.getByRole("button", { name: "Halt", exact: true }).count()).toBe(1);
  }
  await tab.getByRole("button", { name: "Halt", exact: true }).click();
  expect(desk.orders).toEqual([]);
  await tab.getByLabel("Reason (optional)").fill("odd replies");
  expect(await faultsOf(tab)).toEqual([]);
  await tab.getByRole("button", { name: "Halt now" }).click();
  await tab.getByText("1 request was sent before").waitFor();
  expect(await tab.getByRole("dialog").textContent()).toContain("jobs.deliver");
  expect(desk.orders).toEqual([{ name: "halt", query: { reason: "odd replies" } }]);
});

test("a halt in force stands above every view, and the second press lifts it", async () => {
  const halt = {
    key: "halt:*",
    kind: "halt",
    subject: "everyone",
    title: "Nobody writes",
    message: "halted: odd replies",
    since: Date.now(),
  } as const;
  const lift = { order: "lift", label: "Lift the halt", with: {}, takesReason: true, many: false } as const;
  const desk = await openDesk({ ...busyWeek(), "/api/needs": needsOf([{ ...halt, orders: [lift] }]) });
  const tab = await open();
  await opened(tab, desk, VIEWS.log);
  await tab.locator(".banner").getByText("odd replies").waitFor();
  await tab.getByRole("button", { name: "Lift the halt" }).click();
  expect(desk.orders).toEqual([]);
  await tab.getByRole("button", { name: "Press again to lift" }).click();
  await until(() => desk.orders.map(({ name }) => name)).toEqual(["lift"]);
});

test("texts of others are texts: no markup, no direction, no hidden character, and a megabyte behind a button", async () => {
  const html = `<script>window.owned = 1</script><img src=x onerror="window.owned = 1">${HOSTILE}`;
  const week = poisoned(busyWeek(), ["kind", "key", "order", "state", "about", "rule", "lane", "tier", "hash", "outcome", "from"]);
  const desk = await openDesk({
    ...week,
    "/api/needs": needsOf([approval("a", html), approval("b", "x".repeat(1_000_000))]),
    "/api/specialists/scribe": busyWeek()["/api/specialists/scribe"] ?? {},
  });
  desk.answers["/api/specialists"] = {
    at: 1,
    total: 1,
    rows: [specialist("scribe", { failing: { tries: 1, since: 1, kind: "x", message: html } })],
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
  await until(async () => (await tab.locator("bdi.whole").textContent())?.length).toBe(1_000_000);
});

test("a thousand specialists are a list of few elements, and the last one is reached by scrolling", async () => {
  const rows = Array.from({ length: 1_000 }, (_, i) => specialist(`agent-${String(i).padStart(4, "0")}`));
  const desk = await openDesk({ ...busyWeek(), "/api/specialists": { at: 1, total: rows.length, rows } });
  const tab = await open();
  await opened(tab, desk, VIEWS.specialists);
  await tab.getByText("agent-0000").waitFor();
  expect(await tab.locator("main *").count()).toBeLessThan(1_500);
  await tab.keyboard.press("End");
  await tab.getByText("agent-0999").waitFor();
  expect(await tab.locator(".rows > li").last().getAttribute("aria-posinset")).toBe("1000");
});

test("filters stand in the address, and are asked for", async () => {
  const asked: string[] = [];
  const note = (query: URLSearchParams): void => void asked.push(query.toString());
  const week = busyWeek();
  const desk = await openDesk({
    ...week,
    "/api/specialists": (query) => (note(query), { at: 1, total: 0, rows: [] }),
    "/api/log": (query) => (note(query), { entries: [], total: 0 }),
  });
  const tab = await open();
  await opened(tab, desk, "#/specialists?state=parked");
  expect(asked).toEqual(["state=parked"]);
  await tab.getByLabel("State").selectOption("retries");
  await until(() => asked.at(-1)).toBe("state=retries");
  await opened(tab, desk, "#/log?handle=scout");
  await tab.getByLabel("Words").fill("digest");
  await tab.keyboard.press("Enter");
  await until(() => asked.at(-1)).toBe("handle=scout&search=digest&limit=50");
  expect(tab.url()).toContain("#/log?handle=scout&search=digest");
  expect(await tab.getByRole("link", { name: "CSV" }).getAttribute("href")).toBe("/api/log/export?format=csv&handle=scout&search=digest");
});

test(
  "a lost server is told at once, since when at last, and everything is loaded again when it is back",
  { timeout: 40 * SECOND },
  async () => {
    const desk = await openDesk(busyWeek());
    const tab = await open();
    await tab.clock.install();
    await opened(tab, desk);
    const state = tab.locator(".connection");
    await until(() => state.textContent()).toBe("live");
    desk.isDown = true;
    desk.cut();
    await until(() => state.textContent()).toBe("reconnecting…");
    await tab.clock.runFor(17 * SECOND);
    await until(() => state.textContent()).toMatch(/^stale since \d\d:\d\d$/);
    desk.answers["/api/needs"] = needsOf([]);
    desk.isDown = false;
    await passing(tab, 12);
    await until(() => state.textContent()).toBe("live");
    await tab.getByText("Nothing needs you.").waitFor();
  },
);

test("a stream that falls silent does not count as live", async () => {
  const desk = await openDesk(busyWeek());
  const tab = await open();
  await tab.clock.install();
  await opened(tab, desk);
  await until(() => tab.locator(".connection").textContent()).toBe("live");
  await until(desk.streams).toBe(1);
  desk.isDown = true;
  await passing(tab, 40);
  await until(() => tab.locator(".connection").textContent()).toMatch(/^stale since/);
});

test("three tabs share one stream, and the next holds it when the first is closed", async () => {
  const desk = await openDesk(busyWeek());
  const first = await open();
  await opened(first, desk);
  await until(desk.streams).toBe(1);
  const others = [await first.context().newPage(), await first.context().newPage()];
  for (const tab of others) await opened(tab, desk, VIEWS.log);
  for (const tab of others) await until(() => tab.locator(".connection").textContent()).toBe("live");
  expect(desk.streams()).toBe(1);
  const matters = ["a", "b", "c"].map((id) => approval(id, id));
  desk.answers["/api/needs"] = needsOf(matters);
  desk.change({ needs: 3 });
  for (const tab of others) await until(() => tab.title()).toBe("(3) Log · Retinue");
  await first.close();
  await until(desk.streams).toBe(1);
  desk.answers["/api/needs"] = needsOf(matters.slice(1));
  desk.change({ needs: 2 });
  for (const tab of others) await until(() => tab.title()).toBe("(2) Log · Retinue");
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
  desk.change({ needs: 2 });
  await tab.keyboard.press("Tab");
  expect(await tab.locator(":focus").textContent()).toBe("Approve");
  desk.answers["/api/needs"] = needsOf([approval("b", "second")]);
  await tab.keyboard.press("Enter");
  await until(() => tab.locator(".card").count()).toBe(1);
  await until(() => tab.locator(":focus").textContent()).toContain("Needs you");
  expect(desk.orders).toEqual([{ name: "approve", query: { id: "a", hash: HASH, reason: "fine" } }]);
});

test("an unknown answer of the server fails one view, not the page", async () => {
  const desk = await openDesk({ ...busyWeek(), "/api/log": { entries: 5 } });
  const tab = await open();
  await tab.goto(`${desk.url}${VIEWS.log}`);
  await tab.getByText("This view cannot be shown").waitFor();
  await tab.getByRole("link", { name: "Orders" }).click();
  await until(() => tab.locator(".entries").textContent()).toContain("within the budget");
});

/** Drawn anew with `RETINUE_PICTURES=1`; otherwise only their size is checked. */
test("the pictures of the docs are small", { timeout: 60 * SECOND }, async () => {
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
    await until(() => tab.locator(".connection").textContent()).toBe("live");
    await tab.screenshot({ path: join(PICTURES, `${name}.png`) });
    await tab.close();
  };
  for (const [name, hash] of Object.entries({
    needs: VIEWS.needs,
    specialists: VIEWS.specialists,
    specialist: VIEWS.specialist,
    use: VIEWS.use,
    log: VIEWS.log,
  })) {
    await draw(`${name}-light`, hash, { colorScheme: "light", viewport: { width: 1_100, height: 800 } });
    if (name !== "use") await draw(`${name}-dark`, hash, { colorScheme: "dark", viewport: { width: 1_100, height: 800 } });
  }
  await draw("needs-phone", VIEWS.needs, { colorScheme: "light", viewport: PHONE });
  await draw("specialists-phone", VIEWS.specialists, { colorScheme: "dark", viewport: PHONE });
}

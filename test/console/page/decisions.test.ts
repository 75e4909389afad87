/** Decisions on the console's page in a browser: each order with exactly what was shown, once, and never lost. */
import { expect, test } from "vitest";
import { SOON, useBrowser } from "../../harness/browser.ts";
import { approval, busyWeek, HASH, needsOf } from "../../harness/page-answers.ts";
import { openDesk } from "../../harness/page-desk.ts";
import { faultsOf, opened, VIEWS } from "../../harness/page-views.ts";

const open = useBrowser();

test("an approval shows the payload, its text first, then cost, time, event and hash; yes carries that hash and the reason", async () => {
  const desk = await openDesk(busyWeek());
  const tab = await open();
  await opened(tab, desk);
  const card = tab.locator(".card").first();
  await card.getByText("We need the digest checked").waitFor();
  const text = (await card.textContent()) ?? "";
  const [runsOut = "no time"] = /Runs out in 2h 5\dm/.exec(text) ?? [];
  for (const part of ["at most 12.5 credits", "Please check spelling and links", '"weekly"', runsOut, HASH]) expect(text).toContain(part);
  const order = ["Please check spelling and links", '"weekly"', "jobs.create on board", "at most 12.5 credits", runsOut];
  const said = text.slice(text.indexOf("Proofread the weekly digest"));
  expect(order.toSorted((a, b) => said.indexOf(a) - said.indexOf(b))).toEqual(order);
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
  await expect.poll(desk.streams, SOON).toBe(1);
  desk.change({ needs: 1 });
  await tab.getByText("something else").waitFor();
  expect(await tab.getByRole("button", { name: "Approve" }).isDisabled()).toBe(true);
  await tab.getByRole("button", { name: "I have read the change" }).click();
  await tab.getByRole("button", { name: "Approve" }).click();
  await expect.poll(() => desk.orders.map(({ query }) => query["hash"]), SOON).toEqual([other]);
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

test("a session that ends leaves what was typed: log in, press again", async () => {
  const desk = await openDesk(busyWeek());
  const tab = await open();
  await opened(tab, desk);
  const card = tab.locator(".card").first();
  await card.getByLabel(/Reason/).fill("typed before");
  await card.getByText("We need the digest checked").waitFor();
  desk.session = false;
  // Pressed at once: a load in between would open the login over the button.
  await card.getByRole("button", { name: "Approve" }).dispatchEvent("click");
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
  await expect.poll(() => desk.orders.map(({ query }) => query["reason"]), SOON).toEqual(["typed before"]);
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

test("a halt that a process has not confirmed says so, names it, and does not say that nothing is in flight", async () => {
  const desk = await openDesk(busyWeek());
  const incomplete = { message: "web-2:7: no answer", hint: "give the order again, or end the process" };
  desk.onOrder = () => [200, { message: "not every process has confirmed it", inFlight: [], incomplete }];
  const tab = await open();
  await opened(tab, desk);
  await tab.getByRole("button", { name: "Halt", exact: true }).click();
  await tab.getByRole("button", { name: "Halt now" }).click();
  await tab.getByRole("heading", { name: "Halted, not everywhere" }).waitFor();
  const said = (await tab.getByRole("dialog").textContent()) ?? "";
  for (const words of [incomplete.message, incomplete.hint, "The processes that have confirmed it have nothing in flight."])
    expect(said).toContain(words);
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
  await expect.poll(() => desk.orders.map(({ name }) => name), SOON).toEqual(["lift"]);
});

/** The console's page over a real process on the local network: from the login to orders, a halt, a restart and another token. */
import type { Page as Tab } from "playwright-core";
import { expect, test } from "vitest";
import { SECOND } from "../../../src/core/units.ts";
import { SOON, useBrowser } from "../../harness/browser.ts";
import { freePort } from "../../harness/free-port.ts";
import { textIn } from "../../harness/process.ts";
import { runLab } from "../../harness/run-command.ts";

const TOKEN = "a-token-of-the-console";
const PHONE = { width: 360, height: 740 };
const REVIEWED = `
import { defineSpecialist } from "retinue";
export default defineSpecialist({
  handle: "scout",
  tier: "pro",
  watch: { feed: { from: "start" } },
  may: ["posts.reply"],
  review: ["posts.reply"],
  on: {
    "post.created": async (post, act) => { act.reply(post, "About " + post.content + ": welcome"); },
  },
});
`;

const open = useBrowser();

async function logIn(tab: Tab, token: string): Promise<void> {
  await tab.getByLabel("Token").fill(token);
  await tab.getByRole("button", { name: "Log in" }).click();
}

const stateOf = (tab: Tab): Promise<string | null> => tab.locator(".connection").textContent();

test("on a phone: log in, see an action ask, say yes and no, halt and lift, and find it all in the log", async (context) => {
  const lab = await runLab(context, REVIEWED);
  const run = lab.run({ env: { RETINUE_CONSOLE_PORT: String(await freePort()), RETINUE_CONSOLE_TOKEN: TOKEN } });
  const url = textIn(await run.saying(({ type }) => type === "console"), "url");
  const tab = await open({ viewport: PHONE });
  await tab.goto(url);
  await logIn(tab, "not the token");
  await tab.getByRole("alert").waitFor();
  await logIn(tab, TOKEN);
  await tab.getByText("Nothing needs you.").waitFor();
  await expect.poll(() => stateOf(tab), SOON).toBe("live");

  const first = await lab.news("the first matter");
  const card = tab.locator(".card").filter({ hasText: first });
  await card.getByText("About the first matter: welcome").waitFor();
  await expect.poll(() => tab.title(), SOON).toMatch(/^\(1\) /);
  await card.getByText("post.created", { exact: true }).waitFor();
  await card.getByLabel(/Reason/).fill("it is polite");
  await card.getByRole("button", { name: "Approve" }).click();
  await expect.poll(() => lab.effects("posts.reply").length, SOON).toBe(1);
  await tab.getByText("Nothing needs you.").waitFor();

  const second = await lab.news("the second matter");
  const next = tab.locator(".card").filter({ hasText: second });
  await next.getByLabel(/Reason/).fill("one is enough");
  await next.getByRole("button", { name: "Reject" }).click();
  await tab.getByText("Nothing needs you.").waitFor();

  await tab.getByRole("button", { name: "Halt", exact: true }).click();
  await tab.getByRole("button", { name: "Halt now" }).click();
  await tab.getByText("Nothing is in flight.").waitFor();
  await tab.getByRole("button", { name: "Close", exact: true }).click();
  await tab.locator(".banner").waitFor();
  await tab.locator(".banner").getByRole("button", { name: "Lift the halt" }).click();
  await tab.locator(".banner").getByRole("button", { name: "Press again to lift" }).click();
  await tab.locator(".banner").waitFor({ state: "detached" });

  await tab.getByRole("link", { name: "Orders" }).click();
  const rows = tab.locator(".entry");
  await expect.poll(() => rows.count(), SOON).toBe(4);
  const told = await rows.allTextContents();
  for (const [index, words] of [["lift"], ["halt"], ["reject", "one is enough"], ["approve", "it is polite"]].entries())
    for (const word of [...words, "guardian", "from console"]) expect(told[index]).toContain(word);

  await tab.goto(`${url}/#/log?search=first`);
  await expect.poll(() => tab.locator(".entry").count(), SOON).toBe(1);
  const lines = await tab.evaluate(`fetch(document.querySelector('a[download$=jsonl]').href).then((answer) => answer.text())`);
  expect(String(lines).trim().split("\n")).toHaveLength(1);
  await tab.getByRole("link", { name: "scout" }).first().click();
  await tab.locator(".timeline").getByText("the first matter", { exact: true }).waitFor();
  await tab.locator(".attempts").first().waitFor();
  await tab.getByRole("link", { name: "Use and plan" }).click();
  await tab.locator(".plot canvas").first().waitFor();
  await tab.getByRole("rowheader", { name: "poll" }).waitFor();
  await tab.getByRole("link", { name: "Jobs" }).click();
  await tab.getByText("It has applied for no job yet.").waitFor();
  await tab.getByRole("link", { name: "Standing" }).click();
  await tab.getByRole("row", { name: /^pro now/ }).waitFor();
  await tab.getByText("Not shown by this network").waitFor();
  await tab.getByRole("link", { name: "Received" }).click();
  await tab.getByText("the second matter").waitFor();
  await tab.getByRole("button", { name: "Pause" }).click();
  await tab.getByText(/pause/i).last().waitFor();
  expect(JSON.stringify(run.said)).not.toContain(TOKEN);
});

test("a restart under an open page locks nobody out; another token does, and what was typed stays", async (context) => {
  const lab = await runLab(context, REVIEWED);
  const port = String(await freePort());
  const start = async (token: string) => {
    const run = lab.run({ env: { RETINUE_CONSOLE_PORT: port, RETINUE_CONSOLE_TOKEN: token } });
    return { run, url: textIn(await run.saying(({ type }) => type === "console"), "url") };
  };
  await lab.news("something");
  const first = await start(TOKEN);
  const tab = await open();
  await tab.goto(first.url);
  await logIn(tab, TOKEN);
  const reason = tab.locator(".card").getByLabel(/Reason/);
  await reason.fill("typed before the restart");

  first.run.kill("SIGTERM");
  await first.run.ended;
  await expect.poll(() => stateOf(tab), SOON).toMatch(/^reconnecting|^stale/);
  const second = await start(TOKEN);
  await expect.poll(() => stateOf(tab), SOON).toBe("live");
  expect([await tab.getByRole("dialog").count(), await reason.inputValue()]).toEqual([0, "typed before the restart"]);

  second.run.kill("SIGTERM");
  await second.run.ended;
  await start("quite-another-token");
  await tab
    .getByRole("dialog")
    .getByText("has ended")
    .waitFor({ timeout: 15 * SECOND });
  await logIn(tab, "quite-another-token");
  await tab.getByRole("dialog").waitFor({ state: "detached" });
  expect(await reason.inputValue()).toBe("typed before the restart");
  await tab.getByRole("button", { name: "Approve" }).click();
  await expect.poll(() => lab.effects("posts.reply").length, SOON).toBe(1);
});

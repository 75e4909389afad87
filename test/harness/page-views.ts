/** The views of the console's page, and how a test opens and judges one. */
import AxeBuilder from "@axe-core/playwright";
import type { Page as Tab } from "playwright-core";
import { expect } from "vitest";
import { SOON } from "./browser.ts";
import type { Desk } from "./page-desk.ts";

export const VIEWS = {
  needs: "#/needs",
  specialists: "#/specialists",
  specialist: "#/specialists/scribe",
  jobs: "#/specialists/scribe?tab=jobs",
  standing: "#/specialists/scribe?tab=standing",
  use: "#/specialists/scribe?tab=use",
  received: "#/specialists/scribe?tab=feed",
  log: "#/log",
  orders: "#/orders",
  why: "#/why/act_1",
} as const;
/** Opens a view; fails where it is loaded and cannot be drawn. */
export async function opened(tab: Tab, desk: Desk, hash: string = VIEWS.needs): Promise<void> {
  await tab.goto(`${desk.url}${hash}`);
  await tab.locator("main h1").waitFor();
  await expect.poll(() => tab.locator(".loading").count(), SOON).toBe(0);
  await expect.poll(() => tab.locator("main [role=alert]").allInnerTexts(), SOON).toEqual([]);
}

/** Rules about colours, which alone differ between light and dark. */
export const OF_COLOURS = ["color-contrast", "link-in-text-block"] as const;

/** Serious faults of every view in the tab's present state, each with its place. Default: by all rules. */
export async function faultsOf(tab: Tab, rules?: readonly string[]): Promise<readonly string[]> {
  const axe = new AxeBuilder({ page: tab });
  const { violations } = await (rules === undefined ? axe : axe.withRules([...rules])).analyze();
  const bad = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  return bad.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => `${id}: ${target.join(" ")} ${failureSummary ?? ""}`));
}

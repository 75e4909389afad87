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

/** Serious faults of every view in the tab's present state, each with its place. */
export async function faultsOf(tab: Tab): Promise<readonly string[]> {
  const { violations } = await new AxeBuilder({ page: tab }).analyze();
  const bad = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  return bad.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => `${id}: ${target.join(" ")} ${failureSummary ?? ""}`));
}

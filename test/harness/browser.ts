/** Chromium for the tests of the console's page: one for a file, and for each test a window with what went wrong in it. */
import sparticuz from "@sparticuz/chromium";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished } from "vitest";
import { SECOND } from "../../src/core/units.ts";

/** The path of another Chromium, for machines on which the packed one does not start. */
const PATH_VARIABLE = "RETINUE_TEST_CHROMIUM";
/** In one process the first window that closes ends the browser. */
const ONE_PROCESS = "--single-process";
const WAIT_MS = 15 * SECOND;

/** Starts the browser of a test file. The returned function opens a window; its faults fail the test. */
export function useBrowser(): (options?: BrowserContextOptions) => Promise<Page> {
  let browser: Browser;
  beforeAll(async () => {
    const executablePath = process.env[PATH_VARIABLE] ?? (await sparticuz.executablePath());
    browser = await chromium.launch({ executablePath, args: sparticuz.args.filter((one) => one !== ONE_PROCESS), headless: true });
  }, 60 * SECOND);
  afterAll(() => browser.close());
  return async (options = {}) => {
    const context = await browser.newContext({ viewport: { width: 1_280, height: 900 }, locale: "en-GB", ...options });
    context.setDefaultTimeout(WAIT_MS);
    const page = await context.newPage();
    const faults: string[] = [];
    // A refused login and a lost server are shown by the page; the browser reports them as well.
    context.on("weberror", (fault) => void faults.push(String(fault.error())));
    context.on("console", (message) => {
      if (message.type() === "error" && !/Failed to load resource|ERR_|net::/.test(message.text())) faults.push(message.text());
    });
    onTestFinished(async () => {
      await context.close();
      expect(faults).toEqual([]);
    });
    return page;
  };
}

/** For `expect.poll`: as long as a busy machine may take. */
export const SOON = { timeout: WAIT_MS };

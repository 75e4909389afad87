/** Metrics: text that Prometheus reads, a bounded number of series whatever the network says, and no secret in it. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createAnnouncer } from "../../src/core/events.ts";
import { Scrubber } from "../../src/core/scrubber.ts";
import { Secret } from "../../src/core/secret.ts";
import { MINUTE } from "../../src/core/units.ts";
import { asHandle, asIntentId, asKeyId } from "../../src/core/ids.ts";
import { showStatus } from "../../src/guardian/status.ts";
import { DEFAULT_FLOORS } from "../../src/limits/lanes.ts";
import { createMetrics, MAX_LABELLED } from "../../src/signals/metrics.ts";
import { loadPromClient } from "../../src/signals/metrics-peer.ts";
import { decide } from "../harness/builders.ts";
import { desk } from "../harness/guardian-over-store.ts";
import { complaints } from "../harness/promtool.ts";

const DOCS = join(import.meta.dirname, "../../docs/metrics");

async function opened({ specialists = 0 }: { readonly specialists?: number } = {}) {
  const here = desk();
  const { clock, store, on } = here;
  const announcer = createAnnouncer();
  const scrubber = new Scrubber();
  const register = (handle: string, i: number) =>
    store.registerKey(asHandle(handle), asKeyId(`k${i}`), { limits: { perHour: 60, perDay: 500 }, floors: DEFAULT_FLOORS }, clock.now());
  await on(Promise.all(Array.from({ length: specialists }, (_, i) => register(`s${i}`, i))));
  const metrics = createMetrics(await loadPromClient(), {
    announcer,
    clock,
    scrubber,
    status: () => showStatus({ store, clock }),
    backlog: () => store.backlog(),
    specialistCount: () => specialists,
  });
  onTestFinished(() => metrics.close());
  return { ...here, announcer, scrubber, register, text: () => on(metrics.text()) };
}

const seriesOf = (text: string, name = "retinue_"): readonly string[] => text.split("\n").filter((line) => line.startsWith(name));
const valueOf = (text: string, series: string): number => Number(seriesOf(text, series)[0]?.split(" ").at(-1));
const request = { at: 0, operation: "posts.list", lane: "poll", outcome: "read", tookMs: 120, admissionMs: 1 } as const;

test("every line is a comment or a series, and each metric says its help and type", async () => {
  const { announcer, text } = await opened({ specialists: 2 });
  announcer.emit("request", { ...request, handle: 'a"\\\nb' });
  const lines = (await text()).trimEnd().split("\n");
  const series = /^[a-zA-Z_:][\w:]*(\{([a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\"n])*",?)*\})? (?:[-+]?[\d.]+(?:e[-+]?\d+)?|\+Inf|nan)$/i;
  const strange = lines.filter((line) => line !== "" && !/^# (HELP|TYPE) [a-zA-Z_:][\w:]* .+/.test(line) && !series.test(line));
  expect(strange).toEqual([]);
  expect(lines).toContain("# TYPE retinue_requests_total counter");
});

/** Fetching promtool takes 3 s, and as long as the network takes. */
const PROMTOOL_MS = 120_000;

test("promtool accepts the metrics, and the alert rules of the docs", { timeout: PROMTOOL_MS }, async () => {
  const { announcer, text } = await opened({ specialists: 2 });
  announcer.emit("request", { ...request, handle: 'a"\\\nb' });
  announcer.emit("delivery", { at: 0, handle: "s0", kind: "x", state: "parked", fresh: 0 });
  expect(complaints(["check", "metrics"], await text())).toBe("");
  expect(complaints(["check", "metrics"], "# TYPE bad_total gauge\nbad_total 1\n")).toMatch(/bad_total/);
  expect(complaints(["check", "rules", join(DOCS, "alerts.yml")], "")).toBe("");
});

test("values are those of the status", async () => {
  const { announcer, clock, store, on, text } = await opened({ specialists: 1 });
  await on(decide(store, clock.now(), [{ id: asIntentId("a") }]));
  await on(store.stop("halt", "*", "a look first", clock.now()));
  await clock.advance(MINUTE);
  announcer.emit("request", { ...request, handle: "s0" });
  announcer.emit("delivery", { at: 0, handle: "s0", kind: "x", state: "parked", fresh: 0 });
  const said = await text();
  expect(valueOf(said, 'retinue_requests_total{specialist="s0",lane="poll",outcome="read"}')).toBe(1);
  expect(valueOf(said, 'retinue_deliveries_total{state="parked"}')).toBe(1);
  expect(valueOf(said, 'retinue_quota_limit{specialist="s0",window="hour"}')).toBe(60);
  expect([valueOf(said, "retinue_outbox_actions"), valueOf(said, "retinue_outbox_age_seconds")]).toEqual([1, 60]);
  expect([valueOf(said, "retinue_halted"), valueOf(said, 'retinue_waiting{kind="approval"}')]).toEqual([1, 0]);
});

test("a lost store is told, also where what waits in it cannot be read", async () => {
  const { clock, store, on } = desk();
  const status = { ...(await on(showStatus({ store, clock }))), storeLost: { message: "disk I/O error" } };
  const metrics = createMetrics(await loadPromClient(), {
    announcer: createAnnouncer(),
    clock,
    scrubber: new Scrubber(),
    status: async () => status,
    backlog: () => Promise.reject(new Error("disk I/O error")),
    specialistCount: () => 0,
  });
  onTestFinished(() => metrics.close());
  const text = await metrics.text();
  expect(valueOf(text, "retinue_store_lost")).toBe(1);
  expect(seriesOf(text, "retinue_inbox_events")).toEqual(["retinue_inbox_events Nan"]);
});

test("a flood of handles, outcomes and lanes makes a bounded number of series", async () => {
  const { announcer, text } = await opened({ specialists: 3 });
  for (let i = 0; i < 5_000; i++) {
    announcer.emit("request", { ...request, handle: `h${i}`, outcome: "read" });
    announcer.emit("request", { ...request, handle: "s0", outcome: `o${i}`, lane: `l${i}` });
  }
  const series = seriesOf(await text(), "retinue_requests_total");
  expect(series.length).toBeLessThanOrEqual(MAX_LABELLED + 1 + 21);
  expect(series.some((line) => line.includes('specialist="other"'))).toBe(true);
});

test("with more specialists than labels there is one sum, also of quota", async () => {
  const { announcer, text } = await opened({ specialists: MAX_LABELLED + 1 });
  announcer.emit("request", { ...request, handle: "s5" });
  const said = await text();
  expect(seriesOf(said, "retinue_quota_limit")).toEqual([
    `retinue_quota_limit{specialist="all",window="hour"} ${60 * (MAX_LABELLED + 1)}`,
    `retinue_quota_limit{specialist="all",window="day"} ${500 * (MAX_LABELLED + 1)}`,
  ]);
  expect(seriesOf(said, "retinue_requests_total")).toHaveLength(1);
});

test("a secret in a label is cleaned", async () => {
  const { announcer, scrubber, text } = await opened();
  scrubber.add(new Secret("canary-of-a-secret"));
  announcer.emit("request", { ...request, handle: "canary-of-a-secret" });
  const said = await text();
  expect(said).not.toContain("canary-of-a-secret");
  expect(seriesOf(said, "retinue_requests_total")).toHaveLength(1);
});

test("the dashboard and the alert rules name only metrics that are exported", async () => {
  const { announcer, text } = await opened({ specialists: 1 });
  announcer.emit("request", { ...request, handle: "s0" });
  const exported = new Set([...(await text()).matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
  const files = globSync("*", { cwd: DOCS });
  expect(files.toSorted()).toEqual(["alerts.yml", "dashboard.json"]);
  for (const file of files) {
    const said = readFileSync(join(DOCS, file), "utf8");
    const names = [...new Set(said.match(/\b(?:retinue|nodejs)_\w+/g))].map((name) => name.replace(/_(bucket|sum|count)$/, ""));
    expect(names.length).toBeGreaterThan(5);
    expect([file, names.filter((name) => !exported.has(name))]).toEqual([file, []]);
  }
});

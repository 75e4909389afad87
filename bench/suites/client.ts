/** Client overhead: requests a second through each client with the limits it has. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { openSink } from "../harness/sink.ts";
import { shippedSaid } from "../harness/shipped.ts";
import { figure, spread, summarise } from "../harness/stats.ts";
import { startSubject } from "../harness/subject.ts";
import { inTurns, goal, type Suite } from "../harness/suite.ts";

interface Speed {
  readonly perSecond: number;
  readonly p99Ms: number;
  readonly cpuMicros: number;
}

/** Slow ones get fewer requests, so that a run stays a matter of seconds. */
const CLIENTS: readonly { readonly name: string; readonly title: string; readonly limits: string; readonly share: number }[] = [
  { name: "undici", title: "undici.request", limits: "none", share: 1 },
  { name: "fetch", title: "fetch", limits: "none", share: 0.5 },
  { name: "retinue durable", title: "Retinue, admission on disk with fsync", limits: "hour, day, lanes, money, halt; durable", share: 1 },
  { name: "retinue memory", title: "Retinue, admission in memory", limits: "hour, day, lanes, money, halt", share: 1 },
  { name: "@discordjs/rest", title: "@discordjs/rest 2.6.3", limits: "per route, as told by the server", share: 0.7 },
  { name: "@octokit/core", title: "@octokit/core 7.0.8", limits: "none", share: 0.4 },
  {
    name: "@octokit/core, throttling and retry",
    title: "@octokit/core with throttling 11.0.5, retry 8.1.1",
    limits: "concurrency",
    share: 0.03,
  },
  { name: "got, bottleneck", title: "got 16.1.0 with bottleneck 2.19.5", limits: "one window", share: 0.03 },
];
const AT_ONCE = 16;

export const suite: Suite = {
  name: "client",
  title: "Client overhead: GETs a second, 16 at a time",
  repeats: inTurns,
  async run(context) {
    const seen = new Map<string, Speed[]>();
    const missing: string[] = [];
    for (let run = 0; run < context.runs; run++)
      for (const { name, share } of CLIENTS) {
        if (context.only !== undefined && !name.includes(context.only)) continue;
        const folder = join(context.folder, `client-${run}-${name.replaceAll(/\W/g, "")}`);
        mkdirSync(folder);
        const sink = await openSink({
          onEffect: () => undefined,
          onRead: () => `{"id":"e1","content":"hello","author":{"id":"a1","handle":"bob"}}`,
        });
        try {
          const count = Math.ceil((context.quick ? 2_000 : 60_000) * share);
          const subject = await startSubject(
            "client.ts",
            { sink: sink.port, client: name, folder, atOnce: AT_ONCE, count },
            name.startsWith("retinue") ? "retinue" : "peer",
          );
          const speed = (await subject.ask("go")) as Speed;
          await subject.kill();
          seen.set(name, [...(seen.get(name) ?? []), speed]);
          context.progress(`${name}: ${figure(speed.perSecond)}/s`);
        } catch (error) {
          missing.push(`${name} could not run: ${error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error)}`);
        } finally {
          await sink.close();
        }
      }
    const of = (name: string, what: keyof Speed) => summarise((seen.get(name) ?? []).map((speed) => speed[what]));
    const ran = CLIENTS.filter(({ name }) => seen.has(name));
    const beside = (name: string, other: string): number => of(name, "perSecond").median / of(other, "perSecond").median;
    const judged = ["undici", "retinue durable", "retinue memory", "@discordjs/rest"].every((name) => seen.has(name));
    return {
      columns: ["", "limits", "requests/s", "spread", "÷ undici", "p99 ms", "CPU µs each"],
      rows: ran.map(({ name, title, limits }) => [
        title,
        limits,
        figure(of(name, "perSecond").median),
        `±${Math.round(spread(of(name, "perSecond")) * 50)} %`,
        seen.has("undici") ? figure(beside(name, "undici")) : "–",
        figure(of(name, "p99Ms").median),
        figure(of(name, "cpuMicros").median),
      ]),
      conditions: [
        "The network is one process with bare sockets; every client has a process of its own. One key, the tier lifted, no spacing.",
        "Retinue reads the answer into a record by the profile, writes an attempt before it and settles it after it; undici and fetch parse the JSON and keep nothing.",
        shippedSaid(),
        "Lifted for the peers: @discordjs/rest globalRequestsPerSecond 1,000,000 (it ships with 50); bottleneck a reservoir of 10⁹ an hour, and got's own retry off. @octokit/plugin-throttling as it ships, its two handlers answering that it shall try again.",
        ...missing,
      ],
      plots: [
        { title: "Requests a second", better: "more", column: "requests/s" },
        { title: "p99, ms", better: "less", column: "p99 ms" },
      ],
      goals: judged
        ? [
            goal("limits in memory, beside @discordjs/rest", { least: 1 }, beside("retinue memory", "@discordjs/rest"), " ×"),
            goal("durable admission, beside undici alone", { least: 0.25 }, beside("retinue durable", "undici"), " ×"),
          ]
        : [],
      // Of the processor's time for each request, which the disk and others on the machine change least.
      ratios: judged
        ? Object.fromEntries(
            ["undici", "@discordjs/rest"].flatMap((peer) =>
              ["retinue durable", "retinue memory"].map((ours) => [
                `CPU: ${peer} ÷ ${ours}`,
                of(peer, "cpuMicros").median / of(ours, "cpuMicros").median,
              ]),
            ),
          )
        : {},
    };
  },
};

/** Each invented network is served over HTTP with its page, key and a specialist, and is joined from there by its profile file. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { INVENTED } from "../../harness/networks/invented.ts";
import { serveNetwork } from "../../harness/networks/serve.ts";
import { became, folder, start } from "../../harness/process.ts";

test.for(INVENTED)("$name is served, checked and worked on", async (invented, context) => {
  const root = folder(context);
  const strange: string[] = [];
  const served = await serveNetwork(invented, { port: 0, folder: root, onStrange: (line) => strange.push(line) });
  expect(readFileSync(join(root, "page.md"), "utf8")).toMatch(/^# /);
  const profile = join(import.meta.dirname, "../../harness/networks", invented.profile);
  const run = (...args: readonly string[]) => start(context, [...args, "--profile", profile], { cwd: root });
  expect(await run("check").ended).toMatchObject({ code: 0 });
  const running = run("run");
  await running.saying(became("confirmed", "jobs.apply", "posts.reply"));
  running.kill("SIGTERM");
  expect((await running.ended).code).toBe(0);
  await served.close();
  expect(served.verdict()).toMatchObject({ duplicates: [], over: [], strange: [] });
  expect(strange).toEqual([]);
});

test("a request that the network does not know is named", async (context) => {
  const [kontor] = INVENTED;
  if (kontor === undefined) throw new TypeError("expected a network");
  const strange: string[] = [];
  const served = await serveNetwork(kontor, { port: 0, folder: folder(context), onStrange: (line) => strange.push(line) });
  const answered = await fetch(`${served.baseUrl}/v1/posts`, { headers: { "x-kontor-key": kontor.key } });
  await served.close();
  expect([answered.status, strange]).toEqual([404, ["GET /v1/posts"]]);
});

/** The console's port of a real process: health for whoever watches over it, status for whoever holds the token. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isObject, parseJson } from "../../src/core/json.ts";
import { consoleDesk, TOKEN as GUARDIANS_TOKEN } from "../harness/console-desk.ts";
import { folder, resultOf, textIn } from "../harness/process.ts";
import { runLab } from "../harness/run-command.ts";
import { tlsFiles } from "../harness/tls-files.ts";

const IDLER = `
import { defineSpecialist } from "retinue";
export default defineSpecialist({ handle: "scout", tier: "pro", watch: { feed: { from: "start" } }, may: [], on: { "post.created": () => {} } });
`;
const TOKEN = "a-token-of-the-console";

async function ask(url: string, token?: string): Promise<{ readonly status: number; readonly body: unknown }> {
  const answer = await fetch(url, token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } });
  return { status: answer.status, body: parseJson(await answer.text()) };
}

test("health is told to anybody, status to the token alone, and the token to nobody", async (context) => {
  const lab = await runLab(context, IDLER);
  const run = lab.run({ env: { RETINUE_CONSOLE_PORT: "0", RETINUE_CONSOLE_TOKEN: TOKEN } });
  const url = textIn(await run.saying(({ type }) => type === "console"), "url");
  await lab.news("Something to handle");
  await run.saying(({ type }) => type === "run");
  expect(await ask(`${url}/healthz`)).toEqual({ status: 200, body: { ok: true } });
  expect(await ask(`${url}/readyz`)).toEqual({ status: 200, body: { ready: true, reasons: [] } });
  expect(await ask(`${url}/api/status`)).toMatchObject({ status: 401, body: { error: { code: "token_wrong" } } });
  expect(await ask(`${url}/api/status`, `${TOKEN}x`)).toMatchObject({ status: 401 });
  expect(await ask(`${url}/api/status`, TOKEN)).toMatchObject({
    status: 200,
    body: { running: { pid: run.pid }, specialists: [{ handle: "scout", tier: "pro" }] },
  });
  expect(await ask(`${url}/metrics`)).toMatchObject({ status: 401, body: { error: { code: "token_wrong" } } });
  const metrics = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } });
  expect([metrics.status, metrics.headers.get("content-type")]).toEqual([200, "text/plain; version=0.0.4; charset=utf-8"]);
  expect(await metrics.text()).toMatch(/^retinue_runs_total\{specialist="scout",result="finished"\} 1$/m);
  expect(await ask(`${url}/nothing`)).toMatchObject({ status: 404, body: { error: { code: "not_found" } } });

  lab.network.regenerateKey("scout");
  await run.saying(({ type }) => type === "parked");
  expect(await ask(`${url}/readyz`)).toEqual({ status: 503, body: { ready: false, reasons: ["no_key_usable"] } });
  run.kill("SIGTERM");
  const ended = await run.ended;
  expect(ended.code).toBe(0);
  expect(JSON.stringify(run.said) + ended.stdout + run.strays.join()).not.toContain(TOKEN);
  await expect(ask(`${url}/healthz`)).rejects.toThrow("fetch failed");
});

test("an order at the console stops the process's writes, is a row, and reaches open pages", async (context) => {
  const lab = await runLab(context, IDLER);
  const run = lab.run({ env: { RETINUE_CONSOLE_PORT: "0", RETINUE_CONSOLE_TOKEN: TOKEN } });
  const url = textIn(await run.saying(({ type }) => type === "console"), "url");
  const authorization = `Bearer ${TOKEN}`;
  const gone = new AbortController();
  context.onTestFinished(() => gone.abort());
  const live = await fetch(`${url}/api/live`, { headers: { authorization }, signal: gone.signal });
  const changes = live.body?.pipeThrough(new TextDecoderStream()).getReader();
  expect((await changes?.read())?.value).toContain('"all":true');
  const body = JSON.stringify({ reason: "odd replies" });
  const headers = { authorization, "content-type": "application/json" };
  const halted = await fetch(`${url}/api/orders/halt`, { method: "POST", headers, body });
  expect([halted.status, await halted.json()]).toEqual([200, { message: "halted: no specialist writes", inFlight: [] }]);
  let text = "";
  while (!text.includes('"needs":1')) text += (await changes?.read())?.value ?? "";
  expect(await ask(`${url}/api/needs`, TOKEN)).toMatchObject({
    body: { total: 1, needs: [{ kind: "halt", message: "halted: odd replies" }] },
  });
  expect(await ask(`${url}/api/orders`, TOKEN)).toMatchObject({ body: { entries: [{ who: "guardian", from: "console", what: "halt" }] } });
  expect(await ask(`${url}/api/specialists/scout`, TOKEN)).toMatchObject({
    body: { plan: { handle: "scout", sources: [{ name: "feed" }] } },
  });
  run.kill("SIGTERM");
  expect((await run.ended).code).toBe(0);
});

test("without a token there is no status, and a port in use starts nothing", async (context) => {
  const lab = await runLab(context, IDLER);
  const run = lab.run({ env: { RETINUE_CONSOLE_PORT: "0" } });
  const url = textIn(await run.saying(({ type }) => type === "console"), "url");
  expect(await ask(`${url}/api/status`, "anything")).toMatchObject({ status: 403, body: { error: { code: "token_missing" } } });
  run.kill("SIGTERM");
  await run.ended;

  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  context.onTestFinished(() => void other.close());
  const { port } = other.address() as AddressInfo;
  const before = lab.network.summary(["scout"]).network.requests;
  const late = await lab.run({ env: { RETINUE_CONSOLE_PORT: String(port) } }).ended;
  expect(late.code).toBe(1);
  const { error } = resultOf(late);
  expect(isObject(error) && error["code"]).toBe("port_in_use");
  expect(lab.network.summary(["scout"]).network.requests - before).toBeLessThanOrEqual(1); // the look whether anybody is there
});

test("with its own files it speaks TLS, and its cookie stays there", async (context) => {
  const desk = await consoleDesk(undefined, { tls: tlsFiles(folder(context)) });
  expect(desk.url).toMatch(/^https:/);
  const { status, headers } = await desk.ask("/api/session", { body: { token: GUARDIANS_TOKEN }, headers: { origin: desk.url } });
  expect([status, headers["set-cookie"]?.[0]]).toEqual([200, expect.stringMatching(/; Secure$/)]);
});

test("a certificate or a key that cannot be used opens nothing", async (context) => {
  const root = folder(context);
  for (const which of ["cert", "key"] as const) {
    const files = tlsFiles(root);
    writeFileSync(files[which], "no PEM");
    for (const path of [files[which], join(root, "none.pem")])
      await expect(consoleDesk(undefined, { tls: { ...files, [which]: path } })).rejects.toMatchObject({ code: "console_tls_unreadable" });
  }
});

/** Who may ask the console: tokens, sessions, hosts, origins and roles, over real HTTP. */
import { expect, test } from "vitest";
import { ACTOR, codeOf, consoleDesk, TOKEN, VIEWER } from "../harness/console-desk.ts";
import { folder } from "../harness/process.ts";
import { tlsFiles } from "../harness/tls-files.ts";

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

test("a login gives a session that a script cannot read and another site cannot send", async () => {
  const { ask } = await consoleDesk();
  const { status, json, headers } = await ask("/api/session", { body: { token: TOKEN } });
  expect([status, json]).toEqual([200, { who: "guardian", role: "act", csrf: expect.any(String) }]);
  expect(headers["set-cookie"]?.[0]).toMatch(/^retinue_\d+=[\w.-]+; HttpOnly; SameSite=Strict; Path=\/; Max-Age=\d+$/);
});

test("each person is known by their token, and a token that nobody holds is refused", async () => {
  const { ask } = await consoleDesk();
  expect((await ask("/api/session", bearer(VIEWER))).json).toEqual({ who: "vera", role: "view" });
  expect((await ask("/api/session", bearer(ACTOR))).json).toEqual({ who: "anna", role: "act" });
  const wrong = await ask("/api/session", bearer(`${TOKEN}x`));
  expect([wrong.status, codeOf(wrong), wrong.headers["www-authenticate"]]).toEqual([401, "token_wrong", "Bearer"]);
  expect(JSON.stringify(wrong.json)).toContain("the demo prints it beside the console's address");
  expect((await ask("/api/session")).status).toBe(401);
  expect(codeOf(await ask("/api/session", { body: { token: 7 } }))).toBe("query_invalid");
  expect(codeOf(await ask("/api/session", { body: "{" }))).toBe("query_invalid");
});

test("a session outlives a restart, and ends when its token changes", async () => {
  const tokens: { [who: string]: string | undefined } = { guardian: TOKEN, anna: ACTOR };
  const desk = await consoleDesk(tokens);
  const { cookie } = await desk.login();
  const annas = await desk.login(ACTOR);
  await desk.restart();
  expect((await desk.ask("/api/needs", { headers: { cookie } })).status).toBe(200);
  tokens["guardian"] = "another-token-of-the-guardian";
  const over = await desk.ask("/api/needs", { headers: { cookie } });
  expect([over.status, codeOf(over)]).toEqual([401, "session_over"]);
  expect((await desk.ask("/api/needs", { headers: { cookie: annas.cookie } })).status).toBe(200);
  expect(codeOf(await desk.order({ cookie, csrf: "" }, "pause", {}))).toBe("session_over");
});

test("leaving ends the session with every copy of its cookie, also after a restart, and no other session", async () => {
  const { ask, login, restart } = await consoleDesk();
  const [{ cookie: copied }, { cookie: other }] = [await login(), await login()];
  await ask("/api/session", { method: "DELETE", headers: { cookie: copied } });
  const answers = async () =>
    Promise.all([copied, other].map(async (cookie) => (await ask("/api/session", { headers: { cookie } })).status));
  expect(await answers()).toEqual([401, 200]);
  expect(codeOf(await ask("/api/session", { headers: { cookie: copied } }))).toBe("session_over");
  await restart();
  expect(await answers()).toEqual([401, 200]);
});

test("leaving ends the cookie", async () => {
  const { ask, login } = await consoleDesk();
  const { cookie } = await login();
  const left = await ask("/api/session", { method: "DELETE", headers: { cookie } });
  expect([left.status, left.headers["set-cookie"]?.[0]]).toEqual([204, expect.stringMatching(/=; .*Max-Age=0/)]);
});

test("without any token nothing is told", async () => {
  const { ask } = await consoleDesk({ guardian: undefined });
  expect([(await ask("/api/status")).status, codeOf(await ask("/api/status", bearer("x")))]).toEqual([403, "token_missing"]);
});

test.each([
  [{ host: "evil.example" }, "host_refused"],
  [{ origin: "https://evil.example" }, "origin_refused"],
  [{ origin: "null" }, "origin_refused"],
  [{ "x-csrf-token": "forged" }, "csrf_wrong"],
  [{ "x-csrf-token": "" }, "csrf_wrong"],
])("an order with %j is refused, and changes nothing", async (headers, code) => {
  const { ask, login, store } = await consoleDesk();
  const { cookie, csrf } = await login();
  const answer = await ask("/api/orders/pause", { headers: { cookie, "x-csrf-token": csrf, ...headers }, body: {} });
  expect([answer.status, codeOf(answer)]).toEqual([403, code]);
  expect((await store.stops()).pauses).toEqual([]);
});

test("a password that a proxy asks for does not stand in the way of a session, and is no guess of a token", async () => {
  const { ask, login } = await consoleDesk();
  const { cookie, csrf } = await login();
  const authorization = "Basic cHJveHk6cGFzc3dvcmQ=";
  expect((await ask("/api/session", { headers: { cookie, authorization } })).status).toBe(200);
  expect((await ask("/api/needs", { headers: { cookie, authorization } })).status).toBe(200);
  const forged = { cookie, authorization, "x-csrf-token": `${csrf}x` };
  expect(codeOf(await ask("/api/orders/pause", { headers: forged, body: {} }))).toBe("csrf_wrong");
  expect((await ask("/api/needs", { headers: { authorization } })).status).toBe(401);
});

test("a login from another host or origin is refused before its token is looked at", async () => {
  const { ask } = await consoleDesk();
  const from = (headers: { readonly [name: string]: string }) => ask("/api/session", { headers, body: { token: TOKEN } });
  expect(codeOf(await from({ host: "evil.example" }))).toBe("host_refused");
  expect(codeOf(await from({ origin: "https://evil.example" }))).toBe("origin_refused");
});

test("the stated address is one of its own, and its cookie is sent over https alone", async () => {
  const { ask } = await consoleDesk(undefined, { url: new URL("https://console.example.com") });
  const there = { host: "console.example.com", origin: "https://console.example.com" };
  const { status, headers } = await ask("/api/session", { headers: there, body: { token: TOKEN } });
  expect([status, headers["set-cookie"]?.[0]]).toEqual([200, expect.stringMatching(/; Secure$/)]);
});

test("the role view reads everything and gives no order", async () => {
  const desk = await consoleDesk();
  const session = await desk.login(VIEWER);
  expect((await desk.ask("/api/status", { headers: { cookie: session.cookie } })).status).toBe(200);
  const refused = await desk.order(session, "halt", {});
  expect([refused.status, codeOf(refused)]).toEqual([403, "role_view"]);
  expect((await desk.store.stops()).halts).toEqual([]);
});

test("after many wrong tokens the right one is let in", async () => {
  const { ask, login } = await consoleDesk();
  const guesses = await Promise.all(Array.from({ length: 12 }, (_, i) => ask("/api/session", { body: { token: `guess ${i}` } })));
  expect(guesses.map(({ status }) => status)).toEqual(guesses.map(() => 401));
  expect((await login()).csrf).not.toBe("");
});

test.for(["nothing before it", "files of its own for TLS, and an address"])(
  "a console with %s believes nobody who chooses the address that is slowed",
  async (what, context) => {
    const own = { tls: tlsFiles(folder(context)), url: new URL("https://console.example.com") };
    const { ask } = await consoleDesk(undefined, what.startsWith("files") ? own : {});
    const guess = (i: number) => ask("/api/session", { headers: { "x-forwarded-for": `8.8.8.${i}` }, body: { token: "guess" } });
    const answers = await Promise.all(Array.from({ length: 80 }, (_, i) => guess(i)));
    expect(answers.map(codeOf)).toContain("logins_slowed");
  },
);

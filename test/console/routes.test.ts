/** The console's interface over real HTTP: reads, orders with who was first, exports, and streams; each bad input is refused or bounded. */
import { get, type IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { isObject, parseJson, textIn } from "../../src/core/json.ts";
import { DAY, SECOND } from "../../src/core/units.ts";
import { asEventId, asHandle, asIntentId } from "../../src/core/ids.ts";
import { MAX_STREAMS } from "../../src/console/live-changes.ts";
import { MAX_TITLE } from "../../src/store/sources.ts";
import type { ActionEntry } from "../../src/guardian/log-entries.ts";
import { ACTOR, codeOf, consoleDesk, VIEWER, type ConsoleDesk, type Session } from "../harness/console-desk.ts";
import { decide } from "../harness/builders.ts";
import { propose } from "../harness/proposed.ts";

const reading =
  (desk: ConsoleDesk, { cookie }: Session) =>
  (path: string) =>
    desk.ask(path, { headers: { cookie } });

async function withProposal(id = "p1") {
  const desk = await consoleDesk();
  await propose(desk.store, { id, input: { content: "a reply" }, now: Date.now() - 10 * SECOND });
  const session = await desk.login();
  const read = reading(desk, session);
  const { json } = await read("/api/needs");
  const [need] = Array.isArray(json["needs"]) ? json["needs"] : [];
  const proposal = isObject(need) ? need["proposal"] : undefined;
  const hash = isObject(proposal) ? (textIn(proposal, "hash") ?? "") : "";
  return { ...desk, desk, session, read, hash };
}

test("what waits for a person is shown with its exact payload, and approved by the hash of what was shown", async () => {
  const { read, order, session, hash, store } = await withProposal();
  expect((await read("/api/needs")).json).toMatchObject({
    total: 1,
    counts: { approval: 1 },
    needs: [{ key: "approval:p1", proposal: { input: { content: "a reply" } }, orders: [{ order: "approve" }, { order: "reject" }] }],
  });
  const approved = await order(session, "approve", { id: "p1", hash, reason: "go on" });
  expect([approved.status, approved.json]).toEqual([200, { message: "approved: posts.reply of scout" }]);
  expect((await store.approvalOf(asIntentId("p1")))?.state).toBe("approved");
  expect((await read("/api/orders")).json).toMatchObject({
    total: 1,
    entries: [{ who: "guardian", from: "console", what: "approve", subject: "p1", why: "go on", result: "approved: posts.reply of scout" }],
  });
});

test("a second decision is told who was first, and when", async () => {
  const { desk, order, session, hash, store } = await withProposal();
  const anna = await desk.login(ACTOR);
  const both = await Promise.all([order(session, "reject", { id: "p1" }), order(anna, "approve", { id: "p1", hash })]);
  expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
  const first = (await store.approvalOf(asIntentId("p1")))?.state === "approved" ? "anna" : "guardian";
  const late = await order(anna, "reject", { id: "p1" });
  expect([late.status, codeOf(late)]).toEqual([409, "approval_over"]);
  const refused = [...both, late].filter(({ status }) => status === 409);
  for (const { text } of refused) expect(text).toMatch(/ by (anna|guardian), \d{4}-\d\d-\d\dT/);
  expect(new Set(refused.map(({ text }) => / by (\w+),/.exec(text)?.[1]))).toEqual(new Set([first]));
});

test("an order for something else than what was shown changes nothing", async () => {
  const { order, session, hash, store } = await withProposal();
  const other = `${hash.slice(0, -1)}${hash.endsWith("0") ? "1" : "0"}`;
  const refused = await order(session, "approve", { id: "p1", hash: other });
  expect([refused.status, codeOf(refused)]).toEqual([409, "changed_meanwhile"]);
  expect((await store.approvalOf(asIntentId("p1")))?.state).toBe("asked");
});

test("unknown orders, ids and addresses are told as such", async () => {
  const { order, session, read } = await withProposal();
  expect([codeOf(await order(session, "backup", { file: "/tmp/x" })), codeOf(await order(session, "retry", { id: "nobody" }))]).toEqual([
    "order_unknown",
    "nothing_parked",
  ]);
  expect((await read("/api/why?id=nobody")).status).toBe(404);
  expect((await read("/api/specialists/nobody")).status).toBe(404);
  expect(codeOf(await read("/api/nothing"))).toBe("not_found");
  expect(codeOf(await read("/api/log?limit=many"))).toBe("query_invalid");
});

test("specialists, their newest events and an explanation are read by everyone who may look", async () => {
  const { desk, store } = await withProposal();
  const read = reading(desk, await desk.login(VIEWER));
  const watch = {
    specialist: asHandle("scout"),
    kind: "job",
    object: "j1",
    state: "applied",
    data: { title: "A poem" },
    dueAt: 1,
  } as const;
  await store.putEvents({ events: [], watches: [watch] }, Date.now());
  expect((await read("/api/specialists?search=sco")).json).toMatchObject({ total: 1, rows: [{ handle: "scout" }] });
  expect((await read("/api/specialists?state=parked")).json).toMatchObject({ total: 0, rows: [] });
  expect((await read("/api/specialists/scout")).json).toMatchObject({ specialist: { handle: "scout", awaiting: { count: 1 } } });
  expect(parseJson((await read("/api/specialists/scout/feed")).text)).toMatchObject([{ kind: "post.created" }]);
  expect((await read("/api/specialists/scout/events")).json).toMatchObject({
    entries: [{ kind: "post.created", actions: [{ id: "p1" }] }],
  });
  expect((await read("/api/specialists/scout/jobs")).json).toMatchObject({
    columns: [{ state: "applied", count: 1, jobs: [{ id: "j1", title: "A poem", followed: true }] }],
  });
  expect((await read("/api/usage?since=0")).json).toEqual({ hours: expect.any(Array) });
  expect((await read("/api/why?id=p1")).json).toMatchObject({ about: "intent", state: "proposed", approval: { hash: expect.any(String) } });
  expect((await read("/api/log?search=reply")).json).toMatchObject({ entries: [{ id: "p1" }] });
});

test("the log is exported whole, page after page", async () => {
  const { desk, read, store } = await withProposal();
  for (const part of [4, 3, 2]) {
    const drafts = Array.from({ length: 400 }, (_, i) => ({ id: asIntentId(`a${part}-${i}`), conflictKey: `a${part}-${i}` }));
    await decide(store, Date.now() - part * SECOND, drafts);
  }
  const lines = await read("/api/log/export?format=jsonl");
  expect([lines.headers["content-type"], lines.headers["content-disposition"]]).toEqual([
    "application/jsonl; charset=utf-8",
    'attachment; filename="retinue-log.jsonl"',
  ]);
  const ids = lines.text
    .trimEnd()
    .split("\n")
    .map((line) => String(Reflect.get(Object(parseJson(line)), "id")));
  expect([ids.length, new Set(ids).size]).toEqual([1_201, 1_201]);
  expect((await read("/api/log/export?format=csv")).text.trimEnd().split("\r\n")).toHaveLength(1_202);
  expect(codeOf(await read("/api/log/export?format=xml"))).toBe("query_invalid");
  expect((await desk.ask("/api/log/export")).status).toBe(401);
});

test("hostile text of a megabyte is shown as text, and stops nothing", async () => {
  const desk = await consoleDesk();
  const { store } = desk;
  const read = reading(desk, await desk.login());
  const hostile = `=cmd|<script>alert(1)</script>\u202e\u001b[2J${"x".repeat(1_024 * 1_024)}`;
  const event = {
    id: asEventId("post.created:h"),
    kind: "post.created",
    payload: { content: hostile, authorHandle: hostile },
    hops: 0,
  } as const;
  await store.putEvents({ events: [{ ...event, specialist: asHandle("scout"), via: "poll" }] }, Date.now());
  await propose(store, { id: "h1", input: { content: hostile }, now: Date.now() });
  const job = { ...event, id: asEventId("job.listed:j1"), kind: "job.listed", payload: { title: hostile } };
  const watch = { specialist: asHandle("scout"), kind: "job", object: "j1", state: "applied", data: {}, dueAt: 1 } as const;
  await store.putEvents({ events: [{ ...job, specialist: asHandle("scout"), via: "poll" }], watches: [watch] }, Date.now());
  expect((await read("/api/specialists/scout/jobs")).json).toMatchObject({ columns: [{ jobs: [{ title: hostile.slice(0, MAX_TITLE) }] }] });
  const needs = await read("/api/needs");
  expect([needs.status, needs.headers["content-type"], needs.headers["x-content-type-options"]]).toEqual([
    200,
    "application/json; charset=utf-8",
    "nosniff",
  ]);
  expect(JSON.stringify(needs.json)).toContain("<script>alert(1)</script>");
  expect((await read("/api/specialists/scout/feed")).status).toBe(200);
  const exported = (await read("/api/log/export?format=csv")).text;
  expect([exported.includes(`"=cmd`), exported.includes("\u001b")]).toEqual([false, false]);
  expect(desk.errors).toEqual([]);
});

test("a body that is too large or no JSON is refused", async () => {
  const { desk, session } = await withProposal();
  const large = await desk.order(session, "reject", { id: "p1", reason: "x".repeat(100_000) });
  expect([large.status, codeOf(large)]).toEqual([413, "failed"]);
  const headers = { cookie: session.cookie, "x-csrf-token": session.csrf };
  const text = await desk.ask("/api/orders/pause", { headers: { ...headers, "content-type": "text/plain" }, body: "x" });
  expect([text.status, text.json]).toMatchObject([415, { error: { hint: "send it with content-type: application/json" } }]);
  expect(codeOf(await desk.ask("/api/orders/pause", { headers, body: "[1]" }))).toBe("query_invalid");
  for (const body of ["{'handle': 'scout'}", '{"handle": "sc', "null", " "])
    expect(codeOf(await desk.ask("/api/orders/pause", { headers, body })), "cut off, it must not pause everyone").toBe("query_invalid");
});

/** An open stream, with the text that came so far. */
async function stream(desk: ConsoleDesk, { cookie }: Session, headers: { readonly [name: string]: string } = {}, path = "/api/live") {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = get(`${desk.url}${path}`, { agent: false, headers: { cookie, ...headers } }, resolve).on("error", reject);
    onTestFinished(() => void request.destroy());
  });
  let text = "";
  response.setEncoding("utf8");
  response.on("data", (chunk: string) => (text += chunk)).on("error", () => undefined);
  return { status: response.statusCode, headers: response.headers, text: () => text, response };
}

test("changes come over a stream, which goes on by number on another connection", async () => {
  const { desk, session } = await withProposal();
  const first = await stream(desk, session);
  expect([first.status, first.headers["content-type"]]).toEqual([200, "text/event-stream"]);
  await expect.poll(first.text).toMatch(/^id: \d+\nevent: change\ndata: .*"needs":1,.*"all":true/);
  desk.announcer.emit("job", { at: Date.now(), handle: "scout", job: "j", state: "paid" });
  await expect.poll(first.text).toContain('"handles":["scout"]');
  const last = [...first.text().matchAll(/^id: (\d+)$/gm)].at(-1)?.[1] ?? "";
  const again = await stream(desk, session, { "last-event-id": last });
  await expect.poll(again.text).toContain('"handles":[]}');
  expect(again.text()).not.toContain("all");
  const ended = new Promise((resolve) => first.response.once("close", resolve));
  await desk.close();
  await ended;
});

test("a HEAD takes no place among the pages, and reads no log", async () => {
  const desk = await consoleDesk();
  const session = await desk.login();
  for (const path of ["/api/live", "/api/log/export"]) {
    const answer = await desk.ask(path, { method: "HEAD", headers: { cookie: session.cookie } });
    expect([path, answer.status]).toEqual([path, 404]);
  }
});

test("300 open pages are bounded: those beyond are told so, and orders go on", async () => {
  const { desk, session, hash } = await withProposal();
  const streams = await Promise.all(Array.from({ length: 300 }, () => stream(desk, session)));
  const open = streams.filter(({ status }) => status === 200);
  const refused = streams.filter(({ status }) => status === 503);
  expect([open.length, refused.length]).toEqual([MAX_STREAMS, 300 - MAX_STREAMS]);
  await expect.poll(() => refused[0]?.text()).toContain("streams_full");
  expect(refused[0]?.headers["retry-after"]).toBe("5");
  expect((await desk.order(session, "approve", { id: "p1", hash })).status).toBe(200);
});

/** A connection that asks for an export, and reads nothing of it. */
function silentExport(desk: ConsoleDesk, { cookie }: Session): Socket {
  const { hostname, port } = new URL(desk.url);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  socket.write(`GET /api/log/export HTTP/1.1\r\nhost: ${hostname}:${port}\r\ncookie: ${cookie}\r\n\r\n`);
  return socket.pause();
}

test("a reader that stops reading an export asks the store for no more, and pages stay live", async () => {
  let asked = 0;
  const entry: ActionEntry = { about: "action", seq: 1, id: "a", at: 0, handle: "scout", operation: "posts.create", state: "confirmed" };
  const endless = async () => ({ entries: Array.from({ length: 500 }, () => ({ ...entry, message: "x".repeat(2_000) })), next: ++asked });
  const desk = await consoleDesk(undefined, { guardianOf: (guardian) => ({ ...guardian, log: endless }) });
  const session = await desk.login();
  const other = await stream(desk, session);
  const silent = Array.from({ length: 4 }, () => silentExport(desk, session));
  await expect.poll(() => asked).toBeGreaterThan(0);
  // A megabyte a page: as many as the buffers of a connection take.
  let before = -1;
  while (before !== asked) {
    before = asked;
    for (let i = 0; i < 20; i++) await desk.ask("/healthz");
  }
  expect(asked).toBeLessThan(silent.length * 30);
  const refused = await reading(desk, session)("/api/log/export");
  expect([refused.status, codeOf(refused)]).toEqual([503, "exports_full"]);
  desk.announcer.emit("job", { at: Date.now(), handle: "scout", job: "j", state: "paid" });
  await expect.poll(other.text).toContain('"handles":["scout"]');
  for (const socket of silent) socket.destroy();
  await expect.poll(async () => (await stream(desk, session, {}, "/api/log/export")).status).toBe(200);
});

test("an approval that ran out is over, whoever answers", async () => {
  const desk = await consoleDesk();
  await propose(desk.store, { id: "old", input: { content: "x" }, now: Date.now() - 10 * DAY });
  const session = await desk.login();
  const late = await desk.order(session, "reject", { id: "old" });
  expect([late.status, codeOf(late)]).toEqual([409, "approval_over"]);
});

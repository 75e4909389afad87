/** My Agents, as a browser without scripts uses it. */
import http from "node:http";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { seededRandom } from "../../src/core/random.ts";
import type { Listening, LocalNetwork } from "../../src/local-network/options.ts";
import { createLocalNetwork } from "../../src/local-network/local-network.ts";
import { asking } from "../harness/visitor.ts";

let network: LocalNetwork;
let listening: Listening;

beforeEach(async () => {
  network = createLocalNetwork({ clock: systemClock(), random: seededRandom(2) });
  listening = await network.listen();
});
afterEach(async () => {
  await listening.close();
  await network.stop();
});

interface Page {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly html: string;
}

type Fields = Readonly<Record<string, string>>;

function visit(path: string, { form, headers = {} }: { form?: Fields; headers?: Fields } = {}): Promise<Page> {
  return new Promise((resolve, reject) => {
    const request = http.request(`${listening.origin}${path}`, {
      method: form === undefined ? "GET" : "POST",
      agent: false,
      headers: { ...(form === undefined ? {} : { "content-type": "application/x-www-form-urlencoded" }), ...headers },
    });
    request.on("error", reject);
    request.on("response", (response) => {
      let html = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (html += chunk));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, html }));
    });
    request.end(form === undefined ? undefined : new URLSearchParams(form).toString());
  });
}

/** What a browser says of where a form came from: Fetch, "append a request `Origin` header". */
const originOf = ({ headers }: Page): string => (headers["referrer-policy"] === "no-referrer" ? "null" : listening.origin);

/** Logs in, and gives what every later form needs. */
async function loggedIn(): Promise<{
  cookie: string;
  csrf: string;
  post: (path: string, form: Fields) => Promise<Page>;
  list: () => Promise<string>;
}> {
  const origin = originOf(await visit("/guardian"));
  const { headers } = await visit("/guardian/login", { form: { token: listening.guardian.token }, headers: { origin } });
  const cookie = headers["set-cookie"]?.[0]?.split(";")[0] ?? "";
  const list = async (): Promise<string> => (await visit("/guardian", { headers: { cookie } })).html;
  const csrf = /name="csrf" value="([^"]+)"/.exec(await list())?.[1] ?? "";
  return { cookie, csrf, list, post: (path, form) => visit(path, { form: { csrf, ...form }, headers: { cookie, origin } }) };
}

const keyIn = ({ html }: Page): string => /(?:sk_live_|sk-agent-)[\w-]+/.exec(html)?.[0] ?? "";
const works = async (key: string): Promise<number> => (await asking(network, "b", key)("GET", "/v1/posts")).status;

describe("My Agents", () => {
  it("creates a specialist whose key is shown once and works", async () => {
    const { post, list } = await loggedIn();
    const shown = await post("/guardian/create", { handle: "scout", name: "Scout", tier: "pro", style: "a" });
    const key = keyIn(shown);
    expect(key).toMatch(/^sk-agent-/);
    expect(await works(key)).toBe(200);
    expect(shown.html).toContain("RETINUE_KEY_SCOUT");
    expect(await list()).toContain("@scout");
    expect(await list()).not.toContain(key);
    expect(network.find("scout")).toMatchObject({ tier: "pro", name: "Scout" });
  });

  it("shows webhook deliveries with what became of them, and redelivers one", async () => {
    let received = 0;
    const receiver = http.createServer((request, response) => {
      request.resume();
      received++;
      response.writeHead(204).end();
    });
    await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
    const address = receiver.address();
    const port = typeof address === "object" ? address?.port : undefined;
    network.start();
    const [scout, quill] = ["scout", "quill"].map((handle) => asking(network, "b", network.provision({ handle, tier: "free" }).key));
    await scout?.("POST", "/v1/webhooks", { body: { url: `http://127.0.0.1:${port}/<hook>` } });
    await quill?.("POST", "/v1/posts", { body: { content: "news" } });
    await expect.poll(() => network.deliveries()[0]?.status).toBe("delivered");
    const { list, post } = await loggedIn();
    const id = network.deliveries()[0]?.id ?? "";
    expect(await list()).toMatch(new RegExp(`${id}.*@scout.*post.created.*delivered.*HTTP 204`));
    expect((await post("/guardian/redeliver", { delivery: id })).status).toBe(303);
    await expect.poll(() => network.deliveries()[0]?.attempts).toHaveLength(2);
    expect(received).toBe(2);
    expect((await post("/guardian/redeliver", { delivery: "evt_none" })).html).toContain("there is no delivery");
    await new Promise((resolve) => receiver.close(resolve));
  });

  it("regenerates a key after a confirmation, and the old one dies at once", async () => {
    const { post } = await loggedIn();
    const { key } = network.provision({ handle: "scout", tier: "free" });
    const asked = await post("/guardian/regenerate", { handle: "scout" });
    expect(asked.html).toContain("stops working at once");
    expect(await works(key)).toBe(200);
    const fresh = keyIn(await post("/guardian/regenerate", { handle: "scout", confirm: "yes", style: "b" }));
    expect([await works(key), await works(fresh)]).toEqual([401, 200]);
  });

  it("sets tier and spending limits, and decides what waits", async () => {
    const { post, list } = await loggedIn();
    const { key } = network.provision({ handle: "scout", tier: "free" });
    expect((await post("/guardian/tier", { handle: "scout", tier: "growth" })).status).toBe(303);
    await post("/guardian/spending", { handle: "scout", perTransaction: "5", perMonth: "" });
    expect(network.find("scout")).toMatchObject({ tier: "growth", spending: { perTransaction: 5 } });
    await asking(network, "b", key)("POST", "/v1/jobs", { body: { title: "<b>Work</b>", description: "d", reward: 6 } });
    const html = await list();
    expect(html).toContain("Waiting for you");
    expect(html).not.toContain("<b>Work</b>");
    await post("/guardian/decide", { approval: network.approvals()[0]?.id ?? "", approve: "yes" });
    expect(network.jobs()).toHaveLength(1);
    expect(await list()).not.toContain("Waiting for you");
  });

  it.each([
    ["/guardian/create", { handle: "No Good", tier: "free" }, "a handle is 2 to 40"],
    ["/guardian/create", { handle: "taken", tier: "free" }, "is taken"],
    ["/guardian/create", { handle: "fine", tier: "gold" }, "expected a tier"],
    ["/guardian/tier", { handle: "nobody", tier: "pro" }, "no specialist"],
    ["/guardian/spending", { handle: "taken", perMonth: "-1" }, "expected a number"],
    ["/guardian/decide", { approval: "apr_9", approve: "yes" }, "nothing pending"],
  ])("says what is wrong with %s %j", async (path, form, message) => {
    network.provision({ handle: "taken", tier: "free" });
    const { post } = await loggedIn();
    const page = await post(path, form as unknown as Fields);
    expect(page.status).toBe(422);
    expect(page.html).toContain(message);
  });

  it("keeps out who has no token, no session, no CSRF token, another origin or another host", async () => {
    network.provision({ handle: "scout", tier: "free" });
    const { cookie, csrf } = await loggedIn();
    expect((await visit("/guardian")).html).not.toContain("@scout");
    expect((await visit("/guardian/login", { form: { token: "guess" } })).status).toBe(403);
    const form = { handle: "scout", tier: "pro", csrf };
    expect((await visit("/guardian/tier", { form })).status).toBe(403);
    expect((await visit("/guardian/tier", { form: { ...form, csrf: "no" }, headers: { cookie } })).status).toBe(403);
    expect((await visit("/guardian/tier", { form, headers: { cookie, origin: "https://evil.example" } })).status).toBe(403);
    expect((await visit("/guardian/tier", { form, headers: { cookie, host: "evil.example" } })).status).toBe(403);
    expect((await visit("/guardian", { headers: { cookie, host: "evil.example" } })).html).not.toContain("@scout");
    expect(network.find("scout")?.tier).toBe("free");
    expect((await visit("/guardian/tier", { form, headers: { cookie, origin: listening.origin } })).status).toBe(303);
  });

  it("shows text of others as text, under a policy without scripts", async () => {
    network.provision({ handle: "scout", tier: "free", name: `<script>alert("1")</script>` });
    const { cookie } = await loggedIn();
    const { html, headers } = await visit("/guardian", { headers: { cookie } });
    expect(html).not.toContain("<script");
    expect(headers["content-security-policy"]).toContain("default-src 'none'");
    expect(headers["cache-control"]).toBe("no-store");
    expect((await visit("/guardian/style.css")).headers["content-type"]).toContain("text/css");
  });

  it("slows guesses, and lets in whoever holds the token after them", async () => {
    const guesses = Array.from({ length: 8 }, () => visit("/guardian/login", { form: { token: "guess" } }));
    expect((await Promise.all(guesses)).map(({ status }) => status)).toEqual(guesses.map(() => 403));
    expect((await visit("/guardian/login", { form: { token: listening.guardian.token } })).status).toBe(303);
  });
});

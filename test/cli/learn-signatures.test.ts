/** `retinue doctor --webhooks`: the process itself, delivered to by the local network and by requests signed without our code. */
import { spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { Webhook } from "standardwebhooks";
import { resolveProfile } from "../../src/contract/profile/profile.ts";
import { readProfile } from "../../src/config/profile-file.ts";
import { systemClock } from "../../src/core/clock.ts";
import { isObject, parseJson, type Json } from "../../src/core/json.ts";
import { seededRandom } from "../../src/core/random.ts";
import type { WebhookScheme } from "../../src/local-network/assumptions.ts";
import { createLocalNetwork } from "../../src/local-network/local-network.ts";
import { project } from "../harness/project.ts";
import { asking, textAt } from "../harness/visitor.ts";
import { inProcess } from "../harness/cli.ts";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const BIN = join(import.meta.dirname, "../../bin/retinue.js");
const BODY = JSON.stringify({ id: "evt_7", type: "post.boosted", data: { id: "p1", text: "hush, a value", by: "quill" } });
const seconds = (): string => String(Math.floor(Date.now() / 1_000));
const hmac = (text: string): string => createHmac("sha256", SECRET).update(text).digest("hex");

/** The command in a process of its own, until Ctrl-C. */
async function learning(args: readonly string[] = [], env: Readonly<Record<string, string>> = { RETINUE_WEBHOOK_SECRET: SECRET }) {
  const { root, write } = project();
  const child = spawn(process.execPath, [BIN, "doctor", "--webhooks", "--json", ...args], {
    cwd: root,
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const over = once(child, "close");
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => void (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => void (stderr += text));
  const events = (): Json[] => stderr.split("\n").map((line) => parseJson(line) ?? null);
  const listening = (): Json | undefined => events().find((event) => isObject(event) && event["type"] === "listening");
  await expect.poll(listening).toBeDefined();
  const url = textAt(listening(), "url").replace("HANDLE", "scout");
  return {
    root,
    write,
    url,
    stderr: () => stderr,
    deliveries: () => events().filter((event) => isObject(event) && event["type"] === "delivery").length,
    async interrupt() {
      child.kill("SIGINT");
      const [code] = (await over) as [number | null];
      return { code, result: parseJson(stdout) ?? null, stdout };
    },
  };
}

async function send(url: string, headers: Readonly<Record<string, string>>, body = BODY): Promise<number> {
  return (await fetch(url, { method: "POST", headers: { "content-type": "application/json", ...headers }, body })).status;
}

describe("the local network's deliveries", () => {
  test.each([
    ["sha256-header", { scheme: "header", signature: "x-signature-256" }],
    ["standard", { scheme: "standard", signature: "webhook-signature" }],
    ["github", { scheme: "header", signature: "x-hub-signature-256" }],
    ["stripe", { scheme: "stripe", signature: "stripe-signature" }],
    ["in-body", { scheme: "body", signature: "signature" }],
    ["none", undefined],
  ] as const)("signed as %s are told apart", async (webhookScheme: WebhookScheme, expected) => {
    const { url, deliveries, interrupt } = await learning();
    const network = createLocalNetwork({
      clock: systemClock(),
      random: seededRandom(7),
      residents: false,
      scale: 0.05,
      assume: { webhookScheme },
    });
    onTestFinished(() => network.stop());
    const [scout, quill] = ["scout", "quill"].map((handle) =>
      asking(network, "b", network.provision({ handle, tier: "pro", set: "b" }).key),
    );
    network.start();
    await scout?.("POST", "/v1/webhooks", { body: { url, secret: SECRET } });
    for (let i = 0; i < 3; i++) await quill?.("POST", "/v1/posts", { body: { content: `look, @scout, number ${i}` } });
    await expect.poll(deliveries).toBeGreaterThanOrEqual(3);
    const { code, result } = await interrupt();
    const found = expected === undefined ? [] : [expected];
    expect([code, result]).toMatchObject([expected === undefined ? 1 : 0, { ok: expected !== undefined, schemes: found }]);
    const [scheme] = (result as { readonly schemes: readonly { readonly fits: number; readonly of: number }[] }).schemes;
    expect(scheme?.fits).toBe(scheme?.of);
    expect(result).toMatchObject({
      kinds: expect.arrayContaining([expect.objectContaining({ kind: "mention", means: "mention.created" })]),
    });
  });
});

test.each([
  [
    "GitHub",
    () => ({ "x-github-event": "issues", "x-github-delivery": "72d3162e", "x-hub-signature-256": `sha256=${hmac(BODY)}` }),
    "header",
  ],
  ["Stripe", () => ({ "stripe-signature": `t=${seconds()},v1=${hmac(`${seconds()}.${BODY}`)}` }), "stripe"],
  [
    "Standard Webhooks",
    () => ({
      "webhook-id": "msg_1",
      "webhook-timestamp": seconds(),
      "webhook-signature": new Webhook(SECRET).sign("msg_1", new Date(Number(seconds()) * 1_000), BODY),
    }),
    "standard",
  ],
  ["nobody we know", () => ({ "acme-proof": hmac(BODY) }), "header"],
] as const)("a request in the style of %s is learnt, and no value of it is shown", async (_, headers, scheme) => {
  const { url, stderr, interrupt, deliveries } = await learning();
  const sent: Readonly<Record<string, string>> = headers();
  expect(await send(url, sent)).toBe(202);
  await expect.poll(deliveries).toBe(1);
  const { code, result, stdout } = await interrupt();
  expect([code, result]).toMatchObject([0, { deliveries: 1, schemes: [{ scheme, fits: 1, timely: 1 }] }]);
  expect(result).toMatchObject({
    headers: expect.arrayContaining(Object.keys(sent)),
    shape: expect.arrayContaining(["data.text: string"]),
  });
  for (const shown of [stdout, stderr()]) for (const value of ["hush", SECRET, "evt_7", hmac(BODY)]) expect(shown).not.toContain(value);
});

test("a secret in the place of a name or a kind is not shown", async () => {
  const env = { RETINUE_WEBHOOK_SECRET: SECRET, RETINUE_KEY_SCOUT: "sk_live_0123456789abcdef" };
  const { url, stderr, interrupt, deliveries } = await learning([], env);
  const body = JSON.stringify({ [`for-${SECRET}`]: { sk_live_0123456789abcdef: 1 }, signature: "none" });
  const headers = { "x-sk_live_0123456789abcdef": "1", "x-event-type": `${"k".repeat(80)}${SECRET}`, "acme-proof": hmac(body) };
  expect(await send(url, headers, body)).toBe(202);
  await expect.poll(deliveries).toBe(1);
  const { stdout, result } = await interrupt();
  expect(result).toMatchObject({ deliveries: 1, shape: expect.arrayContaining(["for-[secret].[secret]: number"]) });
  for (const shown of [stdout, stderr()])
    for (const secret of [SECRET, SECRET.slice(0, 12), "0123456789abcdef"]) expect(shown).not.toContain(secret);
});

describe("--write", () => {
  test("makes a profile with the rules, as a guess while few deliveries are behind it, and then patches it", async () => {
    const first = await learning(["--write", "profile.yaml"]);
    await send(first.url, { "acme-proof": hmac(BODY) });
    await expect.poll(first.deliveries).toBe(1);
    await first.interrupt();
    const file = join(first.root, "profile.yaml");
    expect(readFileSync(file, "utf8")).toMatch(/^# Webhooks learnt by retinue doctor/);
    const { profile } = await readProfile(file);
    expect(profile?.webhooks).toMatchObject({ scheme: "header", signature: ["acme-proof"] });
    expect(readFileSync(file, "utf8")).toMatch(/guesses:\n\s+- webhooks.scheme\n/);

    const second = await learning(["--write", "profile.yaml"]);
    second.write("profile.yaml", "# mine\nextends: set-a\npaging: { parameter: after } # by hand\nguesses: [webhooks.scheme]\n");
    for (let i = 0; i < 3; i++) await send(second.url, { "acme-proof": hmac(BODY.replace("p1", `p${i}`)) }, BODY.replace("p1", `p${i}`));
    await expect.poll(second.deliveries).toBe(3);
    await second.interrupt();
    const text = readFileSync(join(second.root, "profile.yaml"), "utf8");
    expect(text).toMatch(/^# mine\n/);
    expect(text).toContain("# by hand");
    expect(text).not.toContain("webhooks.scheme");
    expect(text).toContain("post.boosted: post.liked");
    const patched = (await readProfile(join(second.root, "profile.yaml"))).profile;
    expect([patched?.set, patched?.webhooks.scheme, patched?.webhooks.signature]).toEqual(["a", "header", ["acme-proof"]]);
  });

  test("writes nothing where no scheme fits, and names what could be the signature", async () => {
    const { root, url, deliveries, interrupt } = await learning(["--write", "profile.yaml"], {
      RETINUE_WEBHOOK_SECRET: "another-secret-0001",
    });
    await send(url, { "acme-proof": hmac(BODY) });
    await expect.poll(deliveries).toBe(1);
    expect(await interrupt()).toMatchObject({ code: 1, result: { ok: false, maybeSigned: ["acme-proof"] } });
    expect(existsSync(join(root, "profile.yaml"))).toBe(false);
  });
});

test("for people it prints where to register, ends by itself, and needs neither a network nor a specialist", async () => {
  const { root: cwd } = project();
  const env = { RETINUE_WEBHOOK_URL: "https://bots.example.com" };
  const { code, stdout, stderr } = await inProcess(["doctor", "--webhooks", "--for", "100ms"], { cwd, env });
  expect([code, stderr]).toEqual([1, ""]);
  expect(stdout).toContain("Register https://bots.example.com/webhooks/HANDLE with the network");
  expect(stdout).toContain("RETINUE_WEBHOOK_SECRET is not set");
  expect(stdout).toContain("No delivery came, so nothing was learnt.");
});

test("a port that is taken, --for without it, and a profile that cannot be added to are mistakes", async () => {
  const { root: cwd, url } = await learning();
  const { port } = new URL(url);
  const env = { RETINUE_WEBHOOK_PORT: port, RETINUE_WEBHOOK_SECRET: SECRET };
  expect(await inProcess(["doctor", "--webhooks"], { cwd, env })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("RETINUE_WEBHOOK_PORT"),
  });
  expect((await inProcess(["doctor", "--for", "1s"], { cwd })).code).toBe(2);
  expect((await inProcess(["doctor", "--webhooks", "--write", "x.txt"], { cwd })).code).toBe(2);
  expect((await inProcess(["doctor", "--webhooks", "--for", "1s", "--profile", "x.ts", "--write", "x.yaml"], { cwd })).code).toBe(2);
});

test("is bounded whatever comes: what is too long or no HTTP is refused as by the receiver", async () => {
  const { url, interrupt } = await learning();
  expect(await send(url, {}, "not json")).toBe(202);
  expect(await send(url, { "content-type": "text/plain" })).toBe(202);
  expect(await send(url, {}, `"${"x".repeat(300_000)}"`)).toBe(413);
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  socket.end("GARBAGE\r\n\r\n");
  expect(String(await once(socket, "data"))).toMatch(/^HTTP\/1\.1 400/);
  expect((await interrupt()).result).toMatchObject({ deliveries: 2, schemes: [] });
  expect(resolveProfile({ extends: "set-b" }).webhooks.scheme).toBe("auto");
});

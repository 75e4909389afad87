/** One alert to one target: a real program or a real server, within a deadline, without a shell, and without a secret in what is shown. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createTransport } from "../../src/client/transport.ts";
import type { AlertTarget } from "../../src/config/alert-settings.ts";
import { openEnvironment } from "../../src/config/environment.ts";
import { systemClock } from "../../src/core/clock.ts";
import { asJson, isObject, parseJson } from "../../src/core/json.ts";
import { Scrubber } from "../../src/core/scrubber.ts";
import { Secret } from "../../src/core/secret.ts";
import { sendAlert, targetName } from "../../src/signals/alert-targets.ts";
import { testAlert } from "../../src/signals/alert.ts";
import { heldDeadline } from "../harness/held-deadline.ts";
import { project } from "../harness/project.ts";

const CANARY = "canary-of-a-secret-0123456789";
const ALERT = asJson(testAlert("a1", 5, undefined));

async function sending(
  target: AlertTarget,
  { variables = {}, clock = systemClock(), cwd = project().root, alert = ALERT, signal = new AbortController().signal } = {},
) {
  const scrubber = new Scrubber();
  scrubber.add(new Secret(CANARY));
  const transport = createTransport({ clock, maxBodyBytes: 64 * 1_024 });
  onTestFinished(() => transport.close());
  const environment = openEnvironment({ cwd, variables: { PATH: process.env["PATH"], ...variables } });
  return sendAlert({ clock, environment, cwd, scrubber, send: transport.send, signal }, target, alert);
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};
const program = (source: string, ...args: readonly string[]): AlertTarget => ({ command: [process.execPath, "-e", source, ...args] });

async function server(answer: (request: IncomingMessage, response: ServerResponse, body: string) => void) {
  const http = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => void (body += text));
    request.on("end", () => answer(request, response, body));
  });
  await new Promise<void>((resolve) => void http.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  const { port } = http.address() as AddressInfo;
  return `http://127.0.0.1:${port}/hook?room=1`;
}

test("a program gets the alert as JSON on stdin, its arguments as they are, and only the variables named", async () => {
  const { root } = project();
  const source = `let text = ""; process.stdin.on("data", (d) => (text += d)).on("end", () =>
    require("node:fs").writeFileSync("got.json", JSON.stringify({ alert: JSON.parse(text), args: process.argv.slice(1), env: process.env })))`;
  const target = { command: [process.execPath, "-e", source, "$(touch here)", "; touch here", ""], env: ["PAGER_KEY"] };
  expect(
    await sending(target, { cwd: root, variables: { PAGER_KEY: CANARY, OTHER_KEY: "other", RETINUE_KEY_SCOUT: "key" } }),
  ).toBeUndefined();
  const got = parseJson(readFileSync(join(root, "got.json"), "utf8"));
  expect(got).toMatchObject({ alert: ALERT, args: ["$(touch here)", "; touch here", ""], env: { PAGER_KEY: CANARY } });
  expect(Object.keys(isObject(got) && isObject(got["env"]) ? got["env"] : {})).not.toEqual(expect.arrayContaining(["OTHER_KEY"]));
  expect(JSON.stringify(got)).not.toMatch(/OTHER_KEY|RETINUE_/);
  expect(existsSync(join(root, "here"))).toBe(false);
});

test.each([
  [
    "a program that fails says why",
    program(`process.stderr.write("no route to ${CANARY}\\n"); process.exit(3)`),
    /^it ended with exit code 3: no route to \[secret\]$/,
  ],
  [
    "a program that floods its outputs is bounded",
    program(`process.stderr.write("x".repeat(1e6)); process.stdout.write("y".repeat(1e6)); process.exitCode = 1`),
    /^.{900,1100}$/,
  ],
  ["a program that is missing is named as that", { command: ["./no-such-program"] }, /^it cannot be started: .*ENOENT/],
  ["a program that reads nothing is no failure", program("process.stdin.destroy()"), /^taken$/],
  ["a variable without a value is named", { command: ["true"], env: ["PAGER_KEY"] }, /^PAGER_KEY has no value$/],
  ["an address without a value is named", { urlFrom: "ALERT_URL" }, /^ALERT_URL has no value$/],
  ["a token without a value is named", { url: "http://127.0.0.1:9/", token: "ALERT_TOKEN" }, /^ALERT_TOKEN has no value$/],
  ["nobody listens there", { url: "http://127.0.0.1:9/" }, /ECONNREFUSED|refused|connect/],
] as const)("%s", async (_name, target, words) => {
  expect((await sending(target)) ?? "taken").toMatch(words);
});

test("a program that hangs is killed at its deadline, with what it started", async () => {
  const { root } = project();
  const source = `const child = require("node:child_process").spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "inherit" });
    require("node:fs").writeFileSync("written", child.pid + " " + process.pid);
    require("node:fs").renameSync("written", "pids"); setInterval(() => {}, 1000)`;
  const clock = heldDeadline(() => existsSync(join(root, "pids")));
  expect(await sending(program(source), { cwd: root, clock })).toBe("it did not end within 10s, and was killed");
  const pids = readFileSync(join(root, "pids"), "utf8").split(" ").map(Number);
  await expect.poll(() => pids.filter(isAlive)).toEqual([]);
});

test("a server gets the alert by POST with the token of its variable, at an address of its variable", async () => {
  const seen: unknown[] = [];
  const url = await server(({ method, url: path, headers }, response, body) => {
    seen.push({ method, path, type: headers["content-type"], token: headers.authorization, alert: parseJson(body) });
    response.end("ok");
  });
  const target = { urlFrom: "ALERT_URL", token: "ALERT_TOKEN" };
  expect(await sending(target, { variables: { ALERT_URL: url, ALERT_TOKEN: CANARY } })).toBeUndefined();
  expect(seen).toEqual([{ method: "POST", path: "/hook?room=1", type: "application/json", token: `Bearer ${CANARY}`, alert: ALERT }]);
  expect([targetName(target), targetName({ url })]).toEqual(["ALERT_URL", new URL(url).origin]);
});

test.each([
  ["an error", 500, "it answered 500"],
  ["a redirect, which is not followed,", 302, "it answered 302"],
] as const)("%s is no delivery", async (_name, status, words) => {
  const url = await server((_request, response) => void response.writeHead(status, { location: "http://127.0.0.1:9/" }).end(CANARY));
  expect(await sending({ url })).toBe(words);
});

test("a server that hangs is given up at the deadline", async () => {
  let isAsked = false;
  const url = await server(() => void (isAsked = true));
  expect(await sending({ url }, { clock: heldDeadline(() => isAsked) })).toBe("no complete answer within 10s");
});

test("a server that answers 200 took it, however long its answer is, and whether or not it ends", async () => {
  let isBegun = false;
  const endless = await server((_request, response) => void response.writeHead(200).write("x", () => void (isBegun = true)));
  expect(await sending({ url: endless }, { clock: heldDeadline(() => isBegun) })).toBeUndefined();
  const long = await server((_request, response) => void response.writeHead(200).end("x".repeat(2_000_000)));
  expect(await sending({ url: long })).toBeUndefined();
});

test("a program that leaves another one behind, which holds its stderr, has ended", async () => {
  const command = ["sh", "-c", "sleep 30 & exit 0"];
  expect(await sending({ command })).toBeUndefined();
  expect(await sending({ command: ["sh", "-c", "echo no >&2; sleep 30 & exit 3"] })).toBe("it ended with exit code 3: no");
});

test("a secret in a matter is taken out before it leaves", async () => {
  const bodies: string[] = [];
  const url = await server((_request, response, body) => {
    bodies.push(body);
    response.end();
  });
  const { root } = project();
  const alert = { ...ALERT, text: `the network said ${CANARY}` };
  await sending({ url }, { alert });
  writeFileSync(join(root, "got"), "");
  await sending(program(`process.stdin.pipe(require("node:fs").createWriteStream("got"))`), { alert, cwd: root });
  expect(bodies.join("")).toContain("[secret]");
  expect([...bodies, readFileSync(join(root, "got"), "utf8")].join("")).not.toContain(CANARY);
});

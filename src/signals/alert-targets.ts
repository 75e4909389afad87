/** Sends one alert to one target: a command without a shell, or a POST through the client's sockets; within a deadline, and bounded. */
import { spawn } from "node:child_process";
import type { Transport } from "../client/transport.ts";
import type { AlertTarget } from "../config/alert-settings.ts";
import type { Environment } from "../config/environment.ts";
import type { Clock } from "../core/clock.ts";
import { within } from "../core/deadline.ts";
import { messageOf } from "../core/errors.ts";
import { excerpt } from "../core/excerpt.ts";
import type { JsonObject } from "../core/json.ts";
import type { Scrubber } from "../core/scrubber.ts";
import { SECOND, showDuration } from "../core/units.ts";

/** Time in which a target takes an alert. */
export const ALERT_DEADLINE_MS = 10 * SECOND;
/** Characters of a program's stderr that are kept for the reason of its failure. */
const MAX_STDERR = 1_000;
/** Time for the last words of a program that failed. */
const LAST_WORDS_MS = 200;
/** Variables of this process that every command gets. */
const PASSED = ["PATH", "HOME", "USER", "LANG", "TZ", "TMPDIR"];

export interface AlertSender {
  readonly clock: Clock;
  readonly environment: Environment;
  readonly cwd: string;
  readonly scrubber: Pick<Scrubber, "clean" | "cleanJson">;
  readonly send: Transport;
  readonly signal: AbortSignal;
}

/** Undefined: it was taken. Else the reason for which it was not. */
export type Undelivered = string | undefined;

/** A name for people, without what may be secret. */
export function targetName(target: AlertTarget): string {
  if ("command" in target) return `command ${target.command[0] ?? ""}`;
  return "url" in target ? new URL(target.url).origin : target.urlFrom;
}

/** Never rejects. */
export async function sendAlert(sender: AlertSender, target: AlertTarget, alert: JsonObject): Promise<Undelivered> {
  const body = sender.scrubber.cleanJson(JSON.stringify(alert));
  try {
    const failure = await ("command" in target ? run(sender, target, body) : post(sender, target, body));
    return failure === undefined ? undefined : excerpt(failure, (text) => sender.scrubber.clean(text), MAX_STDERR);
  } catch (error) {
    return sender.scrubber.clean(messageOf(error));
  }
}

async function post(
  sender: AlertSender,
  target: Exclude<AlertTarget, { readonly command: readonly string[] }>,
  body: string,
): Promise<Undelivered> {
  const { environment, send, signal } = sender;
  const address = "url" in target ? target.url : environment.get(target.urlFrom);
  if (address === undefined) return `${"urlFrom" in target ? target.urlFrom : "url"} has no value`;
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol)) return `${"urlFrom" in target ? target.urlFrom : "url"} holds no http(s) address`;
  const token = target.token === undefined ? undefined : environment.get(target.token);
  if (target.token !== undefined && token === undefined) return `${target.token} has no value`;
  const answer = await send({
    method: "POST",
    origin: url.origin,
    path: url.pathname + url.search,
    headers: { "content-type": "application/json", ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
    body,
    deadlineMs: ALERT_DEADLINE_MS,
    signal,
  });
  // The status says that it was taken, also where the rest of the answer was too long or did not come.
  if (answer.kind === "never-left" || answer.status === undefined) return answer.kind === "answer" ? undefined : answer.reason;
  return answer.status >= 200 && answer.status < 300 ? undefined : `it answered ${answer.status}`;
}

function run(
  sender: AlertSender,
  { command, env = [] }: Extract<AlertTarget, { readonly command: readonly string[] }>,
  body: string,
): Promise<Undelivered> {
  const { environment, cwd, clock, signal } = sender;
  const [program = "", ...args] = command;
  const missing = env.find((name) => environment.get(name) === undefined);
  if (missing !== undefined) return Promise.resolve(`${missing} has no value`);
  const late = (): Error => new Error(`it did not end within ${showDuration(ALERT_DEADLINE_MS)}, and was killed`);
  return within(clock, { lengthMs: ALERT_DEADLINE_MS, signal, late }, (over) => {
    const child = spawn(program, args, {
      cwd,
      env: variablesOf(environment, [...PASSED, ...env]),
      stdio: ["pipe", "ignore", "pipe"],
      // A group of its own, so that what it started ends with it.
      detached: true,
    });
    return new Promise<Undelivered>((resolve) => {
      let said = "";
      over.addEventListener("abort", () => void kill(child.pid), { once: true });
      child.on("error", (error) => resolve(`it cannot be started: ${messageOf(error)}`));
      child.stderr.setEncoding("utf8").on("data", (text: string) => void (said = (said + text).slice(0, MAX_STDERR)));
      // A program that does not read its input is no failure: its exit code tells.
      child.stdin.on("error", () => undefined);
      child.stdin.end(body);
      child.on("exit", (code, ended) => {
        const reason = code === null ? `it was ended by ${ended}` : `it ended with exit code ${code}`;
        const end = (): void => resolve(code === 0 ? undefined : said.trim() === "" ? reason : `${reason}: ${said.trim()}`);
        // What it started may live on and hold its stderr.
        const last = clock.after(code === 0 ? 0 : LAST_WORDS_MS, end);
        child.once("close", () => {
          last.cancel();
          end();
        });
      });
    });
  });
}

function variablesOf(environment: Environment, names: readonly string[]): { readonly [name: string]: string } {
  return Object.fromEntries(names.flatMap((name) => (environment.get(name) === undefined ? [] : [[name, environment.get(name) ?? ""]])));
}

/** Ends the program and what it started. False if it has ended, or became another user's program: its try is over either way. */
function kill(pid: number | undefined): boolean {
  if (pid === undefined) return false;
  try {
    return process.kill(-pid, "SIGKILL");
  } catch {
    return false;
  }
}

/**
 * Tells the service manager that started this process (systemd) when it is ready, that it is alive, and that it stops. The messages go
 * through `systemd-notify`, because Node has no datagram socket of the Unix domain.
 */
import { execFile } from "node:child_process";
import type { Variables } from "../config/environment.ts";
import type { Clock, Timer } from "../core/clock.ts";
import { messageOf } from "../core/errors.ts";
import type { Logger } from "../core/log.ts";

export interface ServiceManagerOptions {
  /** With `NOTIFY_SOCKET` and `WATCHDOG_USEC` as systemd sets them. */
  readonly env: Variables;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface ServiceManager {
  /** Also begins the watchdog's messages: from now on a blocked event loop is noticed. */
  ready(): void;
  stopping(): void;
  /** Ends the watchdog's messages. */
  close(): void;
}

/** Messages per watchdog time, so that one that is late or lost ends nothing. */
const PER_WATCHDOG = 3;
const SEND_MS = 10_000;

/** Does nothing if no service manager waits for messages. */
export function openServiceManager({ env, clock, log }: ServiceManagerOptions): ServiceManager {
  const send = (...messages: readonly string[]): void => {
    if ((env["NOTIFY_SOCKET"] ?? "") === "") return;
    execFile("systemd-notify", [...messages], { timeout: SEND_MS }, (error) => {
      if (error !== null) log.warn("the service manager could not be notified", { sent: messages.join(" "), message: messageOf(error) });
    });
  };
  const everyMs = watchdogMs(env) / PER_WATCHDOG;
  let timer: Timer | undefined;
  const beat = (): void => {
    send("WATCHDOG=1");
    timer = clock.after(everyMs, beat);
  };
  return {
    ready() {
      send("READY=1", "STATUS=working");
      if (everyMs > 0) beat();
    },
    stopping: () => send("STOPPING=1", "STATUS=waiting for answers in flight"),
    close: () => timer?.cancel(),
  };
}

/** 0 without a watchdog, or with one for another process. */
function watchdogMs({ WATCHDOG_USEC, WATCHDOG_PID }: Variables): number {
  const micros = /^\d{1,15}$/.test(WATCHDOG_USEC ?? "") ? Number(WATCHDOG_USEC) : 0;
  return WATCHDOG_PID === undefined || WATCHDOG_PID === String(process.pid) ? micros / 1_000 : 0;
}

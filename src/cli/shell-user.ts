/** The person at the shell, for the record of orders. */
import { userInfo } from "node:os";
import type { Variables } from "../config/environment.ts";
import type { Caller } from "../store/orders.ts";

/** The name of the user that gave the command, before `sudo`. */
export function shellUser(env: Variables): Caller {
  return { who: env["SUDO_USER"] ?? nameOfUser(), from: "command" };
}

/** A container may run as a user without a name. */
function nameOfUser(): string {
  try {
    return userInfo().username;
  } catch (error) {
    if (error instanceof Error) return `user ${process.getuid?.() ?? "unknown"}`;
    throw error;
  }
}

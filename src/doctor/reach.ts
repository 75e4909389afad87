/** Checks that an address accepts connections, without a request, so that it costs no quota. */
import { connect, isIP } from "node:net";
import { parseBaseAddress } from "../contract/base-address.ts";
import { sleep, type Clock } from "../core/clock.ts";
import { messageOf, Retryable } from "../core/errors.ts";
import { SECOND } from "../core/units.ts";

const DEADLINE_MS = 5 * SECOND;
const HTTPS_PORT = 443;
const HTTP_PORT = 80;

/** Throws `Retryable` (`network_unreachable`) if no connection can be made within 5 s: a supervisor should restart us. */
export async function checkReachable(baseUrl: string, clock: Clock): Promise<void> {
  const { origin } = parseBaseAddress(baseUrl);
  const { hostname, port, protocol } = new URL(origin);
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  const socket = connect({
    host,
    port: port === "" ? (protocol === "https:" ? HTTPS_PORT : HTTP_PORT) : Number(port),
    ...(isIP(host) === 0 ? {} : { family: isIP(host) }),
  });
  const over = new AbortController();
  try {
    const problem = await Promise.race([
      new Promise<undefined>((resolve) => socket.once("connect", () => resolve(undefined))),
      new Promise<string>((resolve) => socket.once("error", (error: unknown) => resolve(reasonOf(error)))),
      sleep(clock, DEADLINE_MS, over.signal).then(() => `no answer within ${DEADLINE_MS / SECOND} s`),
    ]);
    if (problem !== undefined)
      throw new Retryable("network_unreachable", `no answer from ${origin}: ${problem}`, {
        hint: "check --base-url (RETINUE_BASE_URL), and whether the network is up",
      });
  } finally {
    over.abort();
    socket.destroy();
  }
}

/** If several addresses were tried, the error has no message of its own. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return messageOf(error.errors[0]);
  return messageOf(error);
}

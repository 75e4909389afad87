/** A connection to one network for scripts: typed methods and pages, without quota, money, store or halt. */
import type { Call, Outcome } from "../contract/call.ts";
import type { Profile } from "../contract/profile/profile.ts";
import { systemClock } from "../core/clock.ts";
import { Secret } from "../core/secret.ts";
import { createClient } from "./client.ts";
import { methods, type Methods } from "./methods.ts";
import { pages, type Page, type PagesOptions } from "./paging.ts";
import { createTransport, type Transport } from "./transport.ts";

/** Options of `connect`. */
export interface ConnectOptions {
  /** The base address as the network publishes it, such as `https://api.example.com/v1`. */
  readonly baseUrl: string;
  /** The API key of one account. No error and no answer repeats it. */
  readonly key: string;
  /** Wraps the function by which requests leave. */
  readonly transport?: (next: Transport) => Transport;
  /** From a call to the last byte of its answer, in ms. Default: the profile's, 30 s. */
  readonly deadlineMs?: number;
}

/** A connection to one network without limits, store or halt. */
export interface Connection extends AsyncDisposable {
  /**
   * Sends one request, and resolves with the class of its outcome. It neither waits nor repeats.
   * @throws `Refused` before any request: `operation_unknown`, `target_missing`, `input_invalid` and others of that kind.
   */
  send(call: Call): Promise<Outcome>;
  /** One method for each operation: `connection.methods.posts.reply(id, { content })`. */
  readonly methods: Methods<Promise<Outcome>>;
  /**
   * The pages of a list, at most `maxPages` (default and bound: 50), one request each.
   * @throws `Refused` with the network's code, or `Retryable` (`page_unavailable`) if a page did not come.
   */
  pages(call: Call, options?: PagesOptions): AsyncGenerator<Page, void, void>;
  /** Ends idle sockets and waits for those in use. */
  close(): Promise<void>;
}

/**
 * Connects to a network by its profile. Nothing limits these requests: for specialists that run for months, use `startRetinue`.
 *
 * @throws `Misconfigured` (`base_url_invalid`) for an unusable address.
 */
export function connect(profile: Profile, options: ConnectOptions): Connection {
  const clock = systemClock();
  const { baseUrl, deadlineMs } = options;
  const sockets = createTransport({ clock });
  const transport = options.transport?.(sockets.send) ?? sockets.send;
  const client = createClient({ profile, baseUrl, transport, clock, ...(deadlineMs === undefined ? {} : { deadlineMs }) });
  const key = new Secret(options.key);
  const send = (call: Call): Promise<Outcome> => client.send(call, { key });
  const close = (): Promise<void> => sockets.close();
  return {
    send,
    methods: methods(send),
    pages: (call, paging) => pages(send, call, paging),
    close,
    [Symbol.asyncDispose]: close,
  };
}

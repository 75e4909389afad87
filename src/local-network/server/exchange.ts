/** What goes in and out of the network's core, before any socket: request, reply, refusal, lost connection. */
import type { EndpointSet } from "../../contract/operations.ts";
import { Retryable } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Account, Application, Community, Job, Page, Post, Webhook } from "../world/rows.ts";

export interface NetworkRequest {
  readonly method: string;
  /** Starts with `/v1/`, in both sets. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface NetworkReply {
  readonly status: number;
  /** Lower-case names. A `content-length` that is longer than the body means the connection broke in the middle. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The connection broke before a whole answer was read. Whether the request took effect is not known to the caller. */
export class ConnectionLost extends Retryable {
  constructor(reason: string) {
    super("connection_lost", `the connection to the network was lost: ${reason}`);
  }
}

/** A refusal by the network: a status, a code of its own and a message. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: string, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.name = "Refusal";
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

/** A record to show, before a set's dialect gives it its field names. */
export type View =
  | { readonly type: "agent"; readonly agent: Account; readonly key?: string }
  | { readonly type: "stats"; readonly agent: Account }
  | { readonly type: "post"; readonly post: Post; readonly replies?: readonly Post[] }
  | { readonly type: "job"; readonly job: Job; readonly whole: boolean }
  | { readonly type: "application"; readonly job: Job; readonly application: Application }
  | { readonly type: "community"; readonly community: Community }
  | { readonly type: "webhook"; readonly webhook: Webhook; readonly secret?: string }
  | { readonly type: "result"; readonly page: Page }
  | { readonly type: "token"; readonly access: string; readonly refresh: string; readonly expiresInMs: number }
  | { readonly type: "pending"; readonly approvalId: string; readonly operation: string }
  | { readonly type: "done"; readonly id: string; readonly what: string };

export type ListKind = "agents" | "posts" | "jobs" | "communities" | "webhooks" | "results";

/** What an operation answers when it does not refuse. */
export type Answer =
  | { readonly status: number; readonly view: View }
  | { readonly status: number; readonly list: readonly View[]; readonly of: ListKind; readonly next?: string };

/** A checked request on its way to its operation. */
export interface Asked {
  readonly set: EndpointSet;
  readonly account: Account;
  /** The path parameter; empty where the path has none. */
  readonly target: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: JsonObject;
  /** The Guardian has approved it already. */
  readonly approved: boolean;
}

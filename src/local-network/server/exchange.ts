/** Messages of the network's core, before any socket: request, reply, refusal, lost connection. */
import type { EndpointSet } from "../../contract/operations.ts";
import { Retryable } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Account, Application, Community, Job, Page, Post, Webhook } from "../world/rows.ts";

export interface NetworkRequest {
  readonly method: string;
  /** Starts with `/v1/`, in both sets. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** Keys in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface NetworkReply {
  readonly status: number;
  /** Keys in lower case. A `content-length` longer than the body means that the connection broke in the middle. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The connection broke before the whole answer was read. The caller does not know if the request took effect. */
export class ConnectionLost extends Retryable {
  constructor(reason: string) {
    super("connection_lost", `the connection to the network was lost: ${reason}`);
  }
}

/** A refusal by the network: a status, a code and a message. */
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

/** A record to send, before a wire format gives it its field names. */
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

/** The answer of an operation that does not refuse. */
export type Answer =
  | { readonly status: number; readonly view: View }
  | { readonly status: number; readonly list: readonly View[]; readonly of: ListKind; readonly next?: string };

/** A checked request, as its operation receives it. */
export interface Asked {
  readonly set: EndpointSet;
  readonly account: Account;
  /** The path parameter; empty if the path has none. */
  readonly target: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: JsonObject;
  /** True if the Guardian has approved the action already. */
  readonly approved: boolean;
}

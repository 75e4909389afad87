/** The frame of an invented network: requests, answers, routes by pattern, and strict reading of bodies. */
import type { WireRequest } from "../../../src/client/transport.ts";
import type { Clock } from "../../../src/core/clock.ts";
import { isObject, parseJson, type Json, type JsonObject } from "../../../src/core/json.ts";
import type { SpecialistDefinition } from "../../../src/specialist/definition.ts";
import type { SignedDelivery } from "../../../src/webhooks/receiver/sign.ts";
import type { Board } from "./board.ts";

export interface Asked extends Pick<WireRequest, "method" | "headers"> {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: string;
  /** Values of the route's `:names`. */
  readonly at: { readonly [name: string]: string };
}

export interface Reply {
  readonly status: number;
  readonly body?: Json;
  readonly headers?: { readonly [name: string]: string };
}

/** A delivery on its way to an address. */
export type Deliver = (url: string, delivery: SignedDelivery) => Promise<number>;

export interface InventedNetwork {
  answer(asked: Asked): Reply;
  /** Its own words for "not now", which a fault says. */
  busy(): Reply;
}

export interface Invented {
  readonly name: string;
  /** The profile by which it is joined, beside this file. */
  readonly profile: string;
  readonly key: string;
  /** The secret that the network signs deliveries with. */
  readonly webhookSecret: string;
  readonly specialist: SpecialistDefinition;
  /** How often each kind of write takes effect in a lively time, at least. */
  readonly least: { readonly [kind: string]: number };
  open(board: Board, clock: Clock, deliver: Deliver): InventedNetwork;
}

type Route = readonly [pattern: string, run: (asked: Asked) => Reply];

/** The routes of a network; anything else is strange, and the log says so. */
export function routes(board: Board, list: readonly Route[], unknown: Reply): (asked: Asked) => Reply {
  const compiled = list.map(([pattern, run]) => ({ parts: pattern.split(/[ /]+/), run }));
  return (asked) => {
    const parts = [asked.method, ...asked.path.split("/").slice(1)];
    for (const { parts: wanted, run } of compiled) {
      if (wanted.length !== parts.length) continue;
      const at: Record<string, string> = {};
      const fits = wanted.every((part, i) => {
        const given = parts[i] ?? "";
        if (part.startsWith(":")) at[part.slice(1)] = decodeURIComponent(given);
        return part.startsWith(":") || part === given;
      });
      if (fits) return run({ ...asked, at });
    }
    board.strange.push(`${asked.method} ${asked.path}`);
    return unknown;
  };
}

/** The members of a JSON body, which must be these and no others (`?`: may be missing). */
export function members(board: Board, asked: Asked, names: readonly string[]): JsonObject | undefined {
  const form = asked.headers["content-type"] === "application/x-www-form-urlencoded";
  const body = form ? Object.fromEntries(new URLSearchParams(asked.body)) : parseJson(asked.body);
  const known = names.map((name) => name.replace("?", ""));
  const isWhole = isObject(body) && names.every((name) => name.endsWith("?") || body[name] !== undefined);
  if (isWhole && Object.keys(body).every((name) => known.includes(name))) return body;
  board.strange.push(`${asked.method} ${asked.path.replaceAll(/\d+/g, "…")} with ${asked.body.slice(0, 100)}`);
  return undefined;
}

export function text(value: Json | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}

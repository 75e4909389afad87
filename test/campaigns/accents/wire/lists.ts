/** Lists in an accent: what stands around the items, and how the next page is asked for and told. */
import type { Json, JsonObject } from "../../../../src/core/json.ts";
import type { ListKind, NetworkRequest } from "../../../../src/local-network/server/exchange.ts";
import { skipOf } from "../../../../src/local-network/server/request-fields.ts";
import { cased, type Voice } from "./voice.ts";

export interface Page {
  readonly items: readonly JsonObject[];
  /** The set's own cursor of the page after this one. */
  readonly next: string | undefined;
  readonly asked: NetworkRequest;
}

const DEFAULT_PAGE = 20;
const MAX_PAGE = 100;

/** How the items of each kind are called. */
export function nounOf(voice: Voice, of: ListKind): string {
  return of === "results" ? "results" : voice.nouns[of];
}

export function listIn(voice: Voice, of: ListKind, page: Page): Json {
  const noun = nounOf(voice, of);
  const items: Json = [...page.items];
  const around = aroundItems(voice, page);
  switch (voice.envelope) {
    case "bare":
      return canBeBare(voice) ? items : { [noun]: items, ...around };
    case "named":
      return { [noun]: items, ...around };
    case "data":
      return { data: items, ...around };
    case "nested":
      return { payload: { rows: items, ...around } };
    case "response":
      return { response: { [noun]: items, total: page.items.length }, ...around };
    case "hits":
      return { hits: items, took: 3, ...around };
    case "embedded":
      return { _embedded: { [noun]: items }, ...around };
  }
}

/** A bare list has no room to say where the next page is. */
function canBeBare({ paging: { style } }: Voice): boolean {
  return style !== "cursor" && style !== "body-link";
}

function aroundItems(voice: Voice, { next, asked }: Page): JsonObject {
  const { paging, letters } = voice;
  const more = paging.more === "" ? {} : { [cased(letters, paging.more)]: next !== undefined };
  switch (paging.style) {
    case "cursor":
      return { ...nested(paging.next, next ?? null), ...more };
    case "body-link":
      return { links: { next: next === undefined ? null : pathTo(voice, asked, next) } };
    case "page":
      return { page: pageAsked(voice, asked), ...more };
    case "offset":
      return { offset: offsetAsked(voice, asked), ...more };
    case "link":
      return {};
  }
}

function nested(path: readonly string[], value: Json): JsonObject {
  return path.reduceRight<Json>((below, name) => ({ [name]: below }), value) as JsonObject; // a path has at least one name
}

/** The `Link` header of a page, where the accent speaks by it. */
export function linkHeader(voice: Voice, asked: NetworkRequest, next: string | undefined): Readonly<Record<string, string>> {
  if (voice.paging.style !== "link" || next === undefined) return {};
  return { link: `<${pathTo(voice, asked, next)}>; rel="next"` };
}

function pathTo({ paging }: Voice, asked: NetworkRequest, next: string): string {
  const query = new URLSearchParams({ ...asked.query, [paging.parameter]: next });
  return `${asked.path}?${query.toString()}`;
}

function pageAsked({ paging }: Voice, { query }: NetworkRequest): number {
  return Number(query["page"] ?? paging.first);
}

function offsetAsked(_voice: Voice, { query }: NetworkRequest): number {
  return Number(query["offset"] ?? 0);
}

/** `limit` and `cursor` as the set itself asks, from what the accent was asked. */
export function pagingHeard(voice: Voice, asked: Readonly<Record<string, Json | undefined>>): Readonly<Record<string, string>> {
  const { paging } = voice;
  const given = Number(asked[paging.limit] ?? DEFAULT_PAGE);
  const limit = Number.isInteger(given) && given > 0 ? Math.min(given, MAX_PAGE) : DEFAULT_PAGE;
  const cursor = cursorHeard(voice, asked, limit);
  return { limit: `${limit}`, ...(cursor === undefined || cursor === "" ? {} : { cursor }) };
}

function cursorHeard({ paging }: Voice, asked: Readonly<Record<string, Json | undefined>>, limit: number): string | undefined {
  switch (paging.style) {
    case "page":
      return skipOf(Math.max(0, Number(asked["page"] ?? paging.first) - paging.first) * limit);
    case "offset":
      return skipOf(Math.max(0, Number(asked["offset"] ?? 0)));
    default: {
      const cursor = asked[paging.parameter];
      return typeof cursor === "string" || typeof cursor === "number" ? `${cursor}` : undefined;
    }
  }
}

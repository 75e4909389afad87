/** Finds the next page of a list, and encodes it in one opaque cursor for every kind of paging. */
import type { NextPage } from "../contract/call.ts";
import { fieldPath, valueAt, type FieldPath } from "../contract/reading/field-path.ts";
import type { ProfileOperation } from "../contract/profile/network-operations.ts";
import type { Profile } from "../contract/profile/profile.ts";
import type { Json } from "../core/json.ts";
import { HIDDEN } from "../core/secret.ts";
import type { WireHeaders } from "./transport.ts";

const MAX_CURSOR_LENGTH = 4_000;
/** Marks a cursor that is a link; only its query is ever used, so it cannot lead anywhere else. */
const LINK = "link:";

/** The requested page: our cursor, and the number of its items. */
export interface AskedPage {
  readonly cursor: string | undefined;
  /** Items in the answer, readable or not. */
  readonly items: number;
}

export type NextPageReader = (body: Json | undefined, headers: WireHeaders, asked: AskedPage) => NextPage | undefined;

/** The paging of one operation's list. */
export function pagingOf({ paging }: Pick<Profile, "paging">, operation: Pick<ProfileOperation, "paging"> | undefined): Profile["paging"] {
  return operation?.paging === undefined ? paging : { ...paging, ...operation.paging };
}

export function nextPageReader(paging: Profile["paging"]): NextPageReader {
  const paths = paging.next.map(fieldPath);
  return (body, headers, asked) => {
    if (paging.style === "none") return undefined;
    const link = linkTo(headers["link"], "next");
    if (link !== undefined) return { url: link };
    if (paging.style === "link") {
      const url = textAt(body, paths);
      return url === undefined ? undefined : { url };
    }
    if (paging.style === "cursor") {
      const cursor = textAt(body, paths);
      if (cursor === undefined) return undefined;
      return /^(?:https?:\/)?\/.*\?/.test(cursor) ? { url: cursor } : { cursor };
    }
    return numbered(paging, paths, body, asked);
  };
}

/**
 * Returns true if an answer without a next page states that none follows: null, `false` or an empty text where the next one would be, and
 * nothing else at the other places. A missing field states nothing.
 */
export function lastPageReader({ style, next }: Profile["paging"]): (body: Json | undefined) => boolean {
  const paths = style === "none" ? [] : next.map(fieldPath);
  return (body) => {
    const stated = paths.map((path) => valueAt(body, path)).filter((value) => value !== undefined);
    return stated.length > 0 && stated.every((value) => value === null || value === false || value === "");
  };
}

/** Pages and offsets continue until an empty page, unless the answer states that there is no more. */
function numbered(paging: Profile["paging"], paths: readonly FieldPath[], body: Json | undefined, asked: AskedPage): NextPage | undefined {
  const start = paging.style === "page" ? paging.firstPage : 0;
  const at = /^\d{1,12}$/.test(asked.cursor ?? "") ? Number(asked.cursor) : start;
  const counted = paging.style === "page" ? at + 1 : at + asked.items;
  for (const path of paths) {
    const stated = valueAt(body, path);
    if (stated === false || stated === null) return undefined;
    const number = typeof stated === "string" && /^\d{1,12}$/.test(stated) ? Number(stated) : stated;
    if (typeof number === "number" && Number.isSafeInteger(number) && number > at) return place(paging.style, number);
    if (stated === true) return asked.items === 0 ? undefined : place(paging.style, counted);
  }
  return asked.items === 0 ? undefined : place(paging.style, counted);
}

function place(style: Profile["paging"]["style"], number: number): NextPage {
  return style === "page" ? { page: number } : { offset: number };
}

function textAt(body: Json | undefined, paths: readonly FieldPath[]): string | undefined {
  for (const path of paths) {
    const found = valueAt(body, path);
    if (typeof found === "string" && found !== "" && found.length <= MAX_CURSOR_LENGTH) return found;
    if (typeof found === "number" && Number.isSafeInteger(found)) return String(found);
  }
  return undefined;
}

/** The target of a `Link` header's relation (RFC 8288). */
export function linkTo(header: string | string[] | undefined, relation: string): string | undefined {
  const text = Array.isArray(header) ? header.join(", ") : header;
  if (text === undefined || text.length > 2 * MAX_CURSOR_LENGTH) return undefined;
  for (const match of text.matchAll(/<([^<>]{1,4000})>([^<]*)/g)) {
    const relations = /;\s*rel\s*=\s*"?([^";,]+)"?/i.exec(match[2] ?? "")?.[1];
    if (relations?.toLowerCase().split(/\s+/).includes(relation) === true) return match[1];
  }
  return undefined;
}

/** The next page as the `cursor` input of the call that fetches it. */
export function cursorOf(next: NextPage): string | undefined {
  if (next.url !== undefined) return LINK + next.url;
  return next.cursor ?? (next.page ?? next.offset)?.toString();
}

/** The query parameters (or body fields) of our cursor. */
export function cursorParameters(paging: Profile["paging"], cursor: string): [string, string][] {
  if (!cursor.startsWith(LINK)) return [[paging.parameter, cursor]];
  const query = /\?([^#]*)/.exec(cursor)?.[1] ?? "";
  // A network may repeat the key in its links. It was taken out there, and the header carries it.
  return [...new URLSearchParams(query)].filter(([, value]) => !value.includes(HIDDEN));
}

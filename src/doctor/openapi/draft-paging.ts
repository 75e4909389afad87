/** Drafts how lists are paged, from the parameters and answers that a document states; a list that differs has its own paging. */
import type { Profile } from "../../contract/profile/profile.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { scalarsBeside } from "../examine-paging.ts";
import { finding, type Finding, type Proposal } from "../finding.ts";
import type { ApiField, ApiOperation } from "./api-operations.ts";
import type { Match } from "./match-operations.ts";
import type { OpenDocument } from "./open-document.ts";
import { merged, sampleOf } from "./schema-sample.ts";

type Paging = { -readonly [key in keyof Profile["paging"]]?: Profile["paging"][key] };

const LIMIT = /^(?:limit|per_?page|page_?size|page_?limit|count|take|size|max_?results|n)$/i;
const CURSOR =
  /^(?:cursor|after|page_?token|starting_?after|next(?:_?(?:cursor|token|page))?|continuation(?:_?token)?|marker|since_?id|before)$/i;
const PAGE = /^(?:p|page|page_?(?:number|no|index))$/i;
const OFFSET = /^(?:offset|skip|start|from)$/i;
const LINK = /(?:^|\.)links?\.next(?:\.href)?$|next_?(?:url|link|page_?url|href)$/i;
const NEXT = /next|cursor|after|continu|token|older/i;

/** The lists whose paging is the profile's, first found first. */
const MAIN: readonly string[] = ["posts.list", "jobs.list", "agents.list", "communities.list"];

export function draftPaging(document: OpenDocument, matches: readonly Match[], profile: Profile): readonly Finding[] {
  const read = matches
    .filter(({ name, operation }) => profile.operations.get(name)?.list === true && operation.method === "GET")
    .map(({ name, operation }) => ({ name, paging: pagingIn(document, operation) }));
  const main = MAIN.flatMap((name) => read.find((one) => one.name === name && one.paging.style !== "none") ?? [])[0] ?? read[0];
  if (main === undefined) return [];
  const shared: Paging = { ...profile.paging, ...main.paging };
  const proposals: Proposal[] = different(main.paging, profile.paging).map(([key, value]) => ({
    path: ["paging", key],
    value,
    isDoubtful: false,
  }));
  for (const { name, paging } of read) {
    const own = different(paging, shared);
    if (name === main.name || own.length === 0) continue;
    proposals.push({ path: ["operations", name, "paging"], value: Object.fromEntries(own), isDoubtful: false });
  }
  const said = `${main.name} pages by ${shared.style ?? "nothing"}`;
  return [finding("document", proposals.length === 0 ? "ok" : "warning", said, proposals)];
}

function different(paging: Paging, other: Paging): readonly (readonly [string, Json])[] {
  return Object.entries(paging).filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(other[key as keyof Paging]));
}

function pagingIn(document: OpenDocument, { query, success, answerHeaders }: ApiOperation): Paging {
  const find = (pattern: RegExp): ApiField | undefined => query.find(({ name }) => pattern.test(name));
  const [limit, cursor, page, offset] = [find(LIMIT), find(CURSOR), find(PAGE), find(OFFSET)];
  const beside = scalarsBeside(sampleOf(document, success?.schema));
  const link = beside.find(({ path }) => LINK.test(path))?.path;
  const next = beside.find(({ path, value }) => typeof value === "string" && NEXT.test(path))?.path;
  const more = beside.find(({ path, value }) => typeof value === "boolean" && /more|next/i.test(path))?.path;
  const maximum = limit === undefined ? undefined : numberIn(merged(document, limit.schema), "maximum");
  return {
    ...styleOf({ cursor, page, offset, link, next, more, hasLinkHeader: answerHeaders.includes("link") }),
    ...(page === undefined || cursor !== undefined ? {} : firstPage(merged(document, page.schema))),
    ...(limit === undefined ? {} : { limitParameter: limit.name }),
    ...(maximum === undefined || maximum < 1 || maximum > 10_000 ? {} : { maxLimit: maximum }),
  };
}

interface Seen {
  readonly cursor: ApiField | undefined;
  readonly page: ApiField | undefined;
  readonly offset: ApiField | undefined;
  readonly link: string | undefined;
  readonly next: string | undefined;
  readonly more: string | undefined;
  readonly hasLinkHeader: boolean;
}

function styleOf({ cursor, page, offset, link, next, more, hasLinkHeader }: Seen): Paging {
  if (hasLinkHeader) return { style: "link" };
  if (link !== undefined) return { style: "link", next: [link] };
  if (cursor !== undefined) return { style: "cursor", parameter: cursor.name, ...(next === undefined ? {} : { next: [next] }) };
  const numbered = page ?? offset;
  if (numbered === undefined) return { style: "none" };
  return { style: page === undefined ? "offset" : "page", parameter: numbered.name, ...(more === undefined ? {} : { next: [more] }) };
}

function firstPage(schema: JsonObject | undefined): Paging {
  const first = numberIn(schema, "minimum") ?? numberIn(schema, "default");
  return first === 0 || first === 1 ? { firstPage: first } : {};
}

function numberIn(schema: JsonObject | undefined, name: string): number | undefined {
  const value = schema?.[name];
  return typeof value === "number" && Number.isSafeInteger(value) ? value : undefined;
}

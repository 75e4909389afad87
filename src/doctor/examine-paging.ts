/** Examines lists: how they are paged, in which order, and if they are stable. */
import { resolveProfile, type Profile } from "../contract/profile/profile.ts";
import { isObject, type Json } from "../core/json.ts";
import type { Exchange } from "../client/client.ts";
import { bodyOf, finding, idsOf, type Ask, type Finding, type Proposal } from "./finding.ts";
import { cursorOf, linkTo, pagingOf } from "../client/next-page.ts";

const SMALL = 2;
/** Names of paging parameters, likeliest first. Each try is a charged read, so the lists are short. */
const CURSOR_PARAMETERS = ["cursor", "after", "next", "page_token", "starting_after", "before"];
const LIMIT_PARAMETERS = ["limit", "per_page", "page_size", "count", "size", "take"];

type Paging = Partial<Profile["paging"]>;

/** Tries the profile's paging, then the hints in the answer, then the usual ways; the first that yields new items wins. */
export async function* examinePaging(profile: Profile, list: string, ask: Ask, isOwn = false): AsyncGenerator<Finding> {
  const whole = await ask({ operation: list, input: {} });
  if (whole === undefined || whole.outcome.class !== "confirmed") return;
  const all = idsOf(whole.outcome);
  if (all.length <= SMALL) return void (yield finding("paging", "note", `${list} has ${all.length} items: too few to examine paging`));
  const sized = await pageSize(profile, list, ask, all.length);
  if (sized === undefined) return;
  const { page, limit } = sized;
  const first = idsOf(page.outcome);
  const present = pagingOf(profile, profile.operations.get(list));
  for (const paging of waysToPage(profile, page)) {
    const second = await secondPage(withPaging(profile, list, { ...limit, ...paging }), list, ask, page);
    if (second === "spent") return;
    const fresh = second.filter((id) => !first.includes(id));
    if (second.length === 0 || fresh.length === 0) continue;
    const changed: Paging = { ...limit, ...paging, ...firstPageOf(paging, all.indexOf(second[0] ?? ""), first.length) };
    const stated = Object.entries(changed).filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(present[key as keyof Paging]));
    const overlap = second.length - fresh.length;
    yield finding(
      "paging",
      stated.length === 0 ? "ok" : "warning",
      `${list} pages by ${paging.style ?? present.style}${overlap === 0 ? "" : `, with ${overlap} items of the page before`}`,
      proposed(profile, list, stated, isOwn),
    );
    return;
  }
  const none = isOwn
    ? { path: ["operations", list, "paging"], value: { ...profile.operations.get(list)?.paging, style: "none" } as Json }
    : { path: ["paging", "style"], value: "none" };
  yield finding("paging", "warning", `${list}: no way to a second page was found; only its first ${first.length} items are visible`, [
    { ...none, isDoubtful: true, because: "no way to a second page was found" },
  ]);
}

/** A list that pages otherwise than the first one has its own paging. */
function proposed(profile: Profile, list: string, stated: readonly (readonly [string, unknown])[], isOwn: boolean): readonly Proposal[] {
  if (!isOwn) return stated.map(([key, value]): Proposal => ({ path: ["paging", key], value: value as Json, isDoubtful: false }));
  const known = profile.operations.get(list)?.paging ?? {};
  if (stated.length === 0) return [];
  return [{ path: ["operations", list, "paging"], value: { ...known, ...Object.fromEntries(stated) } as Json, isDoubtful: false }];
}

/** If the second page begins two pages down, the network counts its pages from 0. */
function firstPageOf({ style }: Paging, at: number, size: number): Paging {
  return style === "page" && at >= 2 * size ? { firstPage: 0 } : {};
}

function withPaging(profile: Profile, list: string, paging: Paging): Profile {
  return resolveProfile({ extends: profile.set === "a" ? "set-a" : "set-b", operations: { [list]: { paging } } }, profile);
}

/** Finds a parameter that makes the page shorter. */
async function pageSize(
  profile: Profile,
  list: string,
  ask: Ask,
  whole: number,
): Promise<{ readonly page: Exchange; readonly limit: Paging } | undefined> {
  const { limitParameter: stated } = pagingOf(profile, profile.operations.get(list));
  const names = [stated, ...LIMIT_PARAMETERS.filter((name) => name !== stated)];
  let last: Exchange | undefined;
  for (const limitParameter of names) {
    const page = await ask({ operation: list, input: { limit: SMALL } }, withPaging(profile, list, { limitParameter }));
    if (page === undefined) return undefined;
    if (page.outcome.class !== "confirmed") continue;
    last ??= page;
    const count = idsOf(page.outcome).length;
    if (count > 0 && count < whole) return { page, limit: { limitParameter } };
  }
  return last === undefined ? undefined : { page: last, limit: {} };
}

function waysToPage(profile: Profile, page: Exchange): Paging[] {
  const hints = scalarsBeside(bodyOf(page));
  const cursors = hints.filter(
    ({ path, value }) => typeof value === "string" && value !== "" && /next|cursor|after|continu|token|older/i.test(path),
  );
  const [cursor] = cursors;
  const link = page.wire.kind === "answer" ? linkTo(page.wire.headers["link"], "next") : undefined;
  const more = hints.filter(({ path, value }) => typeof value === "boolean" && /more|next/i.test(path)).map(({ path }) => path);
  const numbered = hints.find(({ path, value }) => typeof value === "number" && /next/i.test(path))?.path;
  const told = more[0] ?? numbered;
  const asUrl = cursor !== undefined && typeof cursor.value === "string" && /^(?:https?:\/)?\/.*\?/.test(cursor.value);
  const next = (style: "page" | "offset", parameter: string): Paging => ({
    style,
    parameter,
    ...(told === undefined ? {} : { next: [told] }),
  });
  return [
    ...(link === undefined ? [] : [{ style: "link" as const }]),
    ...(asUrl ? [{ style: "link" as const, next: [cursor.path] }] : []),
    ...(page.outcome.class === "confirmed" && page.outcome.next !== undefined ? [{}] : []),
    ...(cursor === undefined || asUrl
      ? []
      : parametersFor(profile, cursor.path).map((parameter) => ({ style: "cursor" as const, parameter, next: [cursor.path] }))),
    next("page", "page"),
    next("offset", "offset"),
    ...unnamed(hints, idsOf(page.outcome)).flatMap(({ path }) =>
      [nameOf(path), ...CURSOR_PARAMETERS].map((parameter) => ({ style: "cursor" as const, parameter, next: [path] })),
    ),
    next("page", "p"),
    next("offset", "skip"),
  ];
}

/** A value that no name tells: the id of the last item, the number of items so far, or a long key. */
function unnamed(hints: readonly { readonly path: string; readonly value: Json }[], ids: readonly string[]): typeof hints {
  const isCursor = (value: Json): boolean =>
    value === ids.length || (typeof value === "string" && (value === ids.at(-1) || (value.length >= LONG_KEY && /^\S+$/.test(value))));
  return hints.filter(({ value }) => isCursor(value)).slice(0, 1);
}

const LONG_KEY = 12;

function nameOf(path: string): string {
  return path.split(".").at(-1) ?? path;
}

/** The profile's parameter first, then one named like the cursor's place: `page_token` in `next_page_token`. */
function parametersFor({ paging }: Profile, path: string): readonly string[] {
  const name = nameOf(path);
  const stem = name.replace(/^next[_-]?/i, "");
  const derived = stem === "" ? [] : [stem.slice(0, 1).toLowerCase() + stem.slice(1)];
  return [...new Set([paging.parameter, ...derived, ...CURSOR_PARAMETERS, name])];
}

/** Plain values of an answer outside its lists. */
export function scalarsBeside(value: Json | undefined, path = "", depth = 0): { readonly path: string; readonly value: Json }[] {
  if (!isObject(value) || depth > 3) return [];
  return Object.entries(value).flatMap(([key, item]) => {
    const here = path === "" ? key : `${path}.${key}`;
    if (item === undefined || item === null || /[\s.$]/.test(key)) return [];
    return typeof item === "object" ? scalarsBeside(item, here, depth + 1) : [{ path: here, value: item }];
  });
}

/** The ids that follow the first page under a profile's paging. */
async function secondPage(profile: Profile, list: string, ask: Ask, page: Exchange): Promise<readonly string[] | "spent"> {
  // The first page is read again under this profile, since the place of "next" may be the difference.
  const again = await ask({ operation: list, input: { limit: SMALL } }, profile);
  if (again === undefined) return "spent";
  const next = again.outcome.class === "confirmed" ? again.outcome.next : undefined;
  const cursor = next === undefined ? undefined : cursorOf(next);
  if (cursor === undefined || page.outcome.class !== "confirmed") return [];
  const second = await ask({ operation: list, input: { limit: SMALL, cursor } }, profile);
  return second === undefined ? "spent" : idsOf(second.outcome);
}

/** Examines the order (newest first or last), and if two readings agree. */
export async function* examineOrder(list: string, ask: Ask): AsyncGenerator<Finding> {
  const first = await ask({ operation: list, input: {} });
  const again = first === undefined ? undefined : await ask({ operation: list, input: {} });
  if (first === undefined || again === undefined || first.outcome.class !== "confirmed" || again.outcome.class !== "confirmed") return;
  const times = (first.outcome.items ?? []).flatMap((item) =>
    "createdAtMs" in item && item.createdAtMs !== undefined ? [item.createdAtMs] : [],
  );
  const steps = times.slice(1).map((time, index) => time - (times[index] ?? time));
  const order =
    steps.length === 0
      ? "unknown"
      : steps.every((step) => step <= 0)
        ? "newest first"
        : steps.every((step) => step >= 0)
          ? "oldest first"
          : "mixed";
  yield finding("order", order === "newest first" ? "ok" : "note", `${list}: order ${order}`);
  const later = new Set(idsOf(again.outcome));
  const lost = idsOf(first.outcome).filter((id) => !later.has(id)).length;
  yield lost === 0
    ? finding("order", "ok", `${list}: nothing was missing between two readings`)
    : finding("order", "note", `${list}: ${lost} items of one reading were not in the next, so a page proves no absence`);
}

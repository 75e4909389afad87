/** Finds the specialist in the path of a delivery, whatever a proxy leaves before it or strips from it. */

/** Longest part of a path: a prefix, a handle, or the secret behind it. */
export const MAX_PART_LENGTH = 300;
/** A path without a route. */
export const NOWHERE = "/";
const FOLDER = "webhooks";
/** A path that is a route as it stands. */
const ROUTE = /^\/webhooks\/(?!webhooks$)[\w-]{1,300}$/;

/**
 * Returns the path of a route: `/webhooks/<handle>` or `/webhooks/<handle>/<secret>`. It stands at the end of what came, behind any prefix
 * (`/a/b/webhooks/<handle>`); without `/webhooks` a known handle is the last part, or the last but one.
 */
export function routeOf(url: string, knows: (handle: string) => boolean): string {
  if (ROUTE.test(url)) return url;
  const parts = partsOf(url);
  if (parts === undefined) return NOWHERE;
  const behind = parts.slice(parts.lastIndexOf(FOLDER) + 1);
  if (behind.length < parts.length && (behind.length === 1 || behind.length === 2)) return pathOf(behind);
  const known = [parts.slice(-1), parts.slice(-2)].find(([handle]) => handle !== undefined && knows(handle));
  return known === undefined ? NOWHERE : pathOf(known);
}

/** Undefined for a path that cannot be decoded: the router would answer it itself, and count nothing against its sender. */
function partsOf(url: string): readonly string[] | undefined {
  const path = url.startsWith("/") ? url.split(/[?#]/, 1)[0] : URL.parse(url)?.pathname;
  if (path === undefined) return undefined;
  try {
    const parts = path.split("/").map((part) => decodeURIComponent(part));
    return parts.every((part) => part.length <= MAX_PART_LENGTH) ? parts.filter((part) => part !== "") : undefined;
  } catch {
    return undefined;
  }
}

function pathOf(parts: readonly string[]): string {
  return `/${[FOLDER, ...parts].map((part) => encodeURIComponent(part)).join("/")}`;
}

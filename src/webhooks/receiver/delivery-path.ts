/** Finds the specialist in the path of a delivery, whatever a proxy leaves before it or strips from it. */

/** Longest part of a path: a prefix, a handle, or the secret behind it. */
const MAX_PART_LENGTH = 300;
const FOLDER = "webhooks";

export interface Target {
  readonly specialist: string;
  /** The secret behind the handle. */
  readonly token?: string;
}

/** A path that needs no decoding, as most do. */
const PLAIN = /^\/webhooks\/(?!webhooks$)([\w-]{1,300})$/;

/**
 * Reads `/webhooks/<handle>` or `/webhooks/<handle>/<secret>`. It stands at the end of what came, behind any prefix
 * (`/a/b/webhooks/<handle>`); without `/webhooks` a known handle is the last part, or the last but one. Undefined for any other path.
 */
export function targetOf(url: string, knows: (handle: string) => boolean): Target | undefined {
  const plain = PLAIN.exec(url)?.[1];
  if (plain !== undefined) return { specialist: plain };
  const parts = partsOf(url);
  if (parts === undefined) return undefined;
  const behind = parts.slice(parts.lastIndexOf(FOLDER) + 1);
  if (behind.length < parts.length && (behind.length === 1 || behind.length === 2)) return asTarget(behind);
  const known = [parts.slice(-1), parts.slice(-2)].find(([handle]) => handle !== undefined && knows(handle));
  return known === undefined ? undefined : asTarget(known);
}

function asTarget([specialist, token]: readonly string[]): Target | undefined {
  if (specialist === undefined) return undefined;
  return token === undefined ? { specialist } : { specialist, token };
}

/** Undefined for a path that cannot be decoded. */
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

/** The one path of a file that links may name in several ways. */
import { lstatSync, readlinkSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

/** Links that lead to one another. The system's own bound is the same. */
const MAX_LINKS = 40;

/**
 * The path with every link in it followed, also where the file or some of its folders do not exist yet.
 *
 * @throws the system's error (`ELOOP`, `EACCES`) where a link cannot be followed.
 */
export function realPath(path: string, links = MAX_LINKS): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (!isMissing(error) || dirname(path) === path) throw error;
  }
  const target = links > 0 ? linkAt(path) : undefined;
  if (target !== undefined) return realPath(resolve(dirname(path), target), links - 1);
  return join(realPath(dirname(path), links), basename(path));
}

function linkAt(path: string): string | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

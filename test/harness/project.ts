/** A throw-away folder with files in it, removed when the test is over. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";

export interface Project {
  readonly root: string;
  readonly write: (path: string, text: string) => string;
}

export function project(files: { readonly [path: string]: string } = {}): Project {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "retinue-test-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const write = (path: string, text: string): string => {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text, path === ".env" ? { mode: 0o600 } : {});
    return file;
  };
  for (const [path, text] of Object.entries(files)) write(path, text);
  return { root, write };
}

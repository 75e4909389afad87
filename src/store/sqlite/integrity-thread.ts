/** The thread that checks a large store's file, over a connection of its own. */
import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";

export interface IntegrityStart {
  readonly path: string;
}

export interface IntegrityVerdict {
  readonly verdict: string;
}

const { path } = workerData as IntegrityStart;
const db = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
parentPort?.postMessage({ verdict: check() } satisfies IntegrityVerdict);
db.close();

function check(): string {
  try {
    return String(db.prepare("PRAGMA quick_check(1)").get()?.["quick_check"]);
  } catch (error) {
    return error instanceof Error ? error.message : String(error); // a page that cannot be read
  }
}

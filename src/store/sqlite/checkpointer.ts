/** The thread that moves the log of a busy store to its file: a connection of its own, one checkpoint for each word. */
import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";

export interface CheckpointerStart {
  readonly path: string;
}

export type ToCheckpointer = "checkpoint" | "end";
export type FromCheckpointer = "done";

const { path } = workerData as CheckpointerStart;
const db = new DatabaseSync(path, { timeout: 0 });
db.exec("PRAGMA synchronous = NORMAL"); // the log is on disk before the file is written, and the file before the log begins anew
/** Waits for nobody and holds nobody up: it moves what is committed and leaves the rest. */
const checkpoint = db.prepare("PRAGMA wal_checkpoint(PASSIVE)");

parentPort?.on("message", (what: ToCheckpointer) => {
  if (what === "end") {
    db.close();
    parentPort?.close();
    return;
  }
  checkpoint.get();
  parentPort?.postMessage("done" satisfies FromCheckpointer);
});

/** The thread that moves the log of a busy store to its file, over its own connection, one checkpoint per message. */
import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";

export interface CheckpointerStart {
  readonly path: string;
}

export type ToCheckpointer = "checkpoint" | "end";
export type FromCheckpointer = "done";

const { path } = workerData as CheckpointerStart;
const db = new DatabaseSync(path, { timeout: 0 });
db.exec("PRAGMA synchronous = NORMAL"); // the log is on disk before the file is written, and the file before the log restarts
/** Neither waits for nor blocks others: it moves what is committed and leaves the rest. */
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

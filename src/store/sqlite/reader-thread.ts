/** The thread that reads a store for people, over a connection that cannot write, one read after the other. */
import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { messageOf } from "../../core/errors.ts";
import { createReadTable, readIn, type ReadName } from "./people-reads.ts";

export interface ReaderStart {
  readonly path: string;
}

export interface ReadRequest {
  readonly name: ReadName;
  readonly given: readonly unknown[];
}

/** Answers come in the order of the requests. */
export type ReadAnswer = { readonly value: unknown } | { readonly failed: string };

const { path } = workerData as ReaderStart;
const db = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
db.exec("PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16384");
const table = createReadTable(db);

parentPort?.on("message", (request: ReadRequest) => {
  try {
    parentPort?.postMessage(answer(request));
  } catch (error) {
    parentPort?.postMessage({ failed: messageOf(error) } satisfies ReadAnswer);
  }
});

/** All statements of a read see the same commits. */
function answer({ name, given }: ReadRequest): ReadAnswer {
  db.exec("BEGIN");
  try {
    return { value: readIn(table, name, given) };
  } finally {
    db.exec("COMMIT");
  }
}

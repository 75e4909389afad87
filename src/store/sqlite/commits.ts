/** Grouped commits: what is written in one turn of the event loop shares one transaction and one fsync. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { Fatal, messageOf } from "../../core/errors.ts";

interface Waiting {
  readonly run: () => unknown;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

export interface CommitsOptions {
  /** Runs a function at the end of the present turn of the event loop. */
  readonly soon: (run: () => void) => void;
  /** Called when a COMMIT failed: whatever is cached of the rows is no longer true. */
  readonly onLost: (error: Fatal) => void;
  /** Called when one operation was rolled back while the others of its group went on. */
  readonly onRollback: () => void;
}

/** More operations than this in one turn are spread over several commits, so that no commit blocks for long. */
const MAX_GROUP = 512;

export class Commits {
  readonly #db: DatabaseSync;
  readonly #options: CommitsOptions;
  #queue: Waiting[] = [];
  #scheduled = false;
  #lost: Fatal | undefined;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #save: StatementSync;
  readonly #release: StatementSync;
  readonly #undo: StatementSync;

  constructor(db: DatabaseSync, options: CommitsOptions) {
    this.#db = db;
    this.#options = options;
    this.#begin = db.prepare("BEGIN IMMEDIATE");
    this.#commit = db.prepare("COMMIT");
    this.#save = db.prepare("SAVEPOINT one");
    this.#release = db.prepare("RELEASE one");
    this.#undo = db.prepare("ROLLBACK TO one");
  }

  /** Resolves with what `run` returned, after it is on disk. `run` is synchronous and atomic. */
  add<Result>(run: () => Result): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      this.#queue.push({ run, resolve, reject });
      if (this.#scheduled) return;
      this.#scheduled = true;
      this.#options.soon(() => this.flush());
    });
  }

  /** Commits what is waiting now. */
  flush(): void {
    this.#scheduled = false;
    const group = this.#queue.splice(0, MAX_GROUP);
    if (this.#queue.length > 0) {
      this.#scheduled = true;
      this.#options.soon(() => this.flush());
    }
    if (group.length === 0) return;
    if (this.#lost !== undefined) return reject(group, this.#lost);
    const settle: (() => void)[] = [];
    try {
      this.#begin.run();
      for (const waiting of group) settle.push(this.#one(waiting));
      this.#commit.run();
    } catch (error) {
      return this.#lose(group, error);
    }
    for (const done of settle) done();
  }

  #one({ run, resolve, reject: refuse }: Waiting): () => void {
    this.#save.run();
    try {
      const value = run();
      this.#release.run();
      return () => resolve(value as never);
    } catch (error) {
      this.#undo.run();
      this.#release.run();
      this.#options.onRollback();
      return () => refuse(error);
    }
  }

  /** A failed commit leaves "maybe written" behind: nothing more is accepted, since only a restart reads the truth. */
  #lose(group: readonly Waiting[], cause: unknown): void {
    const lost = new Fatal("store_lost", `the store could not commit: ${messageOf(cause)}`, {
      cause,
      hint: "nothing is sent any more; free disk space or mend the disk, then start again",
    });
    this.#lost = lost;
    try {
      if (this.#db.isTransaction) this.#db.exec("ROLLBACK");
    } catch {
      // The connection is of no use any more; the error that matters is the commit's.
    }
    reject(group, lost);
    this.#options.onLost(lost);
  }
}

function reject(group: readonly Waiting[], error: Fatal): void {
  for (const waiting of group) waiting.reject(error);
}

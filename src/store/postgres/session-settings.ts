/** The times of our sessions on the server, and the settings by which it ends those of a process that is gone or stopped. */
import type { Clock, Timer } from "../../core/clock.ts";
import { MINUTE, SECOND } from "../../core/units.ts";

/** The server ends a session that is silent for this long: its process is gone, or stopped. */
export const SESSION_TIMEOUT_MS = 16 * SECOND;

/** The times of a session, made of its timeout. */
export interface SessionTimes {
  readonly timeoutMs: number;
  /** A store that is idle sends a statement this often, a session beside the stores at least half as often. */
  readonly aliveMs: number;
  /** Nothing leaves later than this after the last statement that the server answered: another process may have the shards soon after. */
  readonly currentMs: number;
  /** A server that answers nothing for so long, while a statement waits, cannot be reached. */
  readonly answerMs: number;
}

/** A busy server may take so long for a statement. */
const SLOW_ANSWER_MS = 10 * SECOND;

export function sessionTimes(timeoutMs = SESSION_TIMEOUT_MS): SessionTimes {
  return { timeoutMs, aliveMs: timeoutMs / 4, currentMs: (timeoutMs * 3) / 4, answerMs: Math.max(timeoutMs, SLOW_ANSWER_MS) };
}

export type SessionSettings = Readonly<Record<string, string>>;

/** A wait for a lock ends: those of ours are held for moments, and longer only by what a person does to the tables. */
const LOCK_WAIT_MS = MINUTE;
/** The server looks this often, while a statement waits, if its client is still there. */
const CLIENT_CHECK_MS = 2 * SECOND;
const PROBES = 3;

/**
 * Settings of every session: whatever its process holds there is free again within the timeout. A stop within a transaction counts as
 * silence. A process that is stopped takes no more rows: then the session waits for its socket, where no timeout of statements or
 * transactions counts, and `tcp_user_timeout` does. Probes end the session of a machine that is gone, and never before the timeout, since
 * its process may send until shortly before it; the kernel of a stopped process answers them.
 */
export function sessionSettings({ timeoutMs }: SessionTimes): SessionSettings {
  const probeS = String(Math.ceil(timeoutMs / SECOND / (PROBES + 1)));
  return {
    idle_in_transaction_session_timeout: String(timeoutMs),
    lock_timeout: String(LOCK_WAIT_MS),
    client_connection_check_interval: String(CLIENT_CHECK_MS),
    tcp_user_timeout: String(timeoutMs),
    tcp_keepalives_idle: probeS,
    tcp_keepalives_interval: probeS,
    tcp_keepalives_count: String(PROBES),
  };
}

/** Settings of a session that says that it lives, with `keepAlive`: it ends with the work of its process. */
export function livingSettings({ timeoutMs }: SessionTimes): SessionSettings {
  return { idle_session_timeout: String(timeoutMs) };
}

/** Settings of a session that writes, which has to say that it lives once it has shards. */
export const WRITER_SETTINGS: SessionSettings = { synchronous_commit: "on" };

/** The statement that sets these for its session. */
export function settingOf(settings: SessionSettings): { readonly text: string; readonly values: readonly unknown[] } {
  return {
    text: `SELECT set_config(name, value, false) FROM unnest($1::text[], $2::text[]) AS given (name, value)
        WHERE name <> 'transaction_timeout' OR current_setting('server_version_num')::integer >= 170000`,
    values: [Object.keys(settings), Object.values(settings)],
  };
}

/** The part of a connection that is kept alive. */
interface Kept {
  readonly statements: number;
  requireAnswers(withinMs: number): void;
  query(statement: { readonly text: string }): Promise<unknown>;
  onLost(listener: () => void): void;
}

/**
 * Sends a statement on a session that was silent since the last look, until it is cancelled or the session is lost. It counts as lost too if the
 * server cannot be reached.
 */
export function keepAlive(connection: Kept, clock: Clock, { aliveMs, answerMs }: SessionTimes): Timer {
  connection.requireAnswers(answerMs);
  let timer: Timer | undefined;
  let isOver = false;
  const cancel = (): void => {
    isOver = true;
    timer?.cancel();
  };
  const arm = (): void => {
    if (isOver) return;
    const { statements } = connection;
    timer = clock.after(aliveMs, () => {
      if (connection.statements > statements) return arm();
      connection.query({ text: "SELECT" }).then(arm, arm); // one may fail in a transaction that has failed
    });
  };
  connection.onLost(cancel);
  arm();
  return { cancel };
}

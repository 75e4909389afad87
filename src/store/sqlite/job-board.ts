/** A specialist's job board in SQLite: one statement for the jobs, one for the last action on each. */
import type { DatabaseSync } from "node:sqlite";
import { eventId } from "../../contract/event-id.ts";
import { defined } from "../../core/defined.ts";
import { MAX_SEARCHED } from "../history.ts";
import { MAX_CARDS, type BoardColumn, type BoardJob } from "../job-board.ts";
import type { ReadTable } from "../people-reads.ts";
import { MAX_TITLE } from "../sources.ts";
import { maybeNumber, maybeText, numberOf, textOf, type Row } from "./columns.ts";
import { intentRow, readIntent } from "./intent-rows.ts";

/** A field of a job as a check left it with the watch, else as it was listed. */
const seen = (name: string, types: string): string => {
  const within = (json: string): string => `(SELECT value FROM json_each(${json}) WHERE key = '${name}' AND type IN (${types}))`;
  return `coalesce(${within("watch.data")}, ${within("event.payload")})`;
};
const NUMBER = "'integer', 'real'";
const SINCE = "coalesce(json_extract(data, '$.followedAt'), created_at)";

export function createJobBoard(db: DatabaseSync): Pick<ReadTable, "jobBoard"> {
  const jobs = db.prepare(`
    SELECT watch.object, watch.state, page.n, page.since, watch.due_at,
      substr(${seen("title", "'text'")}, 1, ${MAX_TITLE}) AS title, ${seen("reward", NUMBER)} AS reward, ${seen("deadlineMs", NUMBER)} AS deadline
    FROM (
      SELECT object, since, n FROM (
        SELECT object, ${SINCE} AS since, count(*) OVER (PARTITION BY state) AS n,
          row_number() OVER (PARTITION BY state ORDER BY ${SINCE} DESC, object) AS place
        FROM watch WHERE specialist = ?1 AND kind = 'job'
      ) WHERE place <= ${MAX_CARDS}
    ) AS page
    CROSS JOIN watch ON watch.specialist = ?1 AND watch.kind = 'job' AND watch.object = page.object
    LEFT JOIN main.event ON event.id = '${eventId("job.listed", "")}' || watch.object AND event.specialist = ?1
    ORDER BY page.since DESC, watch.object`);
  const actions = db.prepare(`
    SELECT ${intentRow("'{}'")} FROM (
      SELECT max(seq) AS newest FROM (
        SELECT seq, target, operation FROM main.intent INDEXED BY intent_of WHERE specialist = ?1 ORDER BY seq DESC LIMIT ${MAX_SEARCHED})
      WHERE substr(operation, 1, 5) = 'jobs.' AND target IN (SELECT value FROM json_each(?2)) GROUP BY target
    ) CROSS JOIN main.intent ON intent.seq = newest`);
  return {
    jobBoard(specialist) {
      const rows = jobs.all(specialist);
      const wanted = JSON.stringify(rows.map((row) => textOf(row, "object")));
      const intents = actions.all(specialist, wanted).map(readIntent);
      const lastOn = new Map(intents.map((intent) => [intent.target, intent]));
      const columns = Map.groupBy(rows, (row) => textOf(row, "state"));
      return [...columns].map(([state, all]): BoardColumn => ({
        state,
        count: all[0] === undefined ? 0 : numberOf(all[0], "n"),
        jobs: all.map((row): BoardJob => defined({ ...readJob(row), last: lastOn.get(textOf(row, "object")) })),
      }));
    },
  };
}

function readJob(row: Row): BoardJob {
  return defined({
    id: textOf(row, "object"),
    title: maybeText(row, "title"),
    reward: maybeNumber(row, "reward"),
    deadlineMs: maybeNumber(row, "deadline"),
    since: numberOf(row, "since"),
    dueAt: maybeNumber(row, "due_at") ?? null,
  });
}

/** The watched jobs of a specialist as a board: a column for each status, a card for each of its newest jobs. */
import type { Change, JobBoard, JobShown } from "./answers.ts";
import { Code, Foreign } from "./foreign.tsx";
import { showAgo, showNumber, words } from "./format.ts";
import { useLoaded } from "./loaded.ts";
import { toneOfState } from "./log-filters.ts";
import { Ago, Badge, Empty, Shown, useNow, WhyLink } from "./parts.tsx";
import { addressOf } from "./place.ts";

interface Props {
  readonly handle: string;
  readonly concerns: (change: Change) => boolean;
}

export function Board({ handle, concerns }: Props) {
  const loaded = useLoaded<JobBoard>(`/api/specialists/${encodeURIComponent(handle)}/jobs`, concerns);
  return (
    <Shown loaded={loaded}>
      {({ columns }) =>
        columns.length === 0 ? (
          <Empty title="It has applied for no job yet." />
        ) : (
          <div class="board">
            {columns.map(({ state, count, jobs }) => (
              <section class="board-column" key={state}>
                <h2>
                  <Foreign text={words(state)} /> <span class="board-count">{showNumber(count)}</span>
                </h2>
                <ol>
                  {jobs.map((job) => (
                    <Card key={job.id} handle={handle} state={state} job={job} />
                  ))}
                </ol>
                {jobs.length < count && <p class="muted">and {showNumber(count - jobs.length)} older</p>}
              </section>
            ))}
          </div>
        )
      }
    </Shown>
  );
}

/** Statuses after which nothing more is expected. */
const OVER: readonly string[] = ["paid", "lost", "expired", "cancelled", "gone"];

function Card({ handle, state, job }: { readonly handle: string; readonly state: string; readonly job: JobShown }) {
  const { id, title, reward, deadlineMs, since, followed, undelivered, last } = job;
  const now = useNow();
  const isOver = OVER.includes(state);
  return (
    <li class="job">
      <p class="job-title">
        <Foreign text={title ?? id} />
      </p>
      <p class="muted">
        {title !== undefined && (
          <>
            <Foreign text={id} />
            {", "}
          </>
        )}
        <Ago at={since} />
        {reward !== undefined && `, reward ${showNumber(reward)}`}
      </p>
      {deadlineMs !== undefined && !isOver && (
        <p class={deadlineMs <= now ? "warn-text" : "muted"}>
          {deadlineMs <= now ? "was due " : "due "}
          {showAgo(deadlineMs, now)}
        </p>
      )}
      {undelivered === true && <Badge tone="bad">not delivered</Badge>}
      {!followed && !isOver && <Badge tone="warn">no longer followed</Badge>}
      {last !== undefined && (
        <p class="job-last">
          <Code text={last.operation} /> <Badge tone={toneOfState(last.state)}>{words(last.state)}</Badge> <Ago at={last.at} />
        </p>
      )}
      {undelivered === true && last?.message !== undefined && (
        <p class="warn-text">
          <Foreign text={last.message} />
        </p>
      )}
      <p class="job-links">
        {last !== undefined && (
          <a href={addressOf({ view: "specialists", subject: handle, query: { before: String(last.eventSeq + 1) } })}>Timeline</a>
        )}
        <WhyLink id={id} />
      </p>
    </li>
  );
}

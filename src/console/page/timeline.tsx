/** The timeline of a specialist, from each event through the steps of its handling to the actions, their attempts and their outcome. */
import type { Change, Page, TimelineEvent, TimelineIntent } from "./answers.ts";
import { Code, Foreign, ForeignBlock } from "./foreign.tsx";
import { plural, showNumber, showShortSpan, words } from "./format.ts";
import { useLoaded } from "./loaded.ts";
import { Pages } from "./log-view.tsx";
import { toneOfState } from "./log-filters.ts";
import { Ago, At, Badge, Empty, Shown, WhyLink } from "./parts.tsx";
import { searchOf, type Place } from "./place.ts";

const LIMIT = 25;

interface Props {
  readonly handle: string;
  readonly query: Place["query"];
  readonly concerns: (change: Change) => boolean;
}

export function Timeline({ handle, query, concerns }: Props) {
  const before = query["before"] ?? "";
  const path = `/api/specialists/${encodeURIComponent(handle)}/events${searchOf({ before, limit: LIMIT })}`;
  const loaded = useLoaded<Page<TimelineEvent>>(path, (change) => before === "" && concerns(change));
  return (
    <Shown loaded={loaded}>
      {({ entries, next }) => (
        <>
          {entries.length === 0 ? (
            <Empty title="It has handled nothing yet." />
          ) : (
            <ol class="timeline">
              {entries.map((event) => (
                <EventShown key={event.seq} event={event} />
              ))}
            </ol>
          )}
          <Pages view="specialists" subject={handle} query={query} next={next} />
        </>
      )}
    </Shown>
  );
}

function EventShown({
  event: { id, kind, at, state, nextAt, note, failure, title, text, author, steps, stepCount, actions },
}: {
  readonly event: TimelineEvent;
}) {
  return (
    <li>
      <div class="entry-head">
        <span class="entry-time">
          <Ago at={at} />
        </span>
        <Code text={kind} />
        {author !== undefined && (
          <span>
            by <Foreign text={author} />
          </span>
        )}
        <Badge tone={state === "parked" ? "bad" : state === "done" ? "good" : "calm"}>{state}</Badge>
        <span class="entry-why">
          <WhyLink id={id} />
        </span>
      </div>
      {title !== undefined && (
        <p class="event-title">
          <Foreign text={title} />
        </p>
      )}
      {text !== undefined && <ForeignBlock text={text} />}
      {note !== undefined && note !== "" && (
        <p class="muted">
          <Foreign text={note} />
        </p>
      )}
      {failure !== undefined && (
        <p class="warn-text">
          {plural(failure.tries, "failed handling")}: <Foreign text={failure.message} />
          {nextAt !== undefined && (
            <>
              {", tried again "}
              <Ago at={nextAt} />
            </>
          )}
        </p>
      )}
      {stepCount > 0 && <Steps steps={steps} count={stepCount} />}
      {actions.map((action) => (
        <Action key={action.id} action={action} />
      ))}
    </li>
  );
}

/** Steps of a handling that is not over: a finished one keeps none. */
function Steps({ steps, count }: { readonly steps: TimelineEvent["steps"]; readonly count: number }) {
  return (
    <details>
      <summary>{plural(count, "step")} kept of its handling</summary>
      <ol class="steps">
        {steps.map(({ name, bytes }) => (
          <li key={name}>
            <Foreign text={name} /> <span class="muted">{showNumber(bytes)} bytes</span>
          </li>
        ))}
        {steps.length < count && <li class="muted">and {showNumber(count - steps.length)} more</li>}
      </ol>
    </details>
  );
}

function Action({
  action: { id, operation, target, state, code, message, words: text, created, reason, attempts, attemptCount },
}: {
  readonly action: TimelineIntent;
}) {
  return (
    <div class="action">
      <p class="entry-head">
        <span aria-hidden="true">→</span>
        <Code text={operation} />
        {target !== undefined && (
          <span>
            on <Foreign text={target} />
          </span>
        )}
        <Badge tone={toneOfState(state)}>{words(state)}</Badge>
        {created !== undefined && (
          <span class="muted">
            created <Foreign text={created} />
          </span>
        )}
        <span class="entry-why">
          <WhyLink id={id} />
        </span>
      </p>
      {text !== undefined && (
        <p class="said">
          <Foreign text={text} />
        </p>
      )}
      {message !== undefined && (
        <p class="muted">
          {code !== undefined && <Code text={code} />} <Foreign text={message} />
        </p>
      )}
      {reason !== undefined && (
        <p class="muted">
          approved because <Foreign text={reason} />
        </p>
      )}
      {attempts.length > 0 && (
        <ol class="attempts" aria-label="Attempts">
          {attempts.length < attemptCount && <li>{showNumber(attemptCount - attempts.length)} earlier attempts</li>}
          {attempts.map((attempt) => (
            <li key={attempt.at}>
              <At at={attempt.at} /> {attempt.outcome === undefined ? "in flight" : words(attempt.outcome)}
              {attempt.status !== undefined && ` (${attempt.status})`}
              {attempt.endedAt !== undefined && `, ${showShortSpan(attempt.endedAt - attempt.at)}`}
              {attempt.message !== undefined && (
                <>
                  {": "}
                  <Foreign text={attempt.message} />
                </>
              )}
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}

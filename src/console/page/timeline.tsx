/** What a specialist did, from each event through the steps of its handling to the actions, their attempts and their outcome. */
import type { Change, Page, TimelineAction, TimelineEvent } from "./answers.ts";
import { Foreign, ForeignBlock } from "./foreign.tsx";
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

function EventShown({ event: { id, kind, at, state, note, failure, text, author, steps, actions } }: { readonly event: TimelineEvent }) {
  return (
    <li>
      <div class="entry-head">
        <span class="entry-time">
          <Ago at={at} />
        </span>
        <code>{kind}</code>
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
      {text !== undefined && <ForeignBlock text={text} />}
      {note !== undefined && note !== "" && (
        <p class="muted">
          <Foreign text={note} />
        </p>
      )}
      {failure !== undefined && (
        <p class="warn-text">
          {plural(failure.tries, "failed handling")}: <Foreign text={failure.message} />
        </p>
      )}
      {steps.length > 0 && (
        <details>
          <summary>{plural(steps.length, "step")} of its handling</summary>
          <ol class="steps">
            {steps.map(({ name, at: stepAt, bytes }) => (
              <li key={name}>
                <code>
                  <Foreign text={name} />
                </code>{" "}
                <span class="muted">
                  <At at={stepAt} />, {showNumber(bytes)} bytes
                </span>
              </li>
            ))}
          </ol>
        </details>
      )}
      {actions.map((action) => (
        <Action key={action.id} action={action} />
      ))}
    </li>
  );
}

function Action({ action: { id, operation, target, state, code, message, words: text, created, attempts } }: { readonly action: TimelineAction }) {
  return (
    <div class="action">
      <p class="entry-head">
        <span aria-hidden="true">→</span>
        <code>{operation}</code>
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
          {code !== undefined && <code>{code}</code>} <Foreign text={message} />
        </p>
      )}
      {attempts.length > 0 && (
        <ol class="attempts" aria-label="Attempts">
          {attempts.map((attempt) => (
            <li key={attempt.at}>
              <At at={attempt.at} /> {words(attempt.outcome)}
              {attempt.status !== undefined && ` (${attempt.status})`}
              {attempt.code !== undefined && (
                <>
                  {" "}
                  <code>{attempt.code}</code>
                </>
              )}
              {attempt.endedAt !== undefined && <span class="muted">, {showShortSpan(attempt.endedAt - attempt.at)}</span>}
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}

/** Everything known of one action, event, specialist or operation: what holds it back, its payload, and its cause. */
import type { Explanation, Reason } from "./answers.ts";
import { EventText } from "./event-text.tsx";
import { Code, Foreign, ForeignBlock, Payload } from "./foreign.tsx";
import { showAmount, words } from "./format.ts";
import { useLoaded } from "./loaded.ts";
import { Ago, At, Badge, Shown, SpecialistLink, WhyLink } from "./parts.tsx";
import { searchOf, type Place } from "./place.ts";

export function WhyView({ place: { subject = "" } }: { readonly place: Place }) {
  const loaded = useLoaded<Explanation>(`/api/why${searchOf({ id: subject })}`);
  return (
    <section>
      <h1>
        Why <Foreign text={subject} />
      </h1>
      <Shown loaded={loaded}>{(explanation) => <Explained explanation={explanation} />}</Shown>
    </section>
  );
}

function Explained({ explanation }: { readonly explanation: Explanation }) {
  const { about, handle, what, target, state, since, reasons, input, created, event, approval, hint, found } = explanation;
  return (
    <>
      <p class="lead">
        {handle !== "" && <SpecialistLink handle={handle} />} <Code text={what} />
        {target !== undefined && (
          <>
            {" on "}
            <Foreign text={target} />
          </>
        )}{" "}
        <Badge tone="calm">{words(state)}</Badge> <span class="muted">{about}, </span>
        <Ago at={since} />
      </p>
      {reasons.length === 0 ? (
        <p>Nothing holds it back.</p>
      ) : (
        <ul class="reasons">
          {reasons.map((reason) => (
            <ReasonShown key={`${reason.rule} ${reason.message}`} reason={reason} />
          ))}
        </ul>
      )}
      {hint !== undefined && (
        <p class="notice">
          <Foreign text={hint} />
        </p>
      )}
      {approval !== undefined && (
        <p>
          {approval.cost === undefined ? "It is free" : `It costs at most ${showAmount(approval.cost)}`}; the time to answer ends{" "}
          <At at={approval.expiresAt} />
          {approval.over !== undefined && (
            <>
              {"; "}
              <Foreign text={approval.over.message} />
            </>
          )}
          .
        </p>
      )}
      {created !== undefined && (
        <p>
          It created <Foreign text={created} />.
        </p>
      )}
      {input !== undefined && (
        <>
          <h2>Payload</h2>
          <Payload fields={input} />
        </>
      )}
      {event !== undefined && (
        <>
          <h2>The event that led to it</h2>
          <EventText event={event} />
          <p>
            <WhyLink id={event.id}>Everything known of the event</WhyLink>
          </p>
        </>
      )}
      {found?.map((one) => (
        <article class="card calm" key={`${one.about} ${one.handle} ${one.id}`}>
          <Explained explanation={one} />
        </article>
      ))}
    </>
  );
}

function ReasonShown({ reason: { rule, message, until, held, stack, tries } }: { readonly reason: Reason }) {
  return (
    <li>
      <Badge tone="warn">{words(rule)}</Badge> <Foreign text={message} />
      {until !== undefined && (
        <>
          {", until "}
          <At at={until} />
        </>
      )}
      {tries !== undefined && `, after ${tries} tries`}
      {held !== undefined && (
        <p class="muted">
          It holds back <Foreign text={held} />.
        </p>
      )}
      {stack !== undefined && <ForeignBlock code text={stack} />}
    </li>
  );
}

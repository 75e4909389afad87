/** One matter that needs a person: its message, its age, when it runs out, and its orders; of an approval exactly what is approved. */
import { useId, useState } from "preact/hooks";
import type { Explanation, Need, NeedOrder } from "./answers.ts";
import { Code, Foreign, Payload } from "./foreign.tsx";
import { visibleLines } from "./foreign-text.ts";
import { showAgo, showAmount, showTime } from "./format.ts";
import { useLoaded } from "./loaded.ts";
import { buttonOf, KINDS } from "./need-words.ts";
import { notify } from "./notices.ts";
import { Ago, Badge, Shown, SpecialistLink, TextField, useNow, WhyLink } from "./parts.tsx";
import { EventText } from "./event-text.tsx";
import { searchOf } from "./place.ts";
import { giveOrder, ServerError } from "./server.ts";

interface Props {
  readonly need: Need;
  /** Among the first of the list. */
  readonly isNear: boolean;
  readonly mayAct: boolean;
  readonly selected: boolean;
  /** The focus is in its card. */
  readonly focused: () => void;
  readonly toggle: () => void;
  readonly done: () => void;
}

export function NeedCard({ need, isNear, mayAct, selected, focused, toggle, done }: Props) {
  const { kind, handle, title, message, hint, since, until, proposal, orders, subject } = need;
  const { one, tone } = KINDS[kind];
  const titleId = useId();
  return (
    <li class={`card ${tone}`} aria-labelledby={titleId} onFocusIn={focused}>
      <div class="card-head">
        {mayAct && orders.some(({ many }) => many) && (
          <input type="checkbox" class="select" checked={selected} onChange={toggle} aria-label={`Select: ${visibleLines(title)}`} />
        )}
        <Badge tone={tone}>{one}</Badge>
        {handle !== undefined && <SpecialistLink handle={handle} />}
        <span class="age">
          <Ago at={since} />
        </span>
      </div>
      <h2 id={titleId}>
        <Foreign text={title} />
      </h2>
      {message !== title && proposal === undefined && (
        <p class="message">
          <Foreign text={message} />
        </p>
      )}
      {hint !== undefined && (
        <p class="hint">
          <Foreign text={hint} />
        </p>
      )}
      {proposal !== undefined && <Proposed proposal={proposal} isNear={isNear} />}
      {until !== undefined && <RunsOut until={until} />}
      {mayAct ? <Orders need={need} done={done} /> : orders.length > 0 && <p class="muted">Your role only views.</p>}
      <p class="card-foot">
        <WhyLink id={subject}>Why, and everything known of it</WhyLink>
      </p>
    </li>
  );
}

function RunsOut({ until }: { readonly until: number }) {
  const now = useNow();
  const isSoon = until - now < 60 * 60_000;
  return (
    <p class={isSoon ? "until soon" : "until"}>
      {until > now ? `Runs out ${showAgo(until, now)}, at ${showTime(until, now)}: then it counts as no.` : "The time to answer is over."}
    </p>
  );
}

function Proposed({ proposal, isNear }: { readonly proposal: NonNullable<Need["proposal"]>; readonly isNear: boolean }) {
  const { what, target, cost, input, id } = proposal;
  return (
    <div class="proposal">
      <Payload fields={input} />
      <p class="muted">
        Sent by <Code text={what} />
        {target !== undefined && (
          <>
            {" on "}
            <Foreign text={target} />
          </>
        )}
        {cost === undefined ? ", free of cost." : `, for at most ${showAmount(cost)}.`}
      </p>
      <Origin id={id} isOpen={isNear} />
    </div>
  );
}

/** The event that led to an action. */
function Origin({ id, isOpen }: { readonly id: string; readonly isOpen: boolean }) {
  const [wanted, setWanted] = useState(isOpen);
  const loaded = useLoaded<Explanation>(wanted ? `/api/why${searchOf({ id })}` : undefined, () => false);
  return (
    <details class="origin" open={isOpen} onToggle={({ currentTarget }) => currentTarget.open && setWanted(true)}>
      <summary>The event that led to it</summary>
      {wanted && (
        <Shown loaded={loaded}>
          {({ event }) =>
            event === undefined ? <p class="muted">No event led to it, or it is no longer stored.</p> : <EventText event={event} />
          }
        </Shown>
      )}
    </details>
  );
}

/** The buttons of a matter. The order carries the hash that was on the screen when the person began: a change since asks for another look. */
function Orders({ need, done }: { readonly need: Need; readonly done: () => void }) {
  const { orders, proposal } = need;
  const [reason, setReason] = useState("");
  const [created, setCreated] = useState("");
  const [busy, setBusy] = useState<string>();
  const [failure, setFailure] = useState<ServerError>();
  const [seen, setSeen] = useState(proposal?.hash);
  const changed = seen !== proposal?.hash;
  const give = async ({ order, label, with: query, takesReason }: NeedOrder): Promise<void> => {
    setBusy(label);
    setFailure(undefined);
    const settles = query["verdict"] === "happened" && created.trim() !== "";
    try {
      const { message } = await giveOrder(order, {
        ...query,
        ...(takesReason && reason.trim() !== "" ? { reason } : {}),
        ...(settles ? { created } : {}),
      });
      notify(message, "good");
    } catch (error) {
      if (!(error instanceof ServerError)) throw error;
      setFailure(error);
    } finally {
      setBusy(undefined);
      done();
    }
  };
  if (orders.length === 0) return null;
  return (
    <div class="orders">
      {changed && (
        <p class="notice warn" role="alert">
          It has changed since you opened it. Read it again.{" "}
          <button type="button" onClick={() => setSeen(proposal?.hash)}>
            I have read the change
          </button>
        </p>
      )}
      {failure !== undefined && <Failed failure={failure} />}
      {orders.some(({ takesReason }) => takesReason) && <TextField label={reasonLabel(need)} value={reason} onValue={setReason} />}
      {orders.some(({ with: query }) => query["verdict"] === "happened") && (
        <TextField label="The network's id of what it created, if you know it" value={created} onValue={setCreated} maxLength={200} />
      )}
      <div class="actions">
        {orders.map((one) => (
          <button
            type="button"
            key={one.label}
            class={buttonOf(one)}
            disabled={busy !== undefined || changed || (needsReason(one) && reason.trim() === "")}
            onClick={() => void give(one)}
          >
            {busy === one.label ? `${one.label}…` : one.label}
          </button>
        ))}
        {proposal !== undefined && (
          <span class="hash" title="The order carries this hash of the payload, the cost and the time to answer">
            hash <Code text={proposal.hash} />
          </span>
        )}
      </div>
    </div>
  );
}

const needsReason = ({ order }: NeedOrder): boolean => order === "unfreeze";

function reasonLabel({ orders, proposal }: Need): string {
  if (orders.some(needsReason)) return "Reason (needed)";
  return proposal === undefined ? "Reason (optional)" : "Reason for its handler (optional)";
}

/** A login puts nothing away that was typed: the order is only given again. */
export function Failed({ failure: { status, message, hint } }: { readonly failure: ServerError }) {
  return (
    <p class="notice bad" role="alert">
      <Foreign text={status === 401 ? "Your session has ended: log in, then press again." : message} />
      {hint === undefined || status === 401 ? null : (
        <>
          {" — "}
          <Foreign text={hint} />
        </>
      )}
    </p>
  );
}

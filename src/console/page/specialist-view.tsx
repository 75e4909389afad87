/** One specialist: its condition, figures and plan, what it did event by event, its jobs and standing, and what it received. */
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Change, UsageHour, InboxEntry, OrderName, SpecialistAnswer, SpecialistShown } from "./answers.ts";
import { conditionsOf, healthOf } from "./condition.ts";
import { Code, ForeignBlock, Foreign } from "./foreign.tsx";
import { plural, showAgo, words } from "./format.ts";
import { HaltButton } from "./halt.tsx";
import { Board } from "./job-board.tsx";
import { useLoaded } from "./loaded.ts";
import { notify } from "./notices.ts";
import { Ago, Badge, Empty, Meter, Shown, useNow, WhyLink } from "./parts.tsx";
import { addressOf, searchOf, type Place } from "./place.ts";
import { PlanTable } from "./plan-table.tsx";
import { giveOrder, ServerError } from "./server.ts";
import { StandingTables } from "./standing-tables.tsx";
import { Conditions, MoneyLines } from "./specialists-view.tsx";
import { Timeline } from "./timeline.tsx";
import type { UsagePlots } from "./usage-plots.tsx";

const TABS = [
  ["", "Timeline"],
  ["jobs", "Jobs"],
  ["use", "Use and plan"],
  ["standing", "Standing"],
  ["feed", "Received"],
] as const;

export function SpecialistView({ place, mayAct }: { readonly place: Place; readonly mayAct: boolean }) {
  const { subject: handle = "", query } = place;
  const tab = query["tab"] ?? "";
  const concerns = ({ handles }: Change): boolean => handles === undefined || handles.includes(handle);
  const loaded = useLoaded<SpecialistAnswer>(`/api/specialists/${encodeURIComponent(handle)}`, concerns);
  return (
    <section>
      <p class="crumb">
        <a href={addressOf({ view: "specialists" })}>Specialists</a>
      </p>
      <h1>
        <Foreign text={handle} />
      </h1>
      <Shown loaded={loaded}>
        {({ specialist, plan, standing }) => (
          <>
            <Head specialist={specialist} mayAct={mayAct} />
            <nav class="chips" aria-label="Parts">
              {TABS.map(([name, text]) => (
                <a
                  key={name}
                  href={addressOf({ view: "specialists", subject: handle, query: { tab: name } })}
                  aria-current={tab === name ? "true" : undefined}
                >
                  {text}
                </a>
              ))}
            </nav>
            {tab === "use" ? (
              <Use specialist={specialist} plan={plan} concerns={concerns} />
            ) : tab === "jobs" ? (
              <Board handle={handle} concerns={concerns} />
            ) : tab === "standing" ? (
              <StandingTables standing={standing} />
            ) : tab === "feed" ? (
              <Feed handle={handle} concerns={concerns} />
            ) : (
              <Timeline handle={handle} query={query} concerns={concerns} />
            )}
          </>
        )}
      </Shown>
    </section>
  );
}

function Head({ specialist, mayAct }: { readonly specialist: SpecialistShown; readonly mayAct: boolean }) {
  const { tier, trust, trustLacks, quota, sources, handle, process } = specialist;
  const now = useNow();
  return (
    <div class="overview">
      <div class="panel">
        <p class="badges">
          {conditionsOf(specialist).map(({ word, tone }) => (
            <Badge key={word} tone={tone}>
              {word}
            </Badge>
          ))}
          {tier !== undefined && <span class="muted">{tier} tier</span>}
          {process !== undefined && (
            <span class="muted">
              at the process <Foreign text={process} />
            </span>
          )}
          {trust !== undefined && (
            <span class="muted">
              trust: <Foreign text={words(trust)} />
            </span>
          )}
        </p>
        {trustLacks !== undefined && (
          <p class="muted">
            More trust unlocks: <Foreign text={trustLacks.join(", ")} />
          </p>
        )}
        <Conditions specialist={specialist} />
        {sources.map(({ name, dueAt }) => (
          <p key={name} class="muted">
            <Foreign text={name} />: {dueAt === null ? "not due" : dueAt <= now ? "due now" : `next ${showAgo(dueAt, now)}`}
          </p>
        ))}
        {healthOf(specialist).map((text) => (
          <p key={text} class="warn-text">
            <Foreign text={text} />
          </p>
        ))}
        <p>
          <WhyLink id={handle}>Why, and everything that holds it back</WhyLink>
        </p>
      </div>
      <div class="panel">
        {quota !== undefined && (
          <>
            <Meter label="requests this hour" {...quota.hour} />
            <Meter label="requests this day" {...quota.day} />
          </>
        )}
        <MoneyLines money={specialist.money} />
        {mayAct && <Steer handle={handle} />}
      </div>
    </div>
  );
}

/** Pause, resume and halt of one specialist. */
function Steer({ handle }: { readonly handle: string }) {
  const [busy, setBusy] = useState(false);
  const give = async (name: OrderName): Promise<void> => {
    setBusy(true);
    try {
      notify((await giveOrder(name, name === "retry" ? { id: handle } : { handle })).message, "good");
    } catch (error) {
      if (!(error instanceof ServerError)) throw error;
      notify(error.status === 401 ? "Your session has ended: log in, then press again." : error.message, "bad");
    } finally {
      setBusy(false);
    }
  };
  return (
    <div class="actions">
      <button type="button" disabled={busy} onClick={() => void give("pause")}>
        Pause
      </button>
      <button type="button" disabled={busy} onClick={() => void give("resume")}>
        Resume
      </button>
      <button type="button" disabled={busy} onClick={() => void give("retry")}>
        Retry
      </button>
      <HaltButton handle={handle} />
    </div>
  );
}

interface UseProps {
  readonly specialist: SpecialistShown;
  readonly plan: SpecialistAnswer["plan"];
  readonly concerns: (change: Change) => boolean;
}

function Use({ specialist: { handle, quota }, plan, concerns }: UseProps) {
  const loaded = useLoaded<{ readonly hours: readonly UsageHour[] }>(`/api/usage${searchOf({ handle })}`, concerns);
  return (
    <>
      <Shown loaded={loaded}>{({ hours }) => <Plots hours={hours} />}</Shown>
      <Titled title="Plan beside actual">
        <PlanTable plan={plan} quota={quota} />
      </Titled>
    </>
  );
}

/** The library of plots is loaded with the first one: the other views need none of it. */
function Plots({ hours }: { readonly hours: readonly UsageHour[] }) {
  const [plots, setPlots] = useState<{ readonly UsagePlots: typeof UsagePlots } | { readonly failure: string }>();
  useEffect(() => {
    import("./usage-plots.tsx").then(setPlots, (error: unknown) => setPlots({ failure: String(error) }));
  }, []);
  if (plots === undefined) return <p class="muted loading">Loading…</p>;
  if ("failure" in plots) return <p class="notice bad">The plots cannot be shown: {plots.failure}</p>;
  return <plots.UsagePlots hours={hours} />;
}

function Titled({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <section class="panel">
      <h2>{title}</h2>
      {children}
    </section>
  );
}

/** The newest events that reached it, with the texts of others as they came. */
function Feed({ handle, concerns }: { readonly handle: string; readonly concerns: (change: Change) => boolean }) {
  const loaded = useLoaded<readonly InboxEntry[]>(`/api/specialists/${encodeURIComponent(handle)}/feed`, concerns);
  return (
    <Shown loaded={loaded}>
      {(entries) =>
        entries.length === 0 ? (
          <Empty title="It has received nothing yet." />
        ) : (
          <>
            <p class="muted">{plural(entries.length, "event")}, newest first. The texts are of others.</p>
            <ol class="entries">
              {entries.map(({ id, kind, at, state, payload }) => (
                <li class="entry" key={id}>
                  <div class="entry-head">
                    <span class="entry-time">
                      <Ago at={at} />
                    </span>
                    <Code text={kind} />
                    <Badge tone={state === "parked" ? "bad" : "calm"}>{state}</Badge>
                    <span class="entry-why">
                      <WhyLink id={id} />
                    </span>
                  </div>
                  <ForeignBlock code text={JSON.stringify(payload, null, 2)} />
                </li>
              ))}
            </ol>
          </>
        )
      }
    </Shown>
  );
}

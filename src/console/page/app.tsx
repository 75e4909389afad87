/** The frame around every view: the login, the navigation, the state of the connection, halts, and the results of orders. */
import { Component, type ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Change, Needs, Session } from "./answers.ts";
import { useCell } from "./cell.ts";
import { plural, showNumber, showTime } from "./format.ts";
import { Foreign } from "./foreign.tsx";
import { beginningOf, visibleLines } from "./foreign-text.ts";
import { HaltBanner, HaltButton } from "./halt.tsx";
import { connectionCell, listenForChanges, startLive } from "./live.ts";
import { useLoaded, type Loaded } from "./loaded.ts";
import { LoginDialog, LoginPage } from "./login.tsx";
import { LogView } from "./log-view.tsx";
import { NeedsView } from "./needs-view.tsx";
import { dismiss, noticesCell } from "./notices.ts";
import { OrdersView } from "./orders-view.tsx";
import { useNow } from "./parts.tsx";
import { addressOf, placeOf, type Place, type ViewName } from "./place.ts";
import { logOut, openSession, ServerError, sessionCell, sessionEnded } from "./server.ts";
import { SpecialistView } from "./specialist-view.tsx";
import { SpecialistsView } from "./specialists-view.tsx";
import { WhyView } from "./why-view.tsx";
import { after } from "./browser.ts";

const RETRY_MS = 2_000;

export function App() {
  const session = useCell(sessionCell);
  const [known, setKnown] = useState<Session>();
  useEffect(() => openFirst(), []);
  useEffect(() => {
    if (session.state === "open") setKnown(session.session);
    else if (session.state === "none") setKnown(undefined);
  }, [session]);
  if (session.state === "none") return <LoginPage why={session.why} />;
  const present = session.state === "open" ? session.session : known;
  if (present === undefined) return <p class="loading muted">Connecting…</p>;
  return (
    <>
      <Console session={present} />
      {session.state === "ended" && <LoginDialog who={session.who} />}
    </>
  );
}

/** Asks for the session until the server answers. */
function openFirst(): void {
  openSession().catch((error: unknown) => {
    if (!(error instanceof ServerError)) throw error;
    after(RETRY_MS, openFirst);
  });
}

function usePlace(): Place {
  const [place, setPlace] = useState(placeOf(location.hash));
  useEffect(() => {
    const changed = (): void => setPlace(placeOf(location.hash));
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return place;
}

const NAVIGATION: readonly (readonly [ViewName, string])[] = [
  ["needs", "Needs you"],
  ["specialists", "Specialists"],
  ["log", "Log"],
  ["orders", "Orders"],
];
const TITLES: { readonly [view in ViewName]: string } = { ...(Object.fromEntries(NAVIGATION) as Record<ViewName, string>), why: "Why" };

function Console({ session }: { readonly session: Session }) {
  const place = usePlace();
  // Other views show their number and the halts among them: loaded again once the number is another.
  const needs: Loaded<Needs> = useLoaded<Needs>("/api/needs", (change) => place.view === "needs" || isNews(change, needs.data));
  const total = useTotal(needs.data);
  const mayAct = session.role === "act";
  useEffect(() => {
    const ending = new AbortController();
    startLive(ending.signal);
    return () => ending.abort();
  }, []);
  const where = visibleLines(beginningOf(place.subject ?? TITLES[place.view], 60));
  useEffect(() => void (document.title = `${total > 0 ? `(${total}) ` : ""}${where} · Retinue`), [total, where]);
  useEffect(() => scrollTo(0, 0), [place.view, place.subject]);
  return (
    <>
      <a class="skip" href="#main" onClick={skip}>
        Skip to the content
      </a>
      <header class="top">
        <span class="brand">Retinue</span>
        <ConnectionState />
        <Processes all={needs.data?.processes ?? []} />
        <div class="top-end">
          <Who session={session} />
          {mayAct && <HaltButton />}
        </div>
        <nav class="views" aria-label="Views">
          {NAVIGATION.map(([view, text]) => (
            <a key={view} href={addressOf({ view })} aria-current={place.view === view ? "page" : undefined}>
              {text}
              {view === "needs" && total > 0 && <span class="number-badge">{showNumber(total)}</span>}
            </a>
          ))}
        </nav>
      </header>
      <HaltBanner halts={needs.data?.needs.filter(({ kind }) => kind === "halt") ?? []} mayAct={mayAct} />
      <main id="main" tabIndex={-1}>
        <Guarded key={`${place.view} ${place.subject ?? ""}`}>
          {place.view === "needs" && <NeedsView place={place} loaded={needs} mayAct={mayAct} />}
          {place.view === "specialists" &&
            (place.subject === undefined ? <SpecialistsView place={place} /> : <SpecialistView place={place} mayAct={mayAct} />)}
          {place.view === "log" && <LogView place={place} />}
          {place.view === "orders" && <OrdersView place={place} />}
          {place.view === "why" && <WhyView place={place} />}
        </Guarded>
      </main>
      <Notices />
    </>
  );
}

/** Processes of a fleet come and go without a matter. */
const PROCESSES_MS = 10_000;

function isNews(change: Change, needs: Needs | undefined): boolean {
  return change.needs !== needs?.total || (needs.processes !== undefined && change.at - needs.at > PROCESSES_MS);
}

/** The processes of a fleet, and those that do not answer: nothing of what they run is shown. */
function Processes({ all }: { readonly all: NonNullable<Needs["processes"]> }) {
  const now = useNow();
  const silent = all.filter((one) => one.silent !== undefined);
  if (all.length < 2) return null;
  const about = all.map(
    ({ name, since, specialists, silent: unheard }) =>
      `${name} since ${showTime(since, now)}, ${plural(specialists, "specialist")}${unheard === undefined ? "" : ", does not answer"}`,
  );
  return (
    <span class={silent.length === 0 ? "muted" : "warn-text"} title={about.join("\n")}>
      {showNumber(all.length)} processes
      {silent.length > 0 && (
        <>
          , of which <Foreign text={silent.map(({ name }) => name).join(", ")} /> {silent.length === 1 ? "does" : "do"} not answer:{" "}
          {plural(
            silent.reduce((sum, { silent: unheard }) => sum + (unheard?.handles.length ?? 0), 0),
            "specialist",
          )}{" "}
          not shown
        </>
      )}
    </span>
  );
}

/** A link to `#main` would leave the view. */
function skip(event: Event): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

/** The number of matters: of the last list, or of a change since, which a hidden tab gets too. */
function useTotal(needs: Needs | undefined): number {
  const [total, setTotal] = useState(0);
  useEffect(() => listenForChanges((change) => change !== undefined && setTotal(change.needs)), []);
  useEffect(() => {
    if (needs !== undefined) setTotal(needs.total);
  }, [needs]);
  return total;
}

function ConnectionState() {
  const connection = useCell(connectionCell);
  const now = useNow();
  const text = { live: "live", reconnecting: "reconnecting…", stale: "stale" }[connection.state];
  return (
    <span class={`connection ${connection.state}`} role="status">
      {text}
      {connection.state === "stale" && ` since ${showTime(connection.since, now)}`}
    </span>
  );
}

function Who({ session: { who, role } }: { readonly session: Session }) {
  return (
    <span class="who">
      <Foreign text={who} />
      {role === "view" && ", views only"}
      <button type="button" class="quiet" onClick={() => void logOut().catch(sessionEnded)}>
        Log out
      </button>
    </span>
  );
}

function Notices() {
  const notices = useCell(noticesCell);
  return (
    <div class="notices" role="status" aria-live="polite">
      {notices.map(({ id, text, tone }) => (
        <div class={`notice ${tone}`} key={id}>
          <Foreign text={text} />
          <button type="button" class="quiet" onClick={() => dismiss(id)} aria-label="Close the message">
            Close
          </button>
        </div>
      ))}
    </div>
  );
}

/** A view that cannot be drawn says so; the rest of the page goes on. */
class Guarded extends Component<{ readonly children: ComponentChildren }, { readonly failure: string | undefined }> {
  override state = { failure: undefined };

  static override getDerivedStateFromError(error: unknown) {
    return { failure: error instanceof Error ? error.message : String(error) };
  }

  override render() {
    if (this.state.failure === undefined) return this.props.children;
    return (
      <div class="notice bad" role="alert">
        <strong>This view cannot be shown: {this.state.failure}</strong>{" "}
        <button type="button" onClick={() => location.reload()}>
          Load the page again
        </button>
      </div>
    );
  }
}

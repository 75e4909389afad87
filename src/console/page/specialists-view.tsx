/** All specialists in a list that draws only the rows on the screen. */
import { observeWindowOffset, observeWindowRect, Virtualizer, windowScroll } from "@tanstack/virtual-core";
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from "preact/hooks";
import type { SpecialistsListed, SpecialistShown } from "./answers.ts";
import { conditionsOf, healthOf, nextLook } from "./condition.ts";
import { Code, Foreign } from "./foreign.tsx";
import { plural, showAgo, showAmount, showNumber, showTime, words } from "./format.ts";
import { useLoaded } from "./loaded.ts";
import { Badge, Choice, Empty, Meter, SearchForm, Shown, SpecialistLink, TextField, useNow } from "./parts.tsx";
import { addressOf, searchOf, type Place } from "./place.ts";

const STATES = [
  ["", "all"],
  ["waits", "waits"],
  ["retries", "retries"],
  ["parked", "parked"],
] as const;

export function SpecialistsView({ place: { query } }: { readonly place: Place }) {
  const { state = "", search = "" } = query;
  const loaded = useLoaded<SpecialistsListed>(`/api/specialists${searchOf({ state, search })}`);
  const [typed, setTyped] = useState(search);
  useEffect(() => setTyped(search), [search]);
  const go = (next: { readonly state?: string; readonly search?: string }): void =>
    void (location.hash = addressOf({ view: "specialists", query: { state, search, ...next } }));
  return (
    <section>
      <h1>
        Specialists <span class="count">{loaded.data === undefined ? "" : showNumber(loaded.data.total)}</span>
      </h1>
      <SearchForm onSearch={() => go({ search: typed })}>
        <Choice label="State" value={state} options={STATES} onValue={(value) => go({ state: value })} />
        <TextField label="Handle" value={typed} onValue={setTyped} placeholder="part of a handle" maxLength={100} />
      </SearchForm>
      <Shown loaded={loaded}>
        {({ rows, total, money }) =>
          rows.length === 0 ? (
            <Empty title={state === "" && search === "" ? "No specialist has run here yet." : "No specialist matches."} />
          ) : (
            <>
              {rows.length < total && (
                <p class="notice warn">
                  The first {showNumber(rows.length)} of {showNumber(total)} are listed; search for the others.
                </p>
              )}
              <Together money={money} />
              <Rows rows={rows} />
            </>
          )
        }
      </Shown>
    </section>
  );
}

/** What all have spent, where the Guardian caps it. */
function Together({ money }: { readonly money: SpecialistShown["money"] }) {
  const capped = money.filter(({ dayCapMicros }) => dayCapMicros !== undefined);
  return (
    capped.length > 0 && (
      <div class="notice">
        <strong>All together:</strong>
        <MoneyLines money={capped} />
      </div>
    )
  );
}

/** Above the height of nearly every row, on a phone too: a list that grows while it scrolls to its end does not reach it. */
const ESTIMATED_PX = 300;
const OVERSCAN = 6;

function atEnd(): boolean {
  return window.scrollY + window.innerHeight >= document.documentElement.scrollHeight - 1;
}

/** The key End outside of a field: the browser's own way there stops where the page ended before rows on it were measured. */
function useEndKey(go: () => void): void {
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      const isPlain = !event.ctrlKey && !event.altKey && !event.metaKey && !event.shiftKey;
      if (event.key !== "End" || !isPlain || event.defaultPrevented) return;
      if (event.target instanceof Element && event.target.closest("input, select, textarea, dialog") !== null) return;
      event.preventDefault();
      go();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  });
}

/** The list scrolls with the window, so that one finger scrolls the whole page of a phone. */
function Rows({ rows }: { readonly rows: readonly SpecialistShown[] }) {
  const list = useRef<HTMLUListElement>(null);
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const [virtualizer] = useState(
    () =>
      new Virtualizer<Window, HTMLLIElement>({
        count: rows.length,
        getScrollElement: () => window,
        estimateSize: () => ESTIMATED_PX,
        scrollToFn: windowScroll,
        observeElementRect: observeWindowRect,
        observeElementOffset: observeWindowOffset,
        overscan: OVERSCAN,
        initialRect: { width: window.innerWidth, height: window.innerHeight },
        onChange: () => redraw(0),
      }),
  );
  virtualizer.setOptions({
    ...virtualizer.options,
    count: rows.length,
    getItemKey: (index) => rows[index]?.handle ?? index,
    scrollMargin: list.current?.offsetTop ?? 0,
  });
  // The browser keeps a page that shrinks at its end, which reads as scrolling back: moving it as well ends above the last row.
  virtualizer.shouldAdjustScrollPositionOnItemSizeChange = ({ start }, _delta, { scrollDirection, scrollOffset }) =>
    scrollDirection === "backward" && start < (scrollOffset ?? 0) && !atEnd();
  useEndKey(() => virtualizer.scrollToIndex(rows.length - 1, { align: "end" }));
  useLayoutEffect(() => virtualizer._didMount(), [virtualizer]);
  useLayoutEffect(() => virtualizer._willUpdate());
  return (
    <ul class="rows" ref={list} style={{ height: `${virtualizer.getTotalSize()}px` }} aria-label="Specialists">
      {virtualizer.getVirtualItems().map(({ index, key, start }) => {
        const row = rows[index];
        return (
          row !== undefined && (
            <li
              key={key}
              data-index={index}
              aria-setsize={rows.length}
              aria-posinset={index + 1}
              ref={(element: HTMLLIElement | null) => virtualizer.measureElement(element)}
              style={{ transform: `translateY(${start - (virtualizer.options.scrollMargin ?? 0)}px)` }}
            >
              <SpecialistRow specialist={row} />
            </li>
          )
        );
      })}
    </ul>
  );
}

function SpecialistRow({ specialist }: { readonly specialist: SpecialistShown }) {
  const { handle, tier, quota, sources, open, process } = specialist;
  const now = useNow();
  const look = nextLook(sources);
  const waiting = Object.values(open).reduce((sum, count) => sum + (count ?? 0), 0);
  return (
    <article class="row">
      <div class="row-head">
        <SpecialistLink handle={handle} />
        {conditionsOf(specialist).map(({ word, tone }) => (
          <Badge key={word} tone={tone}>
            {word}
          </Badge>
        ))}
        {tier !== undefined && <span class="muted">{tier}</span>}
      </div>
      <div class="row-words">
        <Conditions specialist={specialist} />
        <p class="muted">
          <Foreign text={look === undefined ? "nothing is due" : `next ${look.name} ${look.at <= now ? "now" : showAgo(look.at, now)}`} />
          {waiting > 0 && `, ${plural(waiting, "open action")}`}
          {process !== undefined && (
            <>
              , at <Foreign text={process} />
            </>
          )}
        </p>
        {healthOf(specialist).map((text) => (
          <p key={text} class="warn-text">
            <Foreign text={text} />
          </p>
        ))}
      </div>
      <div class="row-figures">
        {quota !== undefined && (
          <>
            <Meter label="requests this hour" {...quota.hour} />
            <Meter label="requests this day" {...quota.day} />
          </>
        )}
        <MoneyLines money={specialist.money} />
      </div>
    </article>
  );
}

/** The reasons of its conditions, and the waits of its lanes, in words. */
export function Conditions({ specialist }: { readonly specialist: SpecialistShown }) {
  const now = useNow();
  return (
    <>
      {conditionsOf(specialist).flatMap(({ word, because }) =>
        because === undefined
          ? []
          : [
              <p key={word}>
                {word}: <Foreign text={because} />
              </p>,
            ],
      )}
      {specialist.waits.map(({ lane, message, until }) => (
        <p key={lane}>
          {words(lane)} waits: <Foreign text={message} />
          {Number.isFinite(until) && until > now ? `, until ${showTime(until, now)}` : ""}
        </p>
      ))}
      {specialist.held.map(({ operation, rule, message, count }) => (
        <p key={`${operation} ${rule}`}>
          {count} <Code text={operation} /> {count === 1 ? "waits" : "wait"}: <Foreign text={message} />
        </p>
      ))}
    </>
  );
}

export function MoneyLines({ money }: { readonly money: SpecialistShown["money"] }) {
  return (
    <>
      {money.map(({ currency, dayMicros, dayCapMicros, heldMicros }) => (
        <p key={currency} class="money">
          {dayCapMicros === undefined
            ? `${showAmount({ micros: dayMicros, currency })} spent today, no cap`
            : `${showAmount({ micros: dayMicros, currency })} spent today, of at most ${showAmount({ micros: dayCapMicros, currency })}`}
          {heldMicros > 0 && `, ${showAmount({ micros: heldMicros, currency })} held`}
        </p>
      ))}
    </>
  );
}

/** Small parts that every view uses: badges, times, meters, headings, empty and failed lists. */
import type { ComponentChildren } from "preact";
import { useEffect, useId, useState } from "preact/hooks";
import { after, now } from "./browser.ts";
import type { Tone } from "./condition.ts";
import { Foreign } from "./foreign.tsx";
import { showAgo, showNumber, showTime, showWholeTime } from "./format.ts";
import type { Loaded } from "./loaded.ts";
import { addressOf } from "./place.ts";

const TICK_MS = 15_000;

/** The present time, four times a minute. */
export function useNow(): number {
  const [time, setTime] = useState(now());
  useEffect(() => {
    let cancel = after(TICK_MS, function tick() {
      setTime(now());
      cancel = after(TICK_MS, tick);
    });
    return () => cancel();
  }, []);
  return Math.max(time, now());
}

export function Badge({ tone, children }: { readonly tone: Tone; readonly children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

/** `5m ago`, with the whole time for those who point at it. */
export function Ago({ at }: { readonly at: number }) {
  return (
    <time dateTime={new Date(at).toISOString()} title={showWholeTime(at)}>
      {showAgo(at, useNow())}
    </time>
  );
}

/** `14:05`. */
export function At({ at }: { readonly at: number }) {
  return (
    <time dateTime={new Date(at).toISOString()} title={showWholeTime(at)}>
      {showTime(at, useNow())}
    </time>
  );
}

/** A number against its limit; red from nine tenths on. */
export function Meter({
  label,
  used,
  limit,
  unit = "",
}: {
  readonly label: string;
  readonly used: number;
  readonly limit: number;
  readonly unit?: string;
}) {
  const share = limit === 0 ? 1 : used / limit;
  const tone = share >= 0.9 ? "bad" : share >= 0.75 ? "warn" : "good";
  const id = useId();
  return (
    <div class="meter">
      <span class="meter-label" id={id}>
        {label}
      </span>
      <span class="figure">
        {showNumber(used)} of {showNumber(limit)}
        {unit}
      </span>
      <div
        class={`bar ${tone}`}
        role="meter"
        aria-labelledby={id}
        aria-valuemin={0}
        aria-valuemax={limit}
        aria-valuenow={Math.min(used, limit)}
      >
        <div style={{ width: used === 0 ? "0" : `max(4px, ${Math.min(100, share * 100).toFixed(1)}%)` }} />
      </div>
    </div>
  );
}

export function SpecialistLink({ handle }: { readonly handle: string }) {
  return (
    <a class="handle" href={addressOf({ view: "specialists", subject: handle })}>
      <Foreign text={handle} />
    </a>
  );
}

export function WhyLink({ id, children = "Why" }: { readonly id: string; readonly children?: ComponentChildren }) {
  return <a href={addressOf({ view: "why", subject: id })}>{children}</a>;
}

/** A form of filters, with its button. */
export function SearchForm({ onSearch, children }: { readonly onSearch: () => void; readonly children: ComponentChildren }) {
  return (
    <form
      class="filters"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        onSearch();
      }}
    >
      {children}
      <button type="submit">Search</button>
    </form>
  );
}

/** Shows what was loaded; before that a placeholder, and above old data the failure of the last load. */
export function Shown<Answer>({
  loaded,
  children,
}: {
  readonly loaded: Loaded<Answer>;
  readonly children: (answer: Answer) => ComponentChildren;
}) {
  const { data, error } = loaded;
  return (
    <>
      {error !== undefined && (
        <div class="notice bad" role="alert">
          <strong>
            <Foreign text={error.message} />
          </strong>
          {error.hint === undefined ? null : (
            <>
              {" — "}
              <Foreign text={error.hint} />
            </>
          )}{" "}
          <button type="button" class="quiet" onClick={loaded.reload}>
            Try again
          </button>
        </div>
      )}
      {data === undefined ? error === undefined && <p class="muted loading">Loading…</p> : children(data)}
    </>
  );
}

export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}

interface TextFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly placeholder?: string;
  readonly maxLength?: number;
}

export function TextField({ label, value, onValue, placeholder = "", maxLength = 1_000 }: TextFieldProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="text"
        autocomplete="off"
        value={value}
        placeholder={placeholder}
        maxLength={maxLength}
        onInput={({ currentTarget }) => onValue(currentTarget.value)}
      />
    </div>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly onValue: (value: string) => void;
}

export function Choice({ label, value, options, onValue }: ChoiceProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={({ currentTarget }) => onValue(currentTarget.value)}>
        {options.map(([name, text]) => (
          <option key={name} value={name}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

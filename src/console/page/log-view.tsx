/** The log: actions and failures, searched and filtered by the address, and exported whole. */
import { useEffect, useState } from "preact/hooks";
import type { LogEntry, Page } from "./answers.ts";
import { Code, Foreign } from "./foreign.tsx";
import { showNumber, words } from "./format.ts";
import { useLoaded } from "./loaded.ts";
import { Ago, At, Badge, Choice, Empty, SearchForm, Shown, SpecialistLink, TextField, WhyLink } from "./parts.tsx";
import { addressOf, searchOf, type Place } from "./place.ts";
import { SINCE, sinceTime, toneOfState } from "./log-filters.ts";

const LIMIT = 50;
const FILTERS = ["handle", "kind", "search", "since"] as const;

export function LogView({ place: { query } }: { readonly place: Place }) {
  const { before = "", since = "" } = query;
  const filter = { handle: query["handle"], kind: query["kind"], search: query["search"], since: sinceTime(since) };
  const loaded = useLoaded<Page<LogEntry>>(`/api/log${searchOf({ ...filter, before, limit: LIMIT })}`, () => before === "");
  return (
    <section>
      <h1>
        Log <span class="count">{loaded.data?.total === undefined ? "" : showNumber(loaded.data.total)}</span>
      </h1>
      <Filters query={query} />
      <p class="exports">
        Export everything that matches:{" "}
        <a href={`/api/log/export${searchOf({ format: "jsonl", ...filter })}`} download="retinue-log.jsonl">
          JSON lines
        </a>
        {" · "}
        <a href={`/api/log/export${searchOf({ format: "csv", ...filter })}`} download="retinue-log.csv">
          CSV
        </a>
      </p>
      <Shown loaded={loaded}>
        {({ entries, next }) => (
          <>
            {entries.length === 0 ? (
              <Empty title="Nothing in the log matches." />
            ) : (
              <ol class="entries">
                {entries.map((entry) => (
                  <Entry key={`${entry.about} ${entry.seq}`} entry={entry} />
                ))}
              </ol>
            )}
            <Pages view="log" query={query} next={next} />
          </>
        )}
      </Shown>
    </section>
  );
}

function Filters({ query }: { readonly query: Place["query"] }) {
  const [typed, setTyped] = useState(query);
  useEffect(() => setTyped(query), [JSON.stringify(query)]);
  const go = (next: Place["query"]): void => {
    const kept = Object.fromEntries(FILTERS.map((name) => [name, next[name] ?? ""]));
    location.hash = addressOf({ view: "log", query: kept });
  };
  const field = (name: (typeof FILTERS)[number]) => ({
    value: typed[name] ?? "",
    onValue: (value: string) => setTyped({ ...typed, [name]: value }),
  });
  return (
    <SearchForm onSearch={() => go(typed)}>
      <TextField label="Words" placeholder="in the whole text" {...field("search")} />
      <TextField label="Specialist" placeholder="handle" maxLength={100} {...field("handle")} />
      <TextField label="Kind" placeholder="posts.reply, job.assigned" maxLength={100} {...field("kind")} />
      <Choice label="Since" value={typed["since"] ?? ""} options={SINCE} onValue={(since) => go({ ...typed, since })} />
    </SearchForm>
  );
}

function Entry({ entry }: { readonly entry: LogEntry }) {
  const { at, handle, id, state, code, message } = entry;
  return (
    <li class="entry">
      <div class="entry-head">
        <span class="entry-time">
          <At at={at} />
        </span>
        <SpecialistLink handle={handle} />
        <Code text={entry.about === "action" ? entry.operation : entry.kind} />
        <Badge tone={toneOfState(state)}>{words(state)}</Badge>
        <span class="entry-why">
          <WhyLink id={id} />
        </span>
      </div>
      {entry.about === "action" && entry.target !== undefined && (
        <p class="muted">
          on <Foreign text={entry.target} />
          {entry.created !== undefined && (
            <>
              {", created "}
              <Foreign text={entry.created} />
            </>
          )}
        </p>
      )}
      {entry.about === "action" && entry.words !== undefined && (
        <p class="said">
          <Foreign text={entry.words} />
        </p>
      )}
      {message !== undefined && (
        <p class={entry.about === "failure" ? "warn-text" : "muted"}>
          {code !== undefined && <Code text={code} />} <Foreign text={message} />
          {entry.about === "failure" && entry.file !== undefined && (
            <>
              {" at "}
              <Foreign text={`${entry.file}${entry.line === undefined ? "" : `:${entry.line}`}`} />
            </>
          )}
          {entry.about === "failure" && entry.nextAt !== undefined && (
            <>
              {", tried again "}
              <Ago at={entry.nextAt} />
            </>
          )}
        </p>
      )}
    </li>
  );
}

interface PagesProps {
  readonly view: Place["view"];
  readonly subject?: string;
  readonly query: Place["query"];
  readonly next: number | undefined;
}

/** The position stands in the address: a page that is read does not move while new entries come. */
export function Pages({ view, subject, query, next }: PagesProps) {
  const { before: _, ...filters } = query;
  const to = (before: string): string => addressOf({ view, ...(subject === undefined ? {} : { subject }), query: { ...filters, before } });
  const isLater = query["before"] !== undefined;
  if (!isLater && next === undefined) return null;
  return (
    <nav class="pages" aria-label="Pages">
      {isLater ? <a href={to("")}>Newest</a> : <span />}
      {next === undefined ? <span class="muted">the oldest</span> : <a href={to(String(next))}>Older</a>}
    </nav>
  );
}

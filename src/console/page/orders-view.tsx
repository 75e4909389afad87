/** Every order that a person gave: who, when, from where, what, why, and its result. */
import { useEffect, useState } from "preact/hooks";
import type { OrderRow, Page } from "./answers.ts";
import { Code, Foreign } from "./foreign.tsx";
import { showNumber } from "./format.ts";
import { useLoaded } from "./loaded.ts";
import { Pages } from "./log-view.tsx";
import { At, Badge, Empty, SearchForm, Shown, TextField } from "./parts.tsx";
import { addressOf, searchOf, type Place } from "./place.ts";

const LIMIT = 50;

export function OrdersView({ place: { query } }: { readonly place: Place }) {
  const { before = "", search = "" } = query;
  const loaded = useLoaded<Page<OrderRow>>(`/api/orders${searchOf({ search, before, limit: LIMIT })}`, () => before === "");
  const [typed, setTyped] = useState(search);
  useEffect(() => setTyped(search), [search]);
  return (
    <section>
      <h1>
        Orders <span class="count">{loaded.data?.total === undefined ? "" : showNumber(loaded.data.total)}</span>
      </h1>
      <SearchForm onSearch={() => void (location.hash = addressOf({ view: "orders", query: { search: typed } }))}>
        <TextField label="Words" value={typed} onValue={setTyped} placeholder="who, what, why, result" />
      </SearchForm>
      <Shown loaded={loaded}>
        {({ entries, next }) => (
          <>
            {entries.length === 0 ? (
              <Empty title={search + before === "" ? "Nobody has given an order yet." : "No order matches."} />
            ) : (
              <ol class="entries">
                {entries.map((order) => (
                  <Order key={order.seq} order={order} />
                ))}
              </ol>
            )}
            <Pages view="orders" query={query} next={next} />
          </>
        )}
      </Shown>
    </section>
  );
}

function Order({ order: { at, who, from, what, subject, why, result, code } }: { readonly order: OrderRow }) {
  return (
    <li class="entry">
      <div class="entry-head">
        <span class="entry-time">
          <At at={at} />
        </span>
        <strong>
          <Foreign text={who} />
        </strong>
        <span class="muted">from {from}</span>
        <Code text={what} />
        {subject !== undefined && <Foreign text={subject} />}
        {result === undefined ? (
          <Badge tone="calm">not ended</Badge>
        ) : (
          code !== undefined && (
            <Badge tone="bad">
              <Foreign text={code} />
            </Badge>
          )
        )}
      </div>
      {why !== undefined && (
        <p>
          because <Foreign text={why} />
        </p>
      )}
      {result !== undefined && (
        <p class={code === undefined ? "muted" : "warn-text"}>
          <Foreign text={result} />
        </p>
      )}
    </li>
  );
}

/** The first view: everything that waits for a person, each with its orders. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Need, Needs } from "./answers.ts";
import { showNumber } from "./format.ts";
import type { Loaded } from "./loaded.ts";
import { NeedCard } from "./need-card.tsx";
import { isNeedKind, KINDS, orderId, sharedOrders } from "./need-words.ts";
import { notify } from "./notices.ts";
import { Empty, Shown, TextField } from "./parts.tsx";
import { addressOf, type Place } from "./place.ts";
import { giveOrder, ServerError } from "./server.ts";

interface Props {
  readonly place: Place;
  readonly loaded: Loaded<Needs>;
  readonly mayAct: boolean;
}

export function NeedsView({ place, loaded, mayAct }: Props) {
  return (
    <Shown loaded={loaded}>
      {(needs) => <NeedsList needs={needs} kind={place.query["kind"] ?? ""} reload={loaded.reload} mayAct={mayAct} />}
    </Shown>
  );
}

interface ListProps {
  readonly needs: Needs;
  readonly kind: string;
  readonly reload: () => void;
  readonly mayAct: boolean;
}

function NeedsList({ needs: { total, counts, needs }, kind, reload, mayAct }: ListProps) {
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const heading = useRef<HTMLHeadingElement>(null);
  const shown = kind === "" ? needs : needs.filter((need) => need.kind === kind);
  const expected = isNeedKind(kind) ? (counts[kind] ?? 0) : total;
  const chosen = shown.filter(({ key }) => selected.has(key));
  // The card of a finished matter goes, and the focus in it must not fall to the top of the document.
  const focused = useRef<string | undefined>(undefined);
  useEffect(() => {
    if (focused.current === undefined || needs.some(({ key }) => key === focused.current)) return;
    focused.current = undefined;
    if (document.activeElement === document.body) heading.current?.focus({ preventScroll: true });
  }, [needs]);
  const toggle = (key: string): void => {
    const next = new Set(selected);
    if (!next.delete(key)) next.add(key);
    setSelected(next);
  };
  return (
    <section>
      <h1 ref={heading} tabIndex={-1}>
        Needs you <span class="count">{showNumber(total)}</span>
      </h1>
      <KindFilter counts={counts} total={total} kind={kind} />
      {shown.length < expected && (
        <p class="notice warn">
          {showNumber(shown.length)} of {showNumber(expected)} are listed. The others follow as these are done.
        </p>
      )}
      {shown.length === 0 ? (
        <Empty title={total === 0 ? "Nothing needs you." : "None of this kind needs you."}>
          <p class="muted">Approvals, failures and refusals appear here by themselves.</p>
        </Empty>
      ) : (
        <ul class="cards">
          {shown.map((need, index) => (
            <NeedCard
              key={need.key}
              need={need}
              isNear={index < EAGER}
              mayAct={mayAct}
              selected={selected.has(need.key)}
              focused={() => void (focused.current = need.key)}
              toggle={() => toggle(need.key)}
              done={reload}
            />
          ))}
        </ul>
      )}
      {mayAct && chosen.length > 0 && (
        <ManyBar
          chosen={chosen}
          done={() => {
            setSelected(new Set());
            reload();
          }}
        />
      )}
    </section>
  );
}

/** Approvals whose event is loaded at once; the others load it when it is opened. */
const EAGER = 10;

function KindFilter({ counts, total, kind }: { readonly counts: Needs["counts"]; readonly total: number; readonly kind: string }) {
  const kinds = Object.entries(counts).filter(([name, count]) => isNeedKind(name) && count > 0);
  if (kinds.length < 2 && kind === "") return null;
  return (
    <nav class="chips" aria-label="Kinds">
      <a href={addressOf({ view: "needs" })} aria-current={kind === "" ? "true" : undefined}>
        all {showNumber(total)}
      </a>
      {kinds.map(([name, count]) => (
        <a key={name} href={addressOf({ view: "needs", query: { kind: name } })} aria-current={kind === name ? "true" : undefined}>
          {isNeedKind(name) ? KINDS[name][count === 1 ? "one" : "many"] : name} {showNumber(count)}
        </a>
      ))}
    </nav>
  );
}

/** One order for all chosen matters that take it: never yes. */
function ManyBar({ chosen, done }: { readonly chosen: readonly Need[]; readonly done: () => void }) {
  const [reason, setReason] = useState("");
  const [progress, setProgress] = useState<string>();
  const giveAll = async (id: string, label: string): Promise<void> => {
    const orders = chosen.flatMap((need) => need.orders.filter((one) => one.many && orderId(one) === id).slice(0, 1));
    const failures: string[] = [];
    for (const [index, { order, with: query, takesReason }] of orders.entries()) {
      setProgress(`${index + 1} of ${orders.length}…`);
      try {
        await giveOrder(order, takesReason && reason.trim() !== "" ? { ...query, reason } : query);
      } catch (error) {
        if (!(error instanceof ServerError)) throw error;
        failures.push(error.message);
        if (error.status === 401 || error.status === 0) break;
      }
    }
    setProgress(undefined);
    const first = failures[0];
    if (first === undefined) notify(`${label}: ${orders.length} done`, "good");
    else notify(`${label}: ${orders.length - failures.length} done, ${failures.length} not: ${first}`, "bad");
    done();
  };
  return (
    <div class="many-bar" role="group" aria-label="Orders for the selected matters">
      <strong>{progress ?? `${showNumber(chosen.length)} selected`}</strong>
      <TextField label="Reason for all (optional)" value={reason} onValue={setReason} />
      <div class="actions">
        {sharedOrders(chosen.map(({ orders }) => orders)).map(({ id, label, count }) => (
          <button type="button" key={id} disabled={progress !== undefined} onClick={() => void giveAll(id, label)}>
            {label} {showNumber(count)}
          </button>
        ))}
      </div>
    </div>
  );
}

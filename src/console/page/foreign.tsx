/** Shows a text of others as text: isolated in its direction, hidden characters visible, long ones cut with a button for the whole. */
import { useMemo, useState } from "preact/hooks";
import { showNumber } from "./format.ts";
import { beginningOf, visibleLines } from "./foreign-text.ts";

/** A text of several lines. */
export function ForeignBlock({ text, code = false }: { readonly text: string; readonly code?: boolean }) {
  const [whole, setWhole] = useState(false);
  const beginning = beginningOf(text);
  const isCut = beginning.length < text.length;
  const shown = useMemo(() => visibleLines(whole ? text : beginning), [text, whole]);
  return (
    <div class={code ? "foreign code" : "foreign"}>
      <bdi class={whole ? "whole" : undefined} tabIndex={whole ? 0 : undefined}>
        {shown}
        {isCut && !whole ? "…" : ""}
      </bdi>
      {isCut && (
        <button type="button" class="quiet" aria-expanded={whole} onClick={() => setWhole(!whole)}>
          {whole ? "Show the beginning" : `Show all ${showNumber(text.length)} characters`}
        </button>
      )}
    </div>
  );
}

/** A short text within a line: a name, a message. */
export function Foreign({ text }: { readonly text: string }) {
  return text.length > 300 ? <ForeignBlock text={text} /> : <bdi class="inline-foreign">{visibleLines(text)}</bdi>;
}

/** A name of a protocol: an operation, a kind, a code. Some are of the network. */
export function Code({ text }: { readonly text: string }) {
  return (
    <code>
      <Foreign text={text} />
    </code>
  );
}

/** The fields of a payload, each whole: texts first and as texts, then anything else as JSON. */
export function Payload({ fields }: { readonly fields: { readonly [name: string]: unknown } }) {
  const isText = (name: string): boolean => typeof fields[name] === "string";
  const names = Object.keys(fields).toSorted((a, b) => Number(isText(b)) - Number(isText(a)));
  if (names.length === 0) return <p class="muted">An empty payload.</p>;
  return (
    <dl class="payload">
      {names.map((name) => {
        const value = fields[name];
        return (
          <div key={name}>
            <dt>
              <Foreign text={name} />
            </dt>
            <dd>
              {typeof value === "string" ? (
                <ForeignBlock text={value} />
              ) : (
                <ForeignBlock code text={JSON.stringify(value, null, 2) ?? ""} />
              )}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}

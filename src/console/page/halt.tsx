/** Halt on every view: confirmed once, then the requests that are still in flight; the halt in force as a banner, with its end. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Fields, HaltResult, Need } from "./answers.ts";
import { notify } from "./notices.ts";
import { plural } from "./format.ts";
import { Ago, At, SpecialistLink, TextField } from "./parts.tsx";
import { Code, Foreign } from "./foreign.tsx";
import { giveOrder, ServerError } from "./server.ts";

/** The button, and the dialog that it opens. Without a handle it halts everyone. */
export function HaltButton({ handle }: { readonly handle?: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" class="danger" onClick={() => setOpen(true)}>
        {handle === undefined ? "Halt" : "Halt it"}
      </button>
      {isOpen && <HaltDialog scope={handle === undefined ? {} : { handle }} close={() => setOpen(false)} />}
    </>
  );
}

function HaltDialog({ scope, close }: { readonly scope: { readonly handle?: string }; readonly close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [reason, setReason] = useState("");
  const [result, setResult] = useState<HaltResult>();
  const [failure, setFailure] = useState<ServerError>();
  const [busy, setBusy] = useState(false);
  useEffect(() => dialog.current?.showModal(), []);
  const halt = async (): Promise<void> => {
    setBusy(true);
    setFailure(undefined);
    const query: Fields = { ...scope, ...(reason.trim() === "" ? {} : { reason }) };
    try {
      setResult(await giveOrder<HaltResult>("halt", query));
    } catch (error) {
      if (!(error instanceof ServerError)) throw error;
      setFailure(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <dialog ref={dialog} aria-labelledby="halt-title" onClose={close}>
      {result === undefined ? (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void halt();
          }}
        >
          <h2 id="halt-title">{scope.handle === undefined ? "Halt all specialists?" : `Halt ${scope.handle}?`}</h2>
          <p>No further write leaves. Reading goes on, and nothing that waits is lost. A halt ends only when a person lifts it.</p>
          <TextField label="Reason (optional)" value={reason} onValue={setReason} />
          {failure !== undefined && (
            <p class="notice bad" role="alert">
              {failure.message}
              {failure.hint === undefined ? "" : ` — ${failure.hint}`}
            </p>
          )}
          <div class="actions">
            <button type="submit" class="danger solid" disabled={busy}>
              {busy ? "Halting…" : "Halt now"}
            </button>
            <button type="button" onClick={close}>
              Cancel
            </button>
          </div>
        </form>
      ) : (
        <HaltDone result={result} close={close} />
      )}
    </dialog>
  );
}

function HaltDone({ result, close }: { readonly result: HaltResult; readonly close: () => void }) {
  const { message, inFlight, notKept, incomplete } = result;
  return (
    <div role="status">
      <h2 id="halt-title">{incomplete === undefined ? "Halted" : "Halted, not everywhere"}</h2>
      <p>{message}</p>
      {incomplete !== undefined && (
        <p class="notice bad">
          {incomplete.message} — {incomplete.hint}
        </p>
      )}
      {notKept !== undefined && (
        <p class="notice warn">
          {notKept.message} — {notKept.hint}
        </p>
      )}
      {inFlight.length === 0 ? (
        <p>{incomplete === undefined ? "Nothing is in flight." : "The processes that have confirmed it have nothing in flight."}</p>
      ) : (
        <>
          <p>{plural(inFlight.length, "request was", "requests were")} sent before and may still take effect:</p>
          <ul class="in-flight">
            {inFlight.map(({ id, handle, operation, target, deadlineAt }) => (
              <li key={`${handle} ${id ?? operation}`}>
                <SpecialistLink handle={handle} /> <Code text={operation} /> {target !== undefined && <Foreign text={target} />}, over at{" "}
                <At at={deadlineAt} />
              </li>
            ))}
          </ul>
        </>
      )}
      <div class="actions">
        <button type="button" class="primary" onClick={close}>
          Close
        </button>
      </div>
    </div>
  );
}

/** Halts in force, above every view. */
export function HaltBanner({ halts, mayAct }: { readonly halts: readonly Need[]; readonly mayAct: boolean }) {
  return (
    <>
      {halts.map((halt) => (
        <div class="banner" role="status" key={halt.key}>
          <span>
            <strong>{halt.title}</strong> <Ago at={halt.since} />
            {": "}
            <Foreign text={halt.message} />
          </span>
          {mayAct && halt.orders.some(({ order }) => order === "lift") && <LiftButton halt={halt} />}
        </div>
      ))}
    </>
  );
}

/** The second press lifts, so that no slip of a finger does. */
function LiftButton({ halt }: { readonly halt: Need }) {
  const [sure, setSure] = useState(false);
  const lift = async (): Promise<void> => {
    setSure(false);
    try {
      notify((await giveOrder("lift", halt.orders.find(({ order }) => order === "lift")?.with ?? {})).message, "good");
    } catch (error) {
      if (!(error instanceof ServerError)) throw error;
      notify(error.message, "bad");
    }
  };
  return (
    <button type="button" onClick={() => (sure ? void lift() : setSure(true))} onBlur={() => setSure(false)}>
      {sure ? "Press again to lift" : "Lift the halt"}
    </button>
  );
}
